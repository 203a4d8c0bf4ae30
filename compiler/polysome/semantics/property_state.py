"""State and config in properties: as they were right before or after a packet (LANGUAGE.md L12.7)."""

from __future__ import annotations

from dataclasses import dataclass

from polysome.ir import program as ir
from polysome.ir import properties as pr
from polysome.ir import types as t
from polysome.kinds.state import STATE_KINDS, is_mapping
from polysome.semantics import names, state_access
from polysome.semantics.header_names import flatten
from polysome.semantics.property_context import PropertyContext
from polysome.semantics.property_paths import Path, path_of, some_packet
from polysome.semantics.scope import NfScope
from polysome.syntax import ast
from polysome.syntax.diagnostics import one_of
from polysome.syntax.spans import Span


@dataclass(frozen=True)
class Moment:
    """`p.before.name`: state, an index or config called `name` in `scope`, around `packet`."""

    packet: ir.Expr
    when: str
    scope: NfScope
    name: ast.Ident

    @property
    def state(self) -> ir.AnyState | None:
        return self.scope.state.get(self.name.text)

    def read(self, e: ir.Expr) -> ir.Expr:
        return e if e.type == t.WRONG else pr.Snapshot(e.span, e.type, self.packet, self.when, e)


def moment_of(x: PropertyContext, node: ast.Expr) -> Moment | None:
    """What the node names, if it is exactly `p.before.name` or `p.before.block.name`."""
    path = path_of(x, node)
    if path is None or path.packet.type != pr.PACKET or path.word.text not in ("before", "after"):
        return None
    rest = path.rest
    if isinstance(rest, ast.Name) and rest.text not in x.scope.blocks:
        return Moment(path.packet, path.word.text, x.scope, ast.Ident(rest.span, rest.text))
    if isinstance(rest, ast.Member) and isinstance(rest.base, ast.Name) and rest.base.text in x.scope.blocks:
        return Moment(path.packet, path.word.text, x.scope.blocks[rest.base.text], rest.name)
    return None


# ---------------------------------------------------------------- reads


def member(x: PropertyContext, path: Path, node: ast.Member) -> ir.Expr | None:
    """A scalar, config, or `.len`; None if a value's member is meant."""
    moment = moment_of(x, node)
    if moment is not None:
        return _bare(x, moment, node.span)
    if isinstance(path.rest, ast.Name):
        return unknown(x, x.scope, ast.Ident(path.rest.span, path.rest.text))
    outer = moment_of(x, node.base)
    if outer is None or outer.state is None or isinstance(outer.state, ir.ScalarDecl):
        return None
    if node.name.text == "len" and not isinstance(outer.state, ir.KindDecl):
        return outer.read(ir.StateLen(node.span, t.U64, outer.state.name))
    return no_member(x, outer.state, node.name)


def _bare(x: PropertyContext, moment: Moment, span: Span) -> ir.Expr:
    """State or config named as a whole."""
    name, scope = moment.name.text, moment.scope
    if isinstance(moment.state, ir.ScalarDecl):
        return moment.read(ir.StateRead(span, moment.state.type, moment.state.name))
    if name in scope.state or name in scope.indexes:
        return state_access.bare(x, scope, name, span)
    if name in scope.config:
        return moment.read(ir.Config(span, scope.config[name].type, scope.config[name].name))
    return unknown(x, scope, moment.name)


def unknown(x: PropertyContext, scope: NfScope, name: ast.Ident) -> ir.Expr:
    x.report.add(
        "E0904",
        f"there is no state or config `{name.text}`",
        name.span,
        why="`before` and `after` lead to what the NF, or a block in it, declares in `state` and with `config`.",
        mend=one_of(name.text, [*scope.state, *scope.indexes, *scope.config, *scope.blocks]),
    )
    return x.wrong(name.span)


def no_member(x: PropertyContext, decl: ir.AnyState, name: ast.Ident) -> ir.Expr:
    known = (
        [m.name for m in STATE_KINDS[decl.kind].methods if not m.writes] if isinstance(decl, ir.KindDecl) else ["len"]
    )
    x.report.add(
        "E0503",
        f"`{decl.name}` has no member `{name.text}`",
        name.span,
        why="State has the members and methods of its kind.",
        mend=one_of(name.text, known),
    )
    return x.wrong(name.span)


def index(x: PropertyContext, node: ast.Index) -> ir.Expr | None:
    """`p.after.array[i]`, `p.after.map[k]`, `p.before.list[i]`; of config also without a packet. None for all else."""
    moment = moment_of(x, node.base)
    if moment is None or moment.name.text in moment.scope.config:
        return _config_index(x, node, moment)
    if isinstance(moment.state, ir.ArrayDecl):
        place = x.integer(node.index)
        return moment.read(ir.ArrayRead(node.span, moment.state.item, moment.state.name, place))
    found = lookup(x, moment, node.index, node.span)
    if found is not None:
        return found
    if moment.state is None:
        return unknown(x, moment.scope, moment.name)
    x.report.add(
        "E0317",
        f"`{moment.state.name}` cannot be indexed",
        node.span,
        why="Arrays, maps, indexes and config tables have an index; a set or a filter only says what it holds.",
        mend=f"Write `… in {flatten(node.base)}`." if isinstance(moment.state, ir.MapDecl) else "",
    )
    return x.wrong(node.span)


