"""Sharding: may several cores share the work without sharing state? (DESIGN sections 4.1 and 5)

For each port a *shard key*, an expression over the packet: packets with different keys never use the same entry of any
state, so each core can keep the entries of its own keys. The key's members are places of the state's own keys: if
`open` is keyed by (client, port) and `counts` by client, the client is a member, wherever a port's packets have it.
What is a member on every port, in every map that is used together, under every condition, is found here.

**The promise.** On n cores, packet p is decided on core SipHash(seed, canonical bytes of its key) mod n. Every packet
then has the fate that it has on one core, with the same bytes and times, and what `emit` makes is the same, except that

- `per core` state has one copy per core;
- a capacity is one per core: of maps and sets, of a schedule's `classes` and `buffer`. As long as nothing is full on
  one core (no entry evicted, no insertion refused), there is no difference;
- what different cores send between two packets may be in another order; times are the same, and packets with equal
  keys keep their order.

Without a key, a port's packets are all decided on core 0. If no port has one, there is one core, whatever was asked
for: timers then run once. State that is one value, estimates that depend on all that was added, `.len` and `for` over a
map, pools whose partition is not in the key, and policies that serve ports or fill one buffer are shared by all
packets. An index makes its keys unique in the whole map, so what is no part of them cannot be a member.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from polysome.analysis.shard_keys import SCHEDULE, Context, Use, index_parts, key_type
from polysome.analysis.shard_tree import hashed, key_tree, mixed, total
from polysome.analysis.shard_uses import contexts
from polysome.analysis.shard_why import Blocker, blockers_of, timer_blockers
from polysome.analysis.symbolic import leaves
from polysome.ir import program as ir
from polysome.ir import types as t

Members = dict[str, tuple[int, ...]]  # per state, the places of its key that are the shard key's members, in its order


@dataclass(frozen=True)
class Part:
    """State that is used together. `members` as (state, places in its key); empty if `blockers` say why not."""

    ports: tuple[int, ...]
    uses: tuple[Use, ...]
    members: tuple[tuple[str, tuple[int, ...]], ...]
    blockers: tuple[Blocker, ...]


@dataclass(frozen=True)
class Sharding:
    """`keys`: per port of the program its shard key, as the spec would say it; None: core 0. See the module's text.

    `free`: ports whose packets use no shared state and are spread by the schedule's class. `own`: `per core` state.
    """

    keys: tuple[ir.Expr | None, ...]
    parts: tuple[Part, ...]
    free: tuple[int, ...]
    own: tuple[str, ...]
    blockers: tuple[Blocker, ...]

    @property
    def spreads(self) -> bool:
        """Is there work for more than one core?"""
        return any(key is not None for key in self.keys)


@lru_cache(maxsize=4)
def sharding(program: ir.Program) -> Sharding:
    """How the packets of a program may be spread over cores, or why not."""
    every = contexts(program)
    own = tuple(name for name, decl in program.state.items() if decl.per_core)
    stopped = timer_blockers(program, [c for c in every if c.port is None and c.ends is None])
    parts = tuple(_part(program, group) for group in _together(every))
    keys: list[ir.Expr | None] = [None] * len(program.ports)
    free = [c.port for c in every if c.port is not None and not c.uses]
    for port in free:
        cls = program.schedule.cls
        keys[port] = None if isinstance(cls, ir.Const) else ir.Make(cls.span, ir_tuple((cls,)), (cls,))
    for part in parts:
        for port in part.ports if part.members else ():
            uses = [u for u in part.uses if any(c.port == port and u in c.uses for c in every)]
            keys[port] = key_tree(program, uses, dict(part.members))
        if any(mixed(key) for port in part.ports if (key := keys[port]) is not None):
            for port in part.ports:  # those that use less of the state too: their packets meet the others' entries
                keys[port] = None if (key := keys[port]) is None else hashed(key)
    blockers = tuple(b for part in parts for b in part.blockers)
    blockers += tuple(b for b in stopped if b.state not in {other.state for other in blockers})
    if stopped:
        keys, free = [None] * len(program.ports), []
    return Sharding(tuple(keys), parts, tuple(free), own, blockers)


def shard_key(program: ir.Program, port: int) -> ir.Expr | None:
    """The port's shard key as one tuple over the packet as it arrived, defined for every packet: where a header is
    missing, its fields count as 0. None: core 0; if that is so for all ports, there is one core.
    """
    key = sharding(program).keys[port]
    return None if key is None else total(key, program.parser)


def ir_tuple(items: Sequence[ir.Expr]) -> t.Tuple:
    return t.Tuple(tuple(e.type for e in items))


def _together(every: Sequence[Context]) -> Iterator[list[Context]]:
    """Contexts with packets or entries, in groups that have no state in common."""
    left = [c for c in every if c.uses and (c.port is not None or c.ends is not None)]
    while left:
        group = [left.pop(0)]
        states = {u.state for u in group[0].uses}
        while more := [c for c in left if any(u.state in states for u in c.uses)]:
            group += more
            left = [c for c in left if c not in more]
            states |= {u.state for c in more for u in c.uses}
        if any(c.port is not None for c in group):
            yield group


def _part(program: ir.Program, group: list[Context]) -> Part:
    found = _vectors(program, group)
    ports = tuple(c.port for c in group if c.port is not None)
    uses = tuple(dict.fromkeys(u for c in group for u in c.uses))
    if found:
        members = tuple((state, tuple(v[state] for v in found)) for state in found[0])
        return Part(ports, uses, members, ())
    return Part(
        ports, uses, (), blockers_of(program, uses, lambda states: bool(_vectors(program, _only(group, states))))
    )


def _only(group: list[Context], states: set[str]) -> list[Context]:
    """The contexts with the uses of some states."""
    return [replace(c, uses=tuple(u for u in c.uses if u.state in states)) for c in group]


def _vectors(program: ir.Program, group: list[Context]) -> list[dict[str, int]]:
    """Choices of one place in each state's key such that whoever uses several states has equal values there.

    As few as have all places that can be chosen: of maps that no packet uses together, any places agree. Choices that
    are the same value for all packets of every port are left out.
    """
    states = list(dict.fromkeys(u.state for c in group for u in c.uses))
    places = {state: _places(program, state, group) for state in states}
    held: set[tuple[str, int]] = set()
    found = []
    for state, place in [(name, place) for name in states for place in places[name]]:
        if (state, place) not in held and (vector := _vector(program, group, places, {state: place}, held)):
            found.append(vector)
            held |= vector.items()
    return sorted(found, key=lambda vector: tuple(vector.values()))


def _vector(
    program: ir.Program,
    group: list[Context],
    places: dict[str, list[int]],
    chosen: dict[str, int],
    held: set[tuple[str, int]],
) -> dict[str, int] | None:
    """The first choice with what is `chosen`, the last of which is new; of places that no other has, if there are."""
    new = next(reversed(chosen))
    if not all(_agrees(program, c, chosen) for c in group if any(u.state == new for u in c.uses)):
        return None
    state = next((state for state in places if state not in chosen), None)
    if state is None:
        return None if _constant(group, chosen) else {name: chosen[name] for name in places}
    for place in sorted(places[state], key=lambda place: (state, place) in held):
        if found := _vector(program, group, places, {**chosen, state: place}, held):
            return found
    return None


def _places(program: ir.Program, state: str, group: list[Context]) -> list[int]:
    """The places in the key of `state` that every use knows, and that every index has in its own keys."""
    type = key_type(program, state)
    if type is None:
        return []
    uses = [u for c in group for u in c.uses if u.state == state]
    if not all(u.keyed for u in uses):
        return []
    places = [i for i, _ in enumerate(leaves(type)) if all(u.parts[i] is not None for u in uses)]
    decl = program.state.get(state) if state != SCHEDULE else None
    for index in decl.indexes if isinstance(decl, ir.MapDecl) else ():
        held = index_parts(program, state, index.name)
        places = [i for i in places if i in held]
    return places


def _agrees(program: ir.Program, context: Context, chosen: dict[str, int]) -> bool:
    uses = [u for u in context.uses if u.state in chosen]
    return key_tree(program, uses, {state: (place,) for state, place in chosen.items()}) is not None


def _constant(group: list[Context], vector: dict[str, int]) -> bool:
    """Is it the same value for all packets of all ports?"""
    parts = [u.parts[vector[u.state]] for c in group if c.port is not None for u in c.uses]
    values = {e.value if isinstance(e, ir.Const) else None for e in parts}
    return len(values) == 1 and None not in values
