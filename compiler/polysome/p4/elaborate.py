"""Syntax tree to typed program: declarations of the file, then the blocks of its pipe."""

from __future__ import annotations

from polysome.p4 import ast
from polysome.p4 import program as pr
from polysome.p4.architecture import ARCHITECTURES, BLOCKS, NEEDED, PARAMS, Architecture
from polysome.p4.blocks import ControlTyper, ParserTyper
from polysome.p4.scope import Object, Scope, World, composites
from polysome.p4.types import Bits, Composite, Extern, Type, long_group
from polysome.syntax.diagnostics import Report
from polysome.syntax.spans import Span

PACKETS = {"ingress_parser": "packet_in", "egress_parser": "packet_in"}


def elaborate(name: str, tree: ast.File, report: Report) -> pr.Program | None:
    """The program called `name`; None if something is wrong, then the report says what."""
    before = report.count
    arch = _architecture(tree, report)
    if arch is None:
        return None
    world = _world(arch, report)
    main = _declarations(tree, world)
    if main is None or report.count > before:
        return None
    program = _Pipe(world, name).program(main)
    return program if report.count == before else None


def _architecture(tree: ast.File, report: Report) -> Architecture | None:
    includes = [i for i in tree.items if isinstance(i, ast.Include)]
    known = {a.include: a for a in ARCHITECTURES.values()}
    for i in includes:
        if i.name not in ("core.p4", *known):
            report.add(
                "E1202",
                f"`{i.name}` cannot be included",
                i.span,
                why="A program is one file: what is compiled for the switch is what runs in software.",
                mend="Write what it declares into this file; core.p4 and tna.p4 or t2na.p4 are known.",
            )
    found = [known[i.name] for i in includes if i.name in known]
    if len(found) == 1:
        return found[0]
    report.add(
        "E1211",
        "the program does not say for which architecture it is"
        if not found
        else "the program is for two architectures",
        includes[-1].span if includes else Span(tree.span.file, 0, 1),
        why="Metadata and externs differ between Tofino 1 and Tofino 2.",
        mend="Include one of <tna.p4> and <t2na.p4>.",
    )
    return None


def _world(arch: Architecture, report: Report) -> World:
    scope = Scope()
    nowhere = Span("", 0, 0)
    for name, (value, kind) in arch.constants.items():
        scope.names[name] = (pr.Const(value, kind, nowhere), None)
    types: dict[str, Type] = {**arch.typedefs, **arch.structs}
    return World(report, arch, types, scope)


def _declarations(tree: ast.File, world: World) -> dict[str, ast.Instance] | None:
    """Fills the world; the instances of packages by name."""
    typer = ControlTyper(world, "control", "")
    packages: dict[str, ast.Instance] = {}
    for item in tree.items:
        match item:
            case ast.Constant():
                kind = typer.type(item.type, world.scope)
                value = typer.constant(item.value, world.scope, kind) if kind is not None else None
                if kind is not None and value is not None:
                    world.declare(world.scope, item.name, pr.Const(value, kind, item.span))
            case ast.Typedef():
                kind = typer.type(item.type, world.scope)
                if kind is not None and _new_type(item.name, world):
                    world.types[item.name.text] = kind
            case ast.Composite():
                _composite(item, typer, world)
            case ast.Parser():
                world.parsers[item.name.text] = item
            case ast.Control():
                world.controls[item.name.text] = item
            case ast.Instance():
                packages[item.name.text] = item
            case ast.Include():
                pass
    if "main" in packages:
        return packages
    world.report.add(
        "E1211",
        "the program has no `main`",
        Span(tree.span.file, tree.span.end - 1, tree.span.end),
        why="`main` is the switch: which parsers and controls are its pipe.",
        mend="End the file with `Pipeline(…) pipe; Switch(pipe) main;`.",
    )
    return None


def _new_type(name: ast.Ident, world: World) -> bool:
    if name.text not in world.types:
        return True
    world.report.add(
        "E1211",
        f"the type `{name.text}` is declared twice",
        name.span,
        why="Every reference to it could mean either; the architecture's types are there already.",
        mend="Give one of them another name.",
    )
    return False


def _composite(item: ast.Composite, typer: ControlTyper, world: World) -> None:
    fields: list[tuple[str, Type]] = []
    for f in item.fields:
        kind = typer.type(f.type, world.scope)
        if kind is None:
            return
        if item.header and not isinstance(kind, Bits):
            world.wrong_type(f"a header's field of type `{kind}`", f.span, "Headers have fields of bits only.")
            return
        if f.name.text in dict(fields):
            world.report.add(
                "E1211",
                f"the field `{f.name.text}` is declared twice",
                f.span,
                why="Every reference to it could mean either.",
                mend="Give one of them another name.",
            )
            return
        fields.append((f.name.text, kind))
    found = Composite(item.name.text, item.header, tuple(fields))
    if item.header and (found.width % 8 or not fields):
        world.wrong_type(
            f"the header `{found.name}` has {found.width} bits",
            item.name.span,
            "A header is whole bytes, one at least.",
        )
    elif item.header and (group := long_group(found)) is not None:
        world.outside(
            f"fields that share bytes and have {group} bits together",
            item.name.span,
            "At most 128: begin fields at bytes.",
        )
    elif _new_type(item.name, world):
        world.types[found.name] = found


