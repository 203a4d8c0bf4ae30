"""Uses of state, and what the keys of its entries are made of."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from polysome.analysis.symbolic import HOLE, Env, Normal, build, entry_key, leaves, part, resolve
from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.ir.walk import walk
from polysome.syntax.spans import Span

SCHEDULE = "schedule"  # the name of what a policy keeps; a keyword, so no state has it


@dataclass(frozen=True)
class Guard:
    """A condition on the packet: `normal` is what it is known by, `condition` what is shown and evaluated."""

    normal: ir.Expr
    condition: ir.Expr
    holds: bool


@dataclass(frozen=True)
class Use:
    """`state` is used at `span` by packets of the parse classes `mask` if all guards hold.

    `parts`: the key's single values as functions of the packet, None if they are not. Without `keyed`, all entries are
    used (`for`, `.len`). `through`: the index that is used. `said`: the key in the words of the spec.
    """

    state: str
    span: Span
    parts: tuple[ir.Expr | None, ...]
    guards: tuple[Guard, ...]
    mask: int
    keyed: bool = True
    through: str | None = None
    said: str = ""

    @property
    def by_end(self) -> bool:
        """Is it a use at the end of an entry, by that entry's key?"""
        return any(isinstance(node, ir.Local) for node in walk(self.parts))


@dataclass(frozen=True)
class Context:
    """What runs at once on one core: a packet of `port`, or the end of an entry of the map `ends`; else a timer."""

    port: int | None
    ends: str | None
    uses: tuple[Use, ...]
    span: Span
    emits: Span | None = None
    names: tuple[tuple[ir.Expr, str], ...] = ()  # what the spec calls computed values


def key_type(program: ir.Program, state: str) -> t.Type | None:
    """The type of a key that tells entries apart; None if all of the state is one."""
    if state == SCHEDULE:
        return program.schedule.cls.type if "classes" in program.schedule.options and not _served(program) else None
    match program.state[state]:
        case ir.MapDecl(key=key):
            return key
        case ir.ArrayDecl():
            return t.U64
        case ir.PoolDecl(per=per):
            return None if per is None else per.type
        case _:
            return None


def _served(program: ir.Program) -> bool:
    return "serve" in program.schedule.options


@lru_cache(maxsize=4)
def normal_of(program: ir.Program) -> Normal:
    """Normal forms, shared by all who ask for this program's."""
    return Normal(program)


@lru_cache(maxsize=4)
def never_written(program: ir.Program) -> frozenset[str]:
    """Scalars and arrays that keep their initial value: nothing is shared through them."""
    bodies: list[ir.Body] = [h.body for h in program.packet_handlers]
    bodies += [h.body for h in program.end_handlers.values()] + [timer.body for timer in program.timers]
    written = set()
    for node in walk(bodies):
        match node:
            case ir.StateWrite(state=state):
                written.add(state)
            case ir.BucketOp(take=True, place=place):
                written.add(place.state)
    values = (ir.ScalarDecl, ir.ArrayDecl)
    return frozenset(n for n, decl in program.state.items() if isinstance(decl, values) and n not in written)


def index_parts(program: ir.Program, state: str, index: str) -> dict[int, int]:
    """For each single value of the map's key that an index's key holds too: its place there."""
    decl = program.state[state]
    assert isinstance(decl, ir.MapDecl)
    declared = next(i for i in decl.indexes if i.name == index)
    key = entry_key(declared.span, decl.key)
    normal, every = normal_of(program), program.parser.all_classes
    whole = resolve(declared.key, Env(slots={declared.key_slot: key}))
    held = [normal.of(part(whole, path), every) for path, _, _ in leaves(declared.key.type)]
    wanted = [normal.of(part(key, path), every) for path, _, _ in leaves(decl.key)]
    return {i: held.index(e) for i, e in enumerate(wanted) if e in held}


def key_through(program: ir.Program, state: str, index: str, index_key: ir.Expr) -> ir.Expr:
    """The map's key as far as the index's key says it."""
    decl = program.state[state]
    assert isinstance(decl, ir.MapDecl)
    type = next(i for i in decl.indexes if i.name == index).key.type
    there = [path for path, _, _ in leaves(type)]
    places = [path for path, _, _ in leaves(decl.key)]
    parts = index_parts(program, state, index)
    return build(index_key.span, decl.key, {places[i]: part(index_key, there[j]) for i, j in parts.items()})


def found_entry(program: ir.Program, state: str, key: ir.Expr) -> ir.Expr:
    """What a lookup through an index finds: the key as far as it is known, and a value."""
    decl = program.state[state]
    assert isinstance(decl, ir.MapDecl) and decl.value is not None
    value = ir.Local(key.span, decl.value, HOLE, "?")
    return ir.Make(key.span, t.Tuple((decl.key, decl.value)), (key, value))