def lookup(x: PropertyContext, moment: Moment, key: ast.Expr, span: Span) -> ir.Expr | None:
    """An entry of a map, or through an index."""
    state = moment.state
    if isinstance(state, ir.MapDecl) and state.value is not None:
        return moment.read(pr.Lookup(span, state.value, "map", state.name, x.expr(key, state.key), None))
    if moment.name.text not in moment.scope.indexes:
        return None
    map_name, decl = moment.scope.indexes[moment.name.text]
    target = moment.scope.state[map_name]
    assert isinstance(target, ir.MapDecl) and target.value is not None
    entry = t.Entry(target.key, target.value)
    return moment.read(pr.Lookup(span, entry, "index", target.name, x.expr(key, decl.key.type), decl.name))


def _config_index(x: PropertyContext, node: ast.Index, moment: Moment | None) -> ir.Expr | None:
    """A row of a config list or table, as a value; None if the base is neither."""
    if moment is None and not _names_config(x, node.base):
        return None
    base = x.expr(node.base)
    type = base.type
    if isinstance(type, t.ListOf):
        return ir.ListIndex(node.span, type.item, base, x.integer(node.index))
    if not isinstance(type, t.Table):
        return None
    if type.hashed:
        return ir.ListIndex(node.span, type.value, base, x.expr(node.index, t.U64))
    config = base.read if isinstance(base, pr.Snapshot) else base
    assert isinstance(config, ir.Config)
    found = pr.Lookup(node.span, type.value, "table", config.name, x.expr(node.index, type.key), None)
    return moment.read(found) if moment is not None else found


def _names_config(x: PropertyContext, node: ast.Expr) -> bool:
    if isinstance(node, ast.Name):
        return node.text in x.scope.config and not any(node.text in scope for scope in x.locals)
    if isinstance(node, ast.Member) and isinstance(node.base, ast.Name):
        block = names.block_of(x, node.base)
        return block is not None and node.name.text in block.config
    return False


def contains(x: PropertyContext, node: ast.Binary) -> ir.Expr | None:
    """`k in p.after.map`, also of indexes, Bloom filters and config maps; None for all else."""
    moment = moment_of(x, node.right)
    if moment is None:
        return None
    state, name = moment.state, moment.name.text
    if isinstance(state, ir.MapDecl):
        return moment.read(ir.Contains(node.span, t.BOOL, state.name, x.expr(node.left, state.key), None))
    if name in moment.scope.indexes:
        map_name, decl = moment.scope.indexes[name]
        map_name = moment.scope.state[map_name].name
        return moment.read(ir.Contains(node.span, t.BOOL, map_name, x.expr(node.left, decl.key.type), decl.name))
    if isinstance(state, ir.KindDecl) and (element := STATE_KINDS[state.kind].element) is not None:
        key = x.expr(node.left, state_access.term(element, state))
        return moment.read(ir.Contains(node.span, t.BOOL, state.name, key, None))
    if name in moment.scope.config and is_mapping(type := moment.scope.config[name].type):
        return ir.InSet(node.span, t.BOOL, x.expr(node.left, type.key), x.expr(node.right))
    return None


def entries(x: PropertyContext, node: ast.Expr) -> ir.Expr | None:
    """Everything in a map, set or `top_k`, as a list; None for all else."""
    moment = moment_of(x, node)
    if moment is None or moment.state is None:
        return None
    state = moment.state
    terms: tuple[t.Type, ...] = ()
    if isinstance(state, ir.MapDecl):
        terms = (state.key,) if state.value is None else (state.key, state.value)
    elif isinstance(state, ir.KindDecl):
        terms = tuple(state_access.term(i, state) for i in STATE_KINDS[state.kind].iterates)
    if not terms:
        return None
    item = terms[0] if len(terms) == 1 else t.Entry(terms[0], terms[1])
    return moment.read(pr.Entries(node.span, t.ListOf(item), state.name))


# ---------------------------------------------------------------- state without a packet


def without_time(x: PropertyContext, node: ast.Expr) -> bool:
    """Does the node use state without saying when? E0903."""
    named = _named_state(node)
    for candidate in named:
        owner = state_access.owner(x, candidate)
        if owner is not None:
            shown = flatten(candidate)
            packet = some_packet(x)
            x.report.add(
                "E0903",
                f"`{shown}` at which time?",
                candidate.span,
                why="State changes from packet to packet; a property sees it around a packet of its choice.",
                mend=f"Write `{packet}.before.{shown}`, or `{packet}.after.{shown}`.",
            )
            return True
    return False


def _chain(node: ast.Expr) -> tuple[ast.Expr, ...]:
    """The node and what it is a member or element of."""
    return (node, *_chain(node.base)) if isinstance(node, (ast.Member, ast.Index)) else (node,)


def _named_state(node: ast.Expr) -> tuple[ast.Expr, ...]:
    """The places in the node where state could be named."""
    match node:
        case ast.Name():
            return (node,)
        case ast.Member():
            return (node, node.base)
        case ast.Index():
            return (node.base,)
        case ast.Call(callee=ast.Member(base=base)):
            return _chain(base)
        case ast.Binary(op="in"):
            return (node.right,)
        case _:
            return ()
