"""The front end's entry: a file to a typed program, with every error that can be found on the way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from polysome.ir import program as ir
from polysome.ir import properties as pr
from polysome.ir import types as t
from polysome.semantics import packet_statements
from polysome.semantics import schedule as schedules
from polysome.semantics.blocks import (
    Given,
    bind_ports,
    block_properties,
    check_given,
    constant,
    no_part_of_a_block,
    param_value,
)
from polysome.semantics.context import Shared
from polysome.semantics.expressions import Expressions
from polysome.semantics.headers import header
from polysome.semantics.modules import Loader, Module
from polysome.semantics.parsers import ParserBuilder
from polysome.semantics.properties import properties
from polysome.semantics.relevant import ContractBuilder
from polysome.semantics.scope import NfScope, by_need, module_names
from polysome.semantics.state import StateBuilder, mend_map
from polysome.semantics.statements import Statements
from polysome.semantics.unused import check_unused
from polysome.syntax import ast
from polysome.syntax.brackets import deepest, too_deep
from polysome.syntax.diagnostics import Report, did_you_mean
from polysome.syntax.spans import Span

SEED = ("seed", t.Bits(128))


@dataclass(frozen=True)
class Options:
    """What the command line changes: params as text, capacities of maps by name; `places`: of params from a file;
    `texts`: what stands in some files (by absolute path), whatever the disk says."""

    params: Mapping[str, str]
    capacities: Mapping[str, int]
    places: Mapping[str, Span] = field(default_factory=dict)
    texts: Mapping[Path, str] = field(default_factory=dict)


def check(path: Path, report: Report, options: Options | None = None) -> ir.Program:
    """The typed program of the one NF in `path`; raises SpecError with all errors found. Warnings stay in `report`."""
    options = options or Options({}, {})
    try:
        loader = Loader(report, options.texts)
        module = loader.load(path, str(path))
        report.stop_on_errors()
        assert module is not None
        program = _Checker(loader, module, path, report, options).program()
    except RecursionError:
        too_deep(report, deepest(report.sources[str(path)]))
        program = None
    report.stop_on_errors()
    assert program is not None
    return program


class _Checker:
    """Checks one NF: declarations first, then what uses them."""

    def __init__(self, loader: Loader, module: Module, path: Path, report: Report, options: Options) -> None:
        self.loader, self.module, self.path = loader, module, path
        self.report, self.options = report, options
        self.shared = Shared(report)
        self.scopes: list[tuple[NfScope, ast.NfDecl]] = []
        self._uses: list[tuple[NfScope, ast.NfDecl, ast.Use]] = []
        self._opened: list[tuple[ast.NfDecl, ast.Use]] = []

    def program(self) -> ir.Program | None:
        decl = self._the_nf()
        if decl is None:
            return None
        scope = NfScope(module_names(self.module, self.report))
        self.shared.root = scope
        self._declare(scope, decl, None)
        self._unknown_params()
        before = len(self.report.errors)
        parser = self._parser(scope, decl)
        if parser is None:
            return None
        for name in scope.names.headers:
            header(self.shared, scope, scope.names.headers[name].name)
        if len(self.report.errors) > before:  # what a packet is made of is not known: all else would be guesses
            self.report.stop_on_errors()
        for block, block_decl in self.scopes:
            self._state(block, block_decl)
        program = self._assemble(scope, decl, parser)
        check_unused(self.shared, self.module, self.scopes)
        return program

    def _the_nf(self) -> ast.NfDecl | None:
        found = [i for i in self.module.ast.items if isinstance(i, ast.NfDecl) and not i.block]
        if len(found) == 1:
            return found[0]
        if not found:
            self.report.add(
                "E0216",
                "this file declares no NF",
                Span(self.module.name, 0, 0),
                why="`polysome` works on the one `nf NAME { … }` of a file; a library is checked where an NF uses it.",
                mend="Add one, or name a file that has one.",
            )
        else:
            self.report.add(
                "E0217",
                "a file declares one NF",
                found[1].name.span,
                also=[(found[0].name.span, "first NF here")],
                why="The bundle, the tests and the captures belong to one NF.",
                mend="Move one of them into a file of its own.",
            )
        return None

    # ------------------------------------------------------------ declarations

    def _declare(self, scope: NfScope, decl: ast.NfDecl, given: Given | None) -> None:
        """Names of an NF or block: types, ports, params, config, actions; then the blocks inside."""
        self.scopes.append((scope, decl))
        if given is not None:
            no_part_of_a_block(self.report, decl)
        for item in decl.items:
            if isinstance(item, (ast.StructDecl, ast.EnumDecl, ast.ConstDecl, ast.FnDecl)):
                scope.names.declare(item, self.report)
        params: list[ast.ParamDecl] = []
        configs: list[ast.ConfigDecl] = []
        self._ports(scope, [i for p in decl.items if isinstance(p, ast.PortDecl) for i in p.names], given)
        for item in decl.items:
            match item:
                case ast.ParamDecl() if scope.claim(item.name, self.report):
                    params.append(item)
                case ast.ConfigDecl() if scope.claim(item.name, self.report):
                    configs.append(item)
                case ast.ActionDecl() if scope.claim(item.name, self.report):
                    scope.actions[item.name.text] = item
                case ast.StateDecl() | ast.IndexDecl():
                    scope.claim(item.name, self.report)
        if not decl.block:
            self._seed(scope, {p.name.text for p in params})
        for param in by_need(params):
            self._param(scope, param, given)
        for config in configs:
            scope.config[config.name.text] = StateBuilder(self.shared, scope, {}).config(config)
        for item in decl.items:
            if isinstance(item, ast.Use):
                self._use_block(scope, item)

    def _ports(self, scope: NfScope, idents: list[ast.Ident], given: Given | None) -> None:
        if given is not None:
            bind_ports(self.shared, scope, given, idents)
            return
        for ident in idents:
            if scope.claim(ident, self.report):
                scope.ports[ident.text] = len(scope.ports)

    def _param(self, scope: NfScope, decl: ast.ParamDecl, given: Given | None) -> None:
        x = Expressions(self.shared, scope, frozenset())
        type = x.types.resolve(decl.type)
        full = scope.prefix + decl.name.text
        value: Any = None
        own = param_value(self.shared, given, decl, type) if given is not None else None
        if full in self.options.params:
            value = self._override(scope, full, self.options.params[full], type)
        elif own is not None:
            value = constant(x, own)
        elif decl.default is not None:
            value = x.constant(decl.default, type)
        else:
            self._no_value(decl, type, full, given)
        scope.params[decl.name.text] = (type, value, decl.span)

    def _no_value(self, decl: ast.ParamDecl, type: t.Type, full: str, given: Given | None) -> None:
        name = decl.name.text
        if given is None:
            span, also = decl.name.span, []
            why = "It has no default, and none was given."
            mend = f"Add a default (`param {name}: {type} = …;`), or give it: `--param {full}=…`."
        else:
            span, also = given.use.span, [(decl.name.span, "declared here")]
            why = f"It has no default, and the NF has no param `{name}` of type {type} whose value it could take."
            mend = f"Give it in braces, `use {given.use.path} {{ {name}: … }}`, or declare `param {name}: {type} = …;`."
        self.report.add("E0219", f"param `{full}` has no value", span, also=also, why=why, mend=mend)

    def _override(self, scope: NfScope, name: str, text: str, type: t.Type) -> Any:
        from polysome.syntax.parse import parse_expression  # ANTLR is slow to import and rarely needed

        node = parse_expression(f"--param {name}", text, self.report)
        return None if node is None else Expressions(self.shared, scope, frozenset()).constant(node, type)

    def _seed(self, scope: NfScope, declared: set[str]) -> None:
        """`param seed` exists everywhere (L3.16)."""
        if "seed" not in declared:
            text = self.options.params.get("seed")
            value = 0 if text is None else self._override(scope, "seed", text, SEED[1])
            scope.params["seed"] = (SEED[1], value, Span(self.module.name, 0, 0))

    def _unknown_params(self) -> None:
        """E0220 for a param given on the command line that neither the NF nor a block of it has."""
        known = [scope.prefix + name for scope, _ in self.scopes for name in scope.params]
        for name in self.options.params:
            if name not in known:
                place = self.options.places.get(name)
                given = f"`--param {name}=…` was given on the command line." if place is None else "It is given here."
                self.report.add(
                    "E0220",
                    f"the NF has no param `{name}`",
                    place,
                    why=given,
                    mend=did_you_mean(name, known) or "Declare it with `param`, or do not give it.",
                )

    def _use_block(self, scope: NfScope, use: ast.Use) -> None:
        alias = use.alias or ast.Ident(use.span, use.path.rpartition(".")[2])
        claimed = scope.claim(alias, self.report)
        module = self.loader.resolve(use, self.path, self.module.ast)
        if module is None:
            return
        blocks = [i for i in module.ast.items if isinstance(i, ast.NfDecl) and i.block]
        if len(blocks) != 1:
            self.report.add(
                "E0221",
                f"`{use.path}` declares {'several blocks' if blocks else 'no block'}",
                use.span,
                why="Inside an NF, `use … as x;` makes an instance of the one block that the file declares.",
                mend="Move it out of the NF, to the top of the file: there, `use` makes declarations visible."
                if not blocks
                else "Give each block a file of its own.",
            )
            return
        if blocks[0] in (decl for decl, _ in self._opened):
            self.loader.circle(use)
            return
        if not claimed:
            return
        child = NfScope(module_names(module, self.report), prefix=f"{scope.prefix}{alias.text}.")
        given = Given(blocks[0], scope, use)
        self._opened.append((blocks[0], use))
        self._uses.append((child, blocks[0], self._opened[0][1]))
        self._declare(child, blocks[0], given)
        self._opened.pop()
        check_given(self.report, given)
        scope.blocks[alias.text] = child

    def _parser(self, scope: NfScope, decl: ast.NfDecl) -> ir.Parser | None:
        if not scope.names.parsers:
            if any(d.code == "E0221" for d in self.report.errors):  # the `use` that would make one visible
                return None
            self.report.add(
                "E0222",
                "no parser is visible",
                decl.name.span,
                why="The parser says which headers a packet has.",
                mend="Add `use net.l4;` (or `use net.tunnel;`) at the top of the file.",
            )
            return None
        return ParserBuilder(self.shared, scope, self._chosen_parser(), scope.names.hooks).build()

    def _chosen_parser(self) -> ast.ParserDecl:
        """The file's own parser, else the one visible through its last `use` that shows one (L4.14)."""
        uses = [i for i in self.module.ast.items if isinstance(i, ast.Use)]
        used = [self.loader.resolve(use, self.path.resolve(), self.module.ast) for use in reversed(uses)]
        candidates = [self.module, *(m for module in used if module for m in reversed(module.visible))]
        return next(i for m in candidates for i in reversed(m.ast.items) if isinstance(i, ast.ParserDecl))

    def _state(self, scope: NfScope, decl: ast.NfDecl) -> None:
        builder = StateBuilder(self.shared, scope, self.options.capacities)
        for item in decl.items:
            if isinstance(item, ast.StateDecl):
                state = builder.state(item)
                if state is not None:
                    scope.state[item.name.text] = state
            elif isinstance(item, ast.IndexDecl):
                builder.index(item)

    # ------------------------------------------------------------ handlers

    def _contract(self, scope: NfScope, decl: ast.NfDecl) -> ir.Contract | None:
        lines = [i for i in decl.items if isinstance(i, ast.Relevant)]
        x = Statements(self.shared, scope, packet=True)
        with_else = [i for i in lines if i.orelse is not None]
        if len(with_else) > 1:
            self.report.add(
                "E0803",
                "only one `relevant` has an `else`",
                with_else[1].span,
                also=[(with_else[0].span, "first one here")],
                why="It is the verdict on every packet that lacks a demanded header.",
                mend="Keep one of them.",
            )
        orelse: ir.Statement | None = None
        if with_else:
            arm = with_else[0].orelse
            if isinstance(arm, (ast.Send, ast.Bounce, ast.Drop)):
                orelse = packet_statements.verdict(x, arm, packet=True)[0]
            else:
                self.report.add(
                    "E0804",
                    "`relevant … else` takes a single verdict",
                    arm.span if arm else with_else[0].span,
                    why="The switch gives it; it has no state and computes nothing.",
                    mend='Write `else drop "…"`, `else send PORT` or `else bounce`.',
                )
        return ContractBuilder(x).build(lines, orelse)

    def _packet_handlers(self, scope: NfScope, decl: ast.NfDecl, passing: int) -> tuple[ir.PacketHandler, ...]:
        found, taken = [], dict[int, Span]()
        handlers = [i for i in decl.items if isinstance(i, ast.OnPacket)]
        for handler in sorted(handlers, key=lambda h: not h.ports):
            ports = self._handler_ports(scope, handler, taken)
            x = Statements(self.shared, scope, packet=True)
            x.mask = passing
            body, ended = x.block(handler.body)
            if not ended:
                self._no_verdict(handler)
            found.append(ir.PacketHandler(ports, tuple(body), handler.span))
        if not handlers:
            self.report.add(
                "E0607",
                "this NF handles no packets",
                decl.name.span,
                why="Every packet would be dropped, reason `no handler`.",
                mend="Add `on packet { … }`.",
            )
        return tuple(found)

    def _handler_ports(self, scope: NfScope, handler: ast.OnPacket, taken: dict[int, Span]) -> tuple[int, ...]:
        if not handler.ports:
            ports = [p for p in scope.ports.values() if p not in taken]
            if not ports or any(s.start < 0 for s in taken.values()):
                self._second_handler(handler, next(iter(taken.values()), handler.span))
            taken.update(dict.fromkeys(ports, handler.span))
            return tuple(ports)
        found = []
        for ident in handler.ports:
            if ident.text not in scope.ports:
                self.report.add(
                    "E0223",
                    f"there is no port `{ident.text}`",
                    ident.span,
                    why="`on packet from P` names ports declared with `port`.",
                    mend=did_you_mean(ident.text, scope.ports) or f"Declare it: `port {ident.text};`.",
                )
                continue
            port = scope.ports[ident.text]
            if port in taken:
                self._second_handler(handler, taken[port])
            taken[port] = handler.span
            found.append(port)
        return tuple(found)

    def _second_handler(self, handler: ast.OnPacket, first: Span) -> None:
        self.report.add(
            "E0608",
            "this port already has a handler",
            Span(handler.span.file, handler.span.start, handler.body.span.start),
            also=[(first, "first handler here")],
            why="A packet has one verdict, so a port has one handler; `on packet` without ports takes those left over.",
            mend="Join the handlers, or name other ports.",
        )

    def _no_verdict(self, handler: ast.OnPacket) -> None:
        end = handler.body.span.end
        self.report.add(
            "E0609",
            "not every path through this handler ends in a verdict",
            Span(handler.span.file, end - 1, end),
            label="this end can be reached",
            also=[(Span(handler.span.file, handler.span.start, handler.body.span.start), "in this handler")],
            why="A packet is sent, bounced or dropped, never forgotten.",
            mend='End with `send PORT;`, `bounce;` or `drop "reason";`.',
        )

    def _end_handlers(self) -> dict[str, ir.EndHandler]:
        found: dict[str, ir.EndHandler] = {}
        for scope, decl in self.scopes:
            for item in decl.items:
                if isinstance(item, ast.OnEnd):
                    handler = self._end_handler(scope, item)
                    if handler is not None and handler.map in found:
                        self.report.add(
                            "E0608",
                            f"`{handler.map}` already has an `on end`",
                            item.map.span,
                            also=[(found[handler.map].span, "first one here")],
                            why="There is one, so that the order is plain.",
                            mend="Join the two.",
                        )
                    elif handler is not None:
                        found[handler.map] = handler
        return found

    def _end_handler(self, scope: NfScope, item: ast.OnEnd) -> ir.EndHandler | None:
        decl = scope.state.get(item.map.text)
        if not isinstance(decl, ir.MapDecl):
            self.report.add(
                "E0523",
                f"there is no map `{item.map.text}`",
                item.map.span,
                why="`on end` follows the entries of a map or set.",
                mend=mend_map(item.map.text, scope.state),
            )
            return None
        x = Statements(self.shared, scope, packet=False)
        value = decl.value.item if isinstance(decl.value, t.FromPool) else decl.value or t.BOOL
        types = (decl.key, value, t.END)
        slots = tuple(x.bind(n, ty) for n, ty in zip(item.names, types, strict=True))
        body, _ = x.block(item.body)
        return ir.EndHandler(decl.name, (slots[0], slots[1], slots[2]), tuple(body), item.span)

    def _timers(self) -> tuple[ir.Timer, ...]:
        found = []
        for scope, decl in self.scopes:
            for item in decl.items:
                if isinstance(item, ast.Every):
                    x = Statements(self.shared, scope, packet=False)
                    period = x.constant(item.period, t.DURATION)
                    if period == 0:
                        self.report.add(
                            "E0610",
                            "a timer's period must be longer than nothing",
                            item.period.span,
                            why="It would run without end at one instant.",
                            mend="Give a duration above zero.",
                        )
                    body, _ = x.block(item.body)
                    found.append(ir.Timer(period or 1, tuple(body), item.span))
        return tuple(found)

    def _block_properties(self) -> list[pr.Property]:
        """The properties of the blocks in use, unless something else is wrong: then they would only repeat it."""
        if self.report.errors:
            return []
        return [p for scope, decl, use in self._uses for p in block_properties(self.shared, scope, decl, use)]

    # ------------------------------------------------------------ together

    def _assemble(self, scope: NfScope, decl: ast.NfDecl, parser: ir.Parser) -> ir.Program:
        contract = self._contract(scope, decl)
        passing = contract.passing if contract else parser.all_classes
        plans = [i for i in decl.items if isinstance(i, ast.Schedule)]
        loads = [i for i in decl.items if isinstance(i, ast.Traffic)]
        extras: list[ast.Schedule | ast.Traffic] = [*plans[1:], *loads[1:]]
        for extra in extras:
            word, first = ("schedule", plans[0]) if isinstance(extra, ast.Schedule) else ("traffic", loads[0])
            self.report.add(
                "E0203",
                f"`{word}` is declared twice",
                Span(extra.span.file, extra.span.start, extra.span.start + len(word)),
                also=[(Span(first.span.file, first.span.start, first.span.start + len(word)), "first declared here")],
                why="An NF has one of each.",
                mend=schedules.mend_second(first, extra),
            )
        packet_handlers = self._packet_handlers(scope, decl, passing)
        scheduled = passing if contract and isinstance(contract.orelse, ir.Drop) else parser.all_classes
        return ir.Program(
            name=decl.name.text,
            doc=decl.doc,
            file=self.module.name,
            ports=tuple(scope.ports),
            params={s.prefix + n: (ty, v) for s, _ in self.scopes for n, (ty, v, _) in s.params.items()},
            headers=self.shared.headers,
            parser=parser,
            fns=self.shared.fns,
            config={c.name: c for s, _ in self.scopes for c in s.config.values()},
            state={d.name: d for s, _ in self.scopes for d in s.state.values()},
            contract=contract,
            packet_handlers=packet_handlers,
            end_handlers=self._end_handlers(),
            timers=self._timers(),
            schedule=schedules.schedule(self.shared, scope, plans[0] if plans else None, decl.name.span, scheduled),
            traffic=schedules.traffic(self.shared, scope, loads[0]) if loads else None,
            properties=(*properties(self.shared, scope, decl), *self._block_properties()),
            span=decl.span,
            sources=self.report.sources,
        )
