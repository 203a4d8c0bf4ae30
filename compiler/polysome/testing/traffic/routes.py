"""How packets of each parse class are made: ways through the parse graph, and field values that lead along them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, product
from typing import Any

from polysome.ir import program as ir
from polysome.ir.fold import NotConstant, Undefined, evaluate
from polysome.ir.walk import walk
from polysome.testing.traffic.constants import Pool, Wish, constants
from polysome.testing.traffic.headers import shapes
from polysome.testing.traffic.invert import edges, undone

PEEK = -1  # the "instance" of the bits behind the last header; its "field" is how many
Leaf = tuple[int, int]
Pins = dict[Leaf, int]

_COMBINATIONS = 3000  # values of a node's fields tried
_VALUES = 24  # values of one field tried
_SOLUTIONS = 48  # kept for each way out of a node
_CHAINS = 4  # ways through the graph kept for each class


@dataclass(frozen=True)
class Step:
    """From node `node` to node `target`, -1: parsing ends, because of one of `pins`: values that fields must have.

    `extracts`: the node takes a header; `peeked`: the bits behind it that the node looks at.
    """

    node: int
    target: int
    pins: tuple[Pins, ...]
    extracts: bool
    peeked: int


@dataclass(frozen=True)
class Route:
    """A parse class: its instances, and ways to get it: `chains` that end there, `broken` ones that lead on to a header
    that is not there."""

    number: int
    path: tuple[int, ...]
    chains: tuple[tuple[Step, ...], ...]
    broken: tuple[tuple[Step, ...], ...]


# ---------------------------------------------------------------- one node


def leaves_of(program: ir.Program, node: ir.ParseNode) -> list[Leaf]:
    """What the way out of a node depends on."""
    found: dict[Leaf, None] = {}
    bits = 0
    for e in walk((node.keys, tuple(condition for condition, _ in node.hooks))):
        if isinstance(e, ir.HeaderField):
            found[e.instance, e.field] = None
        elif isinstance(e, ir.Peek):
            bits = max(bits, e.bits)
    return [*found, *([(PEEK, bits)] if bits else [])]


def _exit(program: ir.Program, node: ir.ParseNode, pins: Pins) -> int | None:
    """The node that follows; None if that cannot be known."""
    peeked = next((f for i, f in pins if i == PEEK), 0)

    def read(leaf: ir.Expr) -> Any:
        match leaf:
            case ir.HeaderField(instance=i, field=f) if (i, f) in pins:
                return pins[i, f]
            case ir.Peek(bits=bits):
                return pins[PEEK, peeked] >> (peeked - bits)
            case _:
                raise NotConstant(type(leaf).__name__)

    try:
        for condition, target in node.hooks:
            if condition is None or evaluate(condition, read, program.fns):
                return target
        keys = [evaluate(key, read, program.fns) for key in node.keys]
    except (NotConstant, Undefined):
        return None
    for case in node.cases:
        for match in case.matches:
            if all(r is None or r[0] <= k <= r[1] for k, r in zip(keys, match.ranges, strict=True)):
                return case.target
    return -1


def candidates_of(program: ir.Program, node: ir.ParseNode, leaf: Leaf) -> list[int]:
    """Values of a leaf around everything that the node compares it with, likely ones first."""
    i, f = leaf
    most = (1 << f) - 1 if i == PEEK else (1 << program.parser.instances[i].header.fields[f].width) - 1
    exact: dict[int, None] = {}
    near: dict[int, None] = {}
    if i != PEEK:
        pool = constants(program).fields.get((program.parser.instances[i].header.name, f)) or Pool()
        exact |= dict.fromkeys(v for v in pool.values[Wish.WANTED] if isinstance(v, int))
        exact[shapes(program)[i].base[f]] = None
        for wish in (Wish.OPEN, Wish.UNWANTED):
            exact |= dict.fromkeys(v for v in pool.values[wish] if isinstance(v, int))
    for k, key in enumerate(node.keys):
        for case in node.cases:
            for match in case.matches:
                if (bounds := match.ranges[k]) is not None:
                    exact |= dict.fromkeys(
                        _undone(program, key, bounds[0], leaf) + _undone(program, key, bounds[1], leaf)
                    )
                    near |= dict.fromkeys(
                        _undone(program, key, bounds[0] - 1, leaf) + _undone(program, key, bounds[1] + 1, leaf)
                    )
    for e, value in edges((node.keys, tuple(condition for condition, _ in node.hooks)), program.fns):
        if _is(e, leaf):
            exact[_aligned(e, leaf, value)] = None
    found = [v for v in exact | near | dict.fromkeys((0, 1, most)) if 0 <= v <= most]
    return found[:_VALUES]


def _undone(program: ir.Program, key: ir.Expr, value: int, leaf: Leaf) -> list[int]:
    """Values of the leaf for which the key may have a value."""
    if value < 0:
        return []
    return [_aligned(e, leaf, v) for e, v in undone(key, value, program.fns) if _is(e, leaf)]


def _is(e: ir.Expr, leaf: Leaf) -> bool:
    if isinstance(e, ir.HeaderField):
        return (e.instance, e.field) == leaf
    return leaf[0] == PEEK


def _aligned(e: ir.Expr, leaf: Leaf, value: int) -> int:
    """Peeked bits stand at the top of the most that the node peeks at."""
    return value << (leaf[1] - e.bits) if isinstance(e, ir.Peek) else value


@lru_cache(maxsize=4096)
def outcomes(program: ir.Program, number: int) -> dict[int, tuple[Pins, ...]]:
    """By the node that follows (-1: none): values of fields for which it does, without those that do not matter."""
    node = program.parser.nodes[number]
    leaves = leaves_of(program, node)
    if not leaves:
        target = _exit(program, node, {})
        return {} if target is None else {target: ({},)}
    candidates = [candidates_of(program, node, leaf) for leaf in leaves]
    table: dict[tuple[int, ...], int] = {}
    for values in islice(product(*candidates), _COMBINATIONS):
        target = _exit(program, node, dict(zip(leaves, values, strict=True)))
        if target is not None:
            table[values] = target
    found: dict[int, list[Pins]] = {}
    covered: set[tuple[int, ...]] = set()
    for values, target in table.items():
        if values in covered or len(found.get(target, ())) >= _SOLUTIONS:
            continue
        free = _free(values, target, candidates, table)
        boxes = [c if n in free else [values[n]] for n, c in enumerate(candidates)]
        covered.update(product(*boxes))
        found.setdefault(target, []).append(
            {leaf: v for n, (leaf, v) in enumerate(zip(leaves, values, strict=True)) if n not in free}
        )
    return {target: tuple(_mixed(pins)) for target, pins in found.items()}


def _mixed(several: list[Pins]) -> list[Pins]:
    """Those that pin different fields in turn, each kind in its order."""
    kinds: dict[frozenset[Leaf], int] = {}
    ranks = []
    for pins in several:
        kind = frozenset(pins)
        ranks.append(kinds.get(kind, 0))
        kinds[kind] = ranks[-1] + 1
    return [pins for _, pins in sorted(zip(ranks, several, strict=True), key=lambda pair: pair[0])]


def _free(
    values: tuple[int, ...], target: int, candidates: list[list[int]], table: dict[tuple[int, ...], int]
) -> set[int]:
    """The positions that may have any of their candidates, all at once, and still lead to `target`; last ones first."""
    free: set[int] = set()
    for n in reversed(range(len(values))):
        boxes = [c if m in free or m == n else [values[m]] for m, c in enumerate(candidates)]
        if all(table.get(combination) == target for combination in product(*boxes)):
            free.add(n)
    return free


# ---------------------------------------------------------------- classes


@lru_cache(maxsize=8192)
def route(program: ir.Program, number: int) -> Route:
    """How to make packets of a parse class."""
    path = program.parser.classes[number]
    whole, broken = (tuple(islice(_chains(program, path, 0, 0, b), _CHAINS)) for b in (False, True))
    return Route(number, path, whole, broken)


def _chains(
    program: ir.Program, path: tuple[int, ...], number: int, done: int, broken: bool
) -> Iterator[tuple[Step, ...]]:
    """Ways from a node on that extract the rest of `path` and then end; `broken`: at a header that is not there, which
    one without bytes cannot be."""
    node = program.parser.nodes[number]
    if node.instance is not None:
        if done == len(path):
            if broken and program.parser.instances[node.instance].header.fixed:
                yield ()
            return
        if node.instance != path[done]:
            return
        done += 1
    exits = outcomes(program, number)
    if done == len(path) and not broken and -1 in exits:
        yield (_step(node, number, -1, exits[-1]),)
    for target, pins in exits.items():
        if target >= 0:
            for chain in _chains(program, path, target, done, broken):
                yield (_step(node, number, target, pins), *chain)


def _step(node: ir.ParseNode, number: int, target: int, pins: tuple[Pins, ...]) -> Step:
    return Step(number, target, pins, node.instance is not None, _peeked(node))


def _peeked(node: ir.ParseNode) -> int:
    """Which of the bits behind a header a node's keys use."""
    bits = max((e.bits for e in walk(node.keys) if isinstance(e, ir.Peek)), default=0)
    found = 0
    for key in node.keys:
        for e in walk(key):
            match e:
                case ir.BitSlice(value=ir.Peek(bits=b), high=high, low=low):
                    found |= ((1 << (high - low + 1)) - 1) << (low + bits - b)
                case ir.Peek(bits=b) if e is key:
                    found |= ((1 << b) - 1) << (bits - b)
    return found or (1 << bits) - 1


@lru_cache(maxsize=64)
def selects(program: ir.Program) -> frozenset[Leaf]:
    """The fields that the parser selects on."""
    return frozenset(leaf for node in program.parser.nodes for leaf in leaves_of(program, node) if leaf[0] != PEEK)


@lru_cache(maxsize=64)
def matched(program: ir.Program) -> frozenset[tuple[int, int, int]]:
    """(instance, field, value): values on which some select goes a way of its own."""
    found = set()
    for node in program.parser.nodes:
        for k, key in enumerate(node.keys):
            if isinstance(key, ir.HeaderField):
                for case in node.cases:
                    for match in case.matches:
                        if (bounds := match.ranges[k]) is not None and bounds[0] == bounds[1]:
                            found.add((key.instance, key.field, bounds[0]))
    return frozenset(found)
