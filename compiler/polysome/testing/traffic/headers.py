"""What a header instance of the parser is like to build: its rules, its sizes, its pairs of ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

from polysome.analysis.relevance import fields_of
from polysome.ir import program as ir
from polysome.ir.fold import NotConstant, Undefined, evaluate
from polysome.ir.walk import walk
from polysome.testing.traffic.invert import edges

_LONGEST = 72  # bytes of options tried
_COMBINATIONS = 4096  # of field values tried to make a header well formed
_ENDS = (("src", "dst"), ("source", "destination"), ("sport", "dport"), ("sender", "target"), ("from", "to"))


@dataclass(frozen=True, eq=False)
class Shape:
    """One header instance.

    `base`: values with which it is well formed. `rests`: sizes of its `rest` that it can have, the least first, if a
    length field says so; None if other fields do. `pairs`: fields that change places between the two directions.
    `rules`: fields that size, validity and end depend on.
    """

    instance: ir.Instance
    number: int
    base: tuple[int, ...]
    rests: tuple[int, ...] | None
    pairs: tuple[tuple[int, int], ...]
    rules: frozenset[int]
    lengths: tuple[int, ...]
    checksums: tuple[int, ...]
    next: int | None
    rest: int | None

    @property
    def header(self) -> ir.Header:
        return self.instance.header


@lru_cache(maxsize=64)
def shapes(program: ir.Program) -> tuple[Shape, ...]:
    """By instance number."""
    return tuple(_shape(program, number) for number in range(len(program.parser.instances)))


def _shape(program: ir.Program, number: int) -> Shape:
    instance = program.parser.instances[number]
    header = instance.header
    lengths = tuple(i for i, f in enumerate(header.fields) if f.length is not None)
    rules = frozenset(
        f
        for rule in (header.size, header.valid, header.end)
        if rule is not None
        for i, f in fields_of(rule, program.parser)
        if i == number
    )
    rest = next((i for i, f in enumerate(header.fields) if f.rest), None)
    base, rests = _well_formed(program, number, lengths, rules, rest)
    return Shape(
        instance,
        number,
        base,
        rests,
        tuple(_pairs(header)),
        rules,
        lengths,
        tuple(i for i, f in enumerate(header.fields) if f.checksum is not None),
        next((i for i, f in enumerate(header.fields) if f.next is not None), None),
        rest,
    )


def _pairs(header: ir.Header) -> list[tuple[int, int]]:
    """Fields of one type whose names say that they are the two ends of something."""
    found = []
    for i, one in enumerate(header.fields):
        for here, there in _ENDS:
            if here in one.name and not one.read_only:
                j = header.index(one.name.replace(here, there))
                if j is not None and j != i and header.fields[j].type == one.type:
                    found.append((i, j))
                    break
    return found


# ---------------------------------------------------------------- rules


def rule(program: ir.Program, e: ir.Expr, values: Sequence[int], size: int, after: int) -> int:
    """The value of a header's rule: `size` bytes of this header, `after` behind it. NotConstant, Undefined."""

    def read(leaf: ir.Expr) -> int:
        match leaf:
            case ir.HeaderField(field=f):
                return values[f]
            case ir.HeaderBytes(rest=rest):
                return after if rest else size
            case _:
                raise NotConstant(type(leaf).__name__)

    return int(evaluate(e, read, program.fns))


def with_lengths(
    program: ir.Program, header: ir.Header, lengths: tuple[int, ...], values: list[int], size: int, after: int
) -> bool:
    """Sets the length fields for a header of `size` bytes with `after` behind it; False if one does not fit."""
    fits = True
    for i in lengths:
        field = header.fields[i]
        assert field.length is not None
        value = rule(program, field.length, values, size, after)
        fits = fits and value < 1 << field.width
        values[i] = value & ((1 << field.width) - 1)
    return fits


def size_of(program: ir.Program, header: ir.Header, values: Sequence[int]) -> int:
    """The header's size in bytes as its fields say."""
    if header.size is None:
        return header.fixed
    try:
        return rule(program, header.size, values, header.fixed, 0)
    except (NotConstant, Undefined):
        return header.fixed


def _well_formed(
    program: ir.Program, number: int, lengths: tuple[int, ...], rules: frozenset[int], rest: int | None
) -> tuple[tuple[int, ...], tuple[int, ...] | None]:
    """Field values that make a valid header, and the sizes of its `rest` that go with them."""
    header = program.parser.instances[number].header
    plain = sorted(f for f in rules if f not in lengths)
    default = [_first(f) for f in header.fields]
    candidates = [candidates_of(program, header, f, default[f]) for f in plain]
    for tried, combination in enumerate(product(*candidates)):
        if tried >= _COMBINATIONS:
            break
        values = list(default)
        for f, value in zip(plain, combination, strict=True):
            values[f] = value
        sized = header.size is not None and any(f in _used(header.size, header) for f in lengths)
        sizes = range(_LONGEST) if sized and rest is not None else (0,) if sized else None
        if sizes is None:
            size = size_of(program, header, values)
            if size >= header.fixed and valid(program, header, lengths, values, size):
                return _without(values, lengths), None if rest is not None else (0,)
            continue
        fitting = tuple(n for n in sizes if valid(program, header, lengths, values, header.fixed + n))
        if fitting:
            return _without(values, lengths), fitting
    return tuple(default), (0,)


def _first(field: ir.Field) -> int:
    """The simplest value: the default; of what says which header follows, a number that means none of those known."""
    if field.next is None:
        return field.default or 0
    numbers = {number for _, number in field.next.members}
    return next((n for n in range((1 << field.width) - 3, 0, -1) if n not in numbers), 0)


def _without(values: list[int], lengths: tuple[int, ...]) -> tuple[int, ...]:
    """The values with lengths not yet computed."""
    return tuple(0 if f in lengths else value for f, value in enumerate(values))


def _used(e: ir.Expr, header: ir.Header) -> set[int]:
    return {node.field for node in walk(e) if isinstance(node, ir.HeaderField)}


def valid(
    program: ir.Program, header: ir.Header, lengths: tuple[int, ...], values: list[int], size: int, after: int = 64
) -> bool:
    """Would a parser take this header, of `size` bytes with `after` behind it? Sets the length fields."""
    try:
        if not with_lengths(program, header, lengths, values, size, after):
            return False
        if size_of(program, header, values) != size:
            return False
        if header.end is not None and rule(program, header.end, values, size, after) < size:
            return False
        return header.valid is None or bool(rule(program, header.valid, values, size, after))
    except (NotConstant, Undefined):
        return False


def candidates_of(program: ir.Program, header: ir.Header, f: int, default: int) -> list[int]:
    """Values of a field that a rule reads: the default, the rules' constants and their neighbours, the extremes."""
    most = (1 << header.fields[f].width) - 1
    found = dict.fromkeys([default])
    rules = (header.valid, header.size, header.end)
    for leaf, value in edges(rules, program.fns):
        if isinstance(leaf, ir.HeaderField) and leaf.field == f and value <= most:
            found[value] = None
    for e in rules:
        for node in walk(e):
            if isinstance(node, ir.Const) and isinstance(node.value, int):
                found |= dict.fromkeys(v for v in (node.value, node.value + 1, node.value - 1) if 0 <= v <= most)
    return list(found | dict.fromkeys([0, 1 & most, most]))
