"""Tables: entries that stand in the program, or are given, are tried in order; others do any of their actions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from polysome.p4 import program as pr
from polysome.p4.types import width
from polysome.prove.p4.expressions import Value
from polysome.prove.p4.parser import matches
from polysome.prove.p4.store import Ran
from polysome.prove.p4.world import Feasible, World

# Of tables that the controller fills: what it fills in. A table that is not named may hold anything.
Entries = Mapping[str, Sequence[pr.Entry]]


def apply(
    program: pr.Program,
    table: pr.Table,
    keys: tuple[Value, ...],
    world: World,
    entries: Entries,
    feasible: Feasible,
    seen: bool,
) -> Iterator[tuple[World, Ran]]:
    """Each action that may run, with its parameters in the store; the body is still to be run.

    `seen`: does the program ask whether an entry was hit?
    """
    found = table.entries if table.fixed else entries.get(table.name)
    if found is None:
        yield from _anything(program, table, keys, world, seen)
    else:
        yield from _tried(program, table, keys, _in_order(table, found), world, feasible)


def _in_order(table: pr.Table, entries: Sequence[pr.Entry]) -> list[pr.Entry]:
    """As they stand; of a table with an lpm key the longest prefixes first."""
    lpm = [i for i, k in enumerate(table.keys) if k.kind == "lpm"]
    return sorted(entries, key=lambda e: -max(e.keys[i][1].bit_count() for i in lpm)) if lpm else list(entries)


def _tried(
    program: pr.Program,
    table: pr.Table,
    keys: tuple[Value, ...],
    entries: list[pr.Entry],
    world: World,
    feasible: Feasible,
) -> Iterator[tuple[World, Ran]]:
    for n, entry in enumerate(entries):
        matched = matches([(v, k.value.type, *m) for k, v, m in zip(table.keys, keys, entry.keys, strict=True)])
        if isinstance(matched, int) and not matched:
            continue
        for taken, said in feasible.split(matched):
            on = world.given(said, last=not taken or isinstance(said, int))
            if taken:
                yield on, _ran(program, table, entry.call, keys, True, on)
            else:
                yield from _tried(program, table, keys, entries[n + 1 :], on, feasible)
        return
    yield from _missed(program, table, keys, world)


def _missed(program: pr.Program, table: pr.Table, keys: tuple[Value, ...], world: World) -> Iterator[tuple[World, Ran]]:
    if table.default_constant:
        yield world, _ran(program, table, table.default, keys, False, world)
        return
    for action in table.actions:  # the controller may have set another default
        on = world.given()
        yield on, _free(program, table, action, keys, False, on)


def _anything(
    program: pr.Program, table: pr.Table, keys: tuple[Value, ...], world: World, seen: bool
) -> Iterator[tuple[World, Ran]]:
    """Any of the actions, by an entry or by default."""
    for action in table.actions:
        on = world.given()
        yield on, _free(program, table, action, keys, True if seen else None, on)
    if seen or (table.default_constant and table.default.action not in table.actions):
        yield from _missed(program, table, keys, world.given())


def _ran(
    program: pr.Program, table: pr.Table, call: pr.ActionCall, keys: tuple[Value, ...], hit: bool, world: World
) -> Ran:
    params = program.actions[call.action].params
    assert len(params) == len(call.args)
    return _with(program, table, call.action, call.args, keys, hit, world)


def _free(
    program: pr.Program, table: pr.Table, action: str, keys: tuple[Value, ...], hit: bool | None, world: World
) -> Ran:
    args = tuple(
        world.store.symbol(f"{table.name}.{action}.{p.path[0]}", width(p.type)) for p in program.actions[action].params
    )
    return _with(program, table, action, args, keys, hit, world)


def _with(
    program: pr.Program,
    table: pr.Table,
    action: str,
    args: tuple[Value, ...],
    keys: tuple[Value, ...],
    hit: bool | None,
    world: World,
) -> Ran:
    for place, value in zip(program.actions[action].params, args, strict=True):
        world.store.write(place.key, value)
    ran = Ran(table.name, action, args, hit, keys)
    world.store.ran = (*world.store.ran, ran)
    return ran