class _Pipe:
    """The blocks that `main` names, and the typed program they make."""

    def __init__(self, world: World, name: str) -> None:
        self.world, self.name = world, name

    def program(self, packages: dict[str, ast.Instance]) -> pr.Program | None:
        blocks = self._blocks(packages)
        if blocks is None:
            return None
        ingress, egress = self._gress("ingress", blocks), self._gress("egress", blocks)
        if ingress is None or egress is None:
            return None
        w = self.world
        actions = {"NoAction": pr.Action("NoAction", (), (), packages["main"].span), **w.actions}
        return pr.Program(
            self.name,
            w.arch.name,
            ingress,
            egress,
            actions,
            w.tables,
            w.registers,
            w.register_actions,
            w.counters,
            w.meters,
        )

    def _blocks(self, packages: dict[str, ast.Instance]) -> dict[str, ast.Parser | ast.Control] | None:
        """The six blocks of the one pipe."""
        main = packages["main"]
        pipes = [a for a in main.args if isinstance(a, ast.Name) and a.name in packages]
        if _type_name(main) != "Switch" or len(main.args) != 1 or len(pipes) != 1:
            self.world.outside(
                "anything but one pipe in `main`", main.span, "Write `Pipeline(…) pipe; Switch(pipe) main;`."
            )
            return None
        pipe = packages[pipes[0].name]
        if _type_name(pipe) != "Pipeline" or len(pipe.args) != len(BLOCKS):
            self.world.outside(
                "a pipe that is no `Pipeline` of six blocks", pipe.span, f"Its arguments are {', '.join(BLOCKS)}."
            )
            return None
        found: dict[str, ast.Parser | ast.Control] = {}
        for role, arg in zip(BLOCKS, pipe.args, strict=True):
            block = self._block(role, arg)
            if block is not None:
                found[role] = block
        return found if len(found) == len(BLOCKS) else None

    def _block(self, role: str, arg: ast.Expr) -> ast.Parser | ast.Control | None:
        known: dict[str, ast.Parser] | dict[str, ast.Control]
        known = self.world.parsers if role.endswith("_parser") else self.world.controls
        name = arg.callee.name if isinstance(arg, ast.Call) and isinstance(arg.callee, ast.Name) else ""
        if name not in known:
            what = "parser" if role.endswith("_parser") else "control"
            self.world.unknown(what, name or "…", arg.span, list(known))
            return None
        return known[name]

    def _gress(self, gress: str, blocks: dict[str, ast.Parser | ast.Control]) -> pr.Gress | None:
        world = self.world
        world.variables = []
        roots: dict[str, Composite] = {}
        scopes = {role: self._params(role, b, roots) for role, b in blocks.items() if role.startswith(gress)}
        parser, control, deparser = blocks[f"{gress}_parser"], blocks[gress], blocks[f"{gress}_deparser"]
        in_parser, in_control, in_deparser = (scopes[f"{gress}{s}"] for s in ("_parser", "", "_deparser"))
        if in_parser is None or in_control is None or in_deparser is None:
            return None
        assert isinstance(parser, ast.Parser) and isinstance(control, ast.Control) and isinstance(deparser, ast.Control)
        parsed = ParserTyper(world, parser.name.text).parser(parser, in_parser)
        body = ControlTyper(world, "control", control.name.text).control(control, in_control)
        out = ControlTyper(world, "deparser", deparser.name.text).control(deparser, in_deparser)
        if parsed is None:
            return None
        variables = tuple(world.variables)
        return pr.Gress(gress, tuple(roots.items()), parsed, body, out, variables)

    def _params(self, role: str, block: ast.Parser | ast.Control, roots: dict[str, Composite]) -> Scope | None:
        """A scope with the parameters of a block, each the place that the architecture says it is."""
        world, scope, wanted = self.world, Scope(self.world.scope), PARAMS[role]
        least = NEEDED[world.arch.name][role]
        if not least <= len(block.params) <= len(wanted):
            world.wrong_type(
                f"{len(block.params)} parameters where {least} to {len(wanted)} are needed",
                block.name.span,
                f"They are, in order: {', '.join(wanted)}.",
            )
            return None
        typer = ControlTyper(world, "control", "")
        for param, root in zip(block.params, wanted, strict=False):
            if root == "pkt":
                packet = Extern(PACKETS.get(role, "packet_out"))
                if not isinstance(param.type, ast.NamedType) or param.type.name.text != packet.name:
                    world.wrong_type(f"the first parameter is no `{packet}`", param.span, f"Write `{packet} pkt`.")
                    return None
                world.declare(scope, param.name, Object(param.name.text, packet))
                continue
            kind = typer.type(param.type, world.scope)
            if kind is None or not self._of_role(param, kind, role, root, roots):
                return None
            world.declare(scope, param.name, pr.Place(root, (), kind, param.span))
        return scope

    def _of_role(self, param: ast.Param, kind: Type, role: str, root: str, roots: dict[str, Composite]) -> bool:
        """Has the parameter the type that it must have, and the same one in all blocks?"""
        wanted = roots.get(root)
        if root not in ("hdr", "md"):
            wanted = self.world.arch.structs[self.world.arch.intrinsic(role, root)]
        if not isinstance(kind, Composite) or (wanted is not None and kind != wanted):
            self.world.wrong_type(
                f"the parameter `{param.name.text}` is `{kind}`",
                param.span,
                f"In this place it is `{wanted.name}`." if wanted is not None else "In this place it is a struct.",
            )
            return False
        if root == "hdr" and any(
            not isinstance(t, Composite) for c in composites(kind) if not c.header for _, t in c.fields
        ):
            self.world.outside(
                f"`{kind.name}` has fields that are no headers", param.span, "Put them into the metadata."
            )
            return False
        roots[root] = kind
        return True


def _type_name(item: ast.Instance) -> str:
    return item.type.name.text if isinstance(item.type, ast.NamedType) else ""
