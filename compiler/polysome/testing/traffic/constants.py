"""What a program compares things with: where its behaviour changes, and so where traffic should be.

For each header field: constants and config items it is compared with or looked up in, and whether the program wants
that to hold (the other way leads straight to a drop). For each type the constants that meet no field directly. And all
durations, sizes and rates.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import lru_cache
from typing import Any

from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.ir.fold import constant
from polysome.ir.operators import COMPARISONS
from polysome.ir.value_places import members
from polysome.ir.walk import walk
from polysome.kinds.values import Prefix

FieldKey = tuple[str, int]  # header type, number of the field; of a slice of the payload _PAYLOAD, low << 16 | high
_PAYLOAD = ""
_WHOLE = -1
_DEEPEST = 12  # definitions followed to find where a value comes from
_WAYS = 64  # to make one condition true, at most


class Wish(IntEnum):
    """Does the program go on if it holds?"""

    WANTED = 0
    OPEN = 1
    UNWANTED = 2


@dataclass(frozen=True)
class ConfigLink:
    """A field meets config item `name`: its keys (`keys`; of a structured key the component `part`) or any value."""

    name: str
    keys: bool
    part: int | None = None


@dataclass
class Pool:
    """What a field is compared with, by wish; a value is a number or a Prefix."""

    values: tuple[list[Any], list[Any], list[Any]] = field(default_factory=lambda: ([], [], []))
    links: tuple[list[ConfigLink], list[ConfigLink], list[ConfigLink]] = field(default_factory=lambda: ([], [], []))

    def add(self, wish: Wish, value: Any) -> None:
        target: list[Any] = (self.links if isinstance(value, ConfigLink) else self.values)[wish]
        if value not in target:
            target.append(value)


@dataclass(frozen=True)
class Bits:
    """`width` bits from bit `low` on (0 is the least) that are compared with `value`."""

    low: int
    width: int
    value: int


Slice = tuple[int, int]  # of the payload: from, to


@dataclass(frozen=True)
class Constants:
    """`types`: constants by type; `durations` in ns; `sizes` in bytes; `bitrates`, `packetrates` per second."""

    fields: dict[FieldKey, Pool]
    types: dict[t.Type, list[Any]]
    durations: tuple[int, ...]
    sizes: tuple[int, ...]
    bitrates: tuple[int, ...]
    packetrates: tuple[int, ...]
    lengths: tuple[int, ...]  # of payloads, at which what handlers read of them begins or ends
    looked_for: dict[Slice, list[tuple[Bits, ...]]]  # by slice of the payload: what conditions want there together

    @property
    def rates(self) -> bool:
        """Is there a rate in it, which something is held to?"""
        return bool(self.bitrates or self.packetrates)


@lru_cache(maxsize=64)
def constants(program: ir.Program) -> Constants:
    """Everything of the program, once."""
    finder = _Finder(program)
    finder.everything()
    quantities = _quantities(program)
    reads = [n for n in walk(_code(program)) if isinstance(n, ir.PayloadBytes)]
    lengths = {end for n in reads for end in (n.low, n.high) if end is not None}
    return Constants(
        finder.fields,
        finder.types,
        quantities["duration"],
        quantities["bytes"],
        quantities["bitrate"],
        quantities["packetrate"],
        tuple(sorted(lengths)),
        finder.looked_for,
    )


def _code(program: ir.Program) -> tuple[Any, ...]:
    """All that runs."""
    handlers = (program.packet_handlers, tuple(program.end_handlers.values()), program.timers)
    return (*handlers, program.fns, program.state, program.schedule, program.parser.values)


def _quantities(program: ir.Program) -> dict[str, tuple[int, ...]]:
    found: dict[str, dict[int, None]] = {n: {} for n in ("duration", "bytes", "bitrate", "packetrate", "time")}
    for root in (*_code(program), *_buckets(program), program.properties):
        for node in walk(root):
            if isinstance(node, ir.Const) and isinstance(node.type, t.Quantity):
                found[node.type.name][int(node.value)] = None
    for decl in program.state.values():
        if isinstance(decl, ir.MapDecl):
            for timeout in (decl.idle, decl.age):
                if timeout is not None and timeout.maximum is not None:
                    found["duration"][timeout.maximum] = None
    for timer in program.timers:
        found["duration"][timer.period] = None
    units = {"idle": "duration", "window": "duration", "buffer": "bytes", "queue": "bytes", "serve": "bitrate"}
    for name, value in program.schedule.options.items():
        if name in units and isinstance(value, int):
            found[units[name]][value] = None
    return {name: tuple(v for v in sorted(values) if 0 < v < 1 << 62) for name, values in found.items()}


def _buckets(program: ir.Program) -> Iterator[Any]:
    """Rates and bursts in the types of state."""
    for decl in program.state.values():
        match decl:
            case ir.MapDecl(value=type) if type is not None:
                yield from _of_type(type)
            case ir.ArrayDecl(item=type) | ir.ScalarDecl(type=type):
                yield from _of_type(type)


def _of_type(type: t.Type) -> Iterator[Any]:
    match type:
        case t.Bucket():
            yield (type.rate, type.burst)
        case t.Struct(_, fields):
            for _, member in fields:
                yield from _of_type(member)
        case t.Tuple(items):
            for item in items:
                yield from _of_type(item)


@dataclass(frozen=True)
class _Origin:
    """Where a value comes from: fields, with the first bit of the slice that it is (_WHOLE: all), and config items."""

    fields: frozenset[tuple[FieldKey, int]] = frozenset()
    configs: frozenset[str] = frozenset()

    def __or__(self, other: _Origin) -> _Origin:
        return _Origin(self.fields | other.fields, self.configs | other.configs)


class _Finder:
    """Collects comparisons."""

    def __init__(self, program: ir.Program) -> None:
        self.program = program
        self.fields: dict[FieldKey, Pool] = {}
        self.types: dict[t.Type, list[Any]] = {}
        self.looked_for: dict[Slice, list[tuple[Bits, ...]]] = {}
        self.definitions: dict[int, list[Any]] = {}
        for node in walk(_code(program)):
            match node:
                case ir.SetLocal(slot=slot, value=value) | ir.LetIn(slot=slot, value=value):
                    self.definitions.setdefault(slot, []).append(value)
                case ir.Lookup(kind="table", source=source, slot=slot):
                    self.definitions.setdefault(slot, []).append(source)
                case ir.FnCall(fn=fn, args=args):
                    for slot, argument in zip(program.fns[fn].slots, args, strict=True):
                        self.definitions.setdefault(slot, []).append(argument)

    def everything(self) -> None:
        for node in walk(_code(self.program)):
            match node:
                case ir.If(condition=condition, then=then, orelse=orelse):
                    self._condition(condition, _wish(then, orelse))
                case ir.Lookup(kind="table", source=source, key=key, absent=absent) if key is not None:
                    self._key(source, key, Wish.WANTED if _drops(absent) else Wish.OPEN)
                case ir.Binary(op=op) if op in COMPARISONS:
                    self._condition(node, Wish.OPEN)
                    self._look_for(node)
                case ir.Binary(op="and"):
                    self._look_for(node)
                case ir.InSet() | ir.InPrefix():
                    self._condition(node, Wish.OPEN)
                    self._look_for(node)
        for place, several in self.looked_for.items():  # a part of what is looked for comes by itself
            self.looked_for[place] = [some for some in several if not any(set(some) < set(more) for more in several)]
        for pool in self.fields.values():  # what was found with a wish counts with that alone
            for values in (pool.values, pool.links):
                sure: list[Any] = [*values[Wish.WANTED], *values[Wish.UNWANTED]]
                values[Wish.OPEN][:] = [v for v in values[Wish.OPEN] if v not in sure]

    def _condition(self, e: ir.Expr, wish: Wish, depth: int = 0) -> None:
        """`wish`: does the program want `e` to be true?"""
        match e:
            case ir.Unary(op="not", operand=inner):
                self._condition(inner, _against(wish), depth)
            case ir.Binary(op="and" | "or", left=left, right=right):
                self._condition(left, wish, depth)
                self._condition(right, wish, depth)
            case ir.FnCall(fn=fn) if depth < _DEEPEST:
                self._condition(self.program.fns[fn].body, wish, depth + 1)
            case ir.Binary(op=op, left=left, right=right) if op in COMPARISONS:
                meant = wish if op == "==" else _against(wish) if op == "!=" else Wish.OPEN
                self._meet(left, right, meant)
                self._meet(right, left, meant)
            case ir.InSet(item=item, set=several):
                self._meet(item, several, wish)
                for name in self._origin(several).configs if members(item.type) else ():
                    self._key(name, item, wish)
            case ir.InPrefix(address=address, prefix=prefix):
                self._meet(address, prefix, wish)

    def _meet(self, e: ir.Expr, other: ir.Expr, wish: Wish) -> None:
        """`e` is compared with `other`."""
        members = self._members(other)
        origin = self._origin(e)
        configs = self._origin(other).configs
        for key, shift in origin.fields:
            if key[0] == _PAYLOAD:
                continue
            for member in members:
                self._compared(key, wish, member, shift)
            for name in configs:
                self._field(key, wish, ConfigLink(name, isinstance(self.program.config[name].type, t.Table)))
        base, shift = _base(e)
        for member in members:
            kept = self.types.setdefault(base.type, [])
            whole = member if isinstance(member, Prefix) else _unshifted(member, shift)
            if whole is not None and whole not in kept:
                kept.append(whole)

    def _look_for(self, e: ir.Expr) -> None:
        """What the payload has to have in one place for `e` to be true."""
        for wanted in self._alternatives(e):
            for key in dict.fromkeys(key for key, _ in wanted):
                together = tuple(bits for of, bits in wanted if of == key)
                kept = self.looked_for.setdefault(key, [])
                if together not in kept:
                    kept.append(together)

    def _alternatives(self, e: ir.Expr, depth: int = 0) -> list[tuple[tuple[Slice, Bits], ...]]:
        """Ways for the payload to make `e` true; what it has no part in is taken for true."""
        match e:
            case ir.Binary(op="and", left=left, right=right):
                ways = [a + b for a in self._alternatives(left, depth) for b in self._alternatives(right, depth)]
                return ways[:_WAYS]
            case ir.Binary(op="or", left=left, right=right):
                return (self._alternatives(left, depth) + self._alternatives(right, depth))[:_WAYS]
            case ir.Binary(op=op, left=left, right=right) if op in COMPARISONS:
                return (self._asked(left, right) + self._asked(right, left)) or [()]
            case ir.InSet(item=item, set=several):
                return self._asked(item, several) or [()]
            case ir.FnCall(fn=fn) if depth < _DEEPEST:
                return self._alternatives(self.program.fns[fn].body, depth + 1)
            case _:
                return [()]

    def _asked(self, e: ir.Expr, other: ir.Expr) -> list[tuple[tuple[Slice, Bits], ...]]:
        """`e`, if it is part of the payload, is compared with `other`."""
        members = [m for m in self._members(other) if isinstance(m, int)]
        slices = [((key[1] >> 16, key[1] & 0xFFFF), s) for key, s in self._origin(e).fields if key[0] == _PAYLOAD]
        width = t.width(e.type) or 0
        return [((of, Bits(max(shift, 0), width, member)),) for of, shift in slices for member in members]

    def _members(self, e: ir.Expr, depth: int = 0) -> list[Any]:
        """The constants that an expression may be, those of a set each."""
        value = constant(e, self.program.fns)
        if value is not None:
            return list(value) if isinstance(value, frozenset) else [value]
        if isinstance(e, ir.Local) and depth < _DEEPEST:
            several = [d for d in self.definitions.get(e.slot, ()) if isinstance(d, ir.Expr)]
            return [v for one in several for v in self._members(one, depth + 1)]
        return []

    def _compared(self, key: FieldKey, wish: Wish, member: Any, shift: int) -> None:
        """A slice that is wanted to have some value says little; that it has another one ends things."""
        if isinstance(member, Prefix):
            self._field(key, wish, member)
        elif shift != _WHOLE and wish is Wish.WANTED:
            self._field(key, Wish.UNWANTED, _unshifted(int(member) ^ 1, shift))
        else:
            self._field(key, wish, _unshifted(member, shift))

    def _key(self, source: str, key: ir.Expr, wish: Wish) -> None:
        """A lookup in a config table."""
        for wanted, _ in self._origin(key).fields:
            self._field(wanted, wish, ConfigLink(source, True))
        for part, _ in enumerate(members(key.type)):
            for wanted, _ in self._member(key, part, 0).fields:
                self._field(wanted, wish, ConfigLink(source, True, part))

    def _field(self, key: FieldKey, wish: Wish, value: Any) -> None:
        if value is not None:
            self.fields.setdefault(key, Pool()).add(wish, value)

    # ------------------------------------------------------------ where a value comes from

    def _origin(self, e: Any, depth: int = 0) -> _Origin:
        if depth > _DEEPEST:
            return _Origin()
        match e:
            case str():
                return _Origin(configs=frozenset({e}))
            case ir.HeaderField(instance=i, field=f):
                return _Origin(fields=frozenset({((self.program.parser.instances[i].header.name, f), _WHOLE)}))
            case ir.PayloadBytes(low=low, high=high) if high is not None:
                return _Origin(fields=frozenset({((_PAYLOAD, low << 16 | high), _WHOLE)}))
            case ir.Config(name=name):
                return _Origin(configs=frozenset({name}))
            case ir.ListIndex(table=table):
                return self._origin(table, depth + 1)
            case ir.Local(slot=slot):
                return self._joined(self.definitions.get(slot, ()), depth)
            case ir.BitSlice(value=value, low=low):
                inner = self._origin(value, depth + 1)
                return _Origin(frozenset((key, max(s, 0) + low) for key, s in inner.fields), inner.configs)
            case ir.Cast(value=value) | ir.Deref(value=value):
                return self._origin(value, depth + 1)
            case ir.Choose(then=then, orelse=orelse):
                return self._joined((then, orelse), depth)
            case ir.LetIn(body=body):
                return self._origin(body, depth + 1)
            case ir.FnCall(fn=fn):
                return self._origin(self.program.fns[fn].body, depth + 1)
            case ir.PacketValue(name=name):
                return self._origin(self.program.parser.values[name].value, depth + 1)
            case ir.Get(value=value, index=index):
                return self._member(value, index, depth + 1)
            case _:
                return _Origin()

    def _joined(self, several: Any, depth: int) -> _Origin:
        found = _Origin()
        for e in several:
            found |= self._origin(e, depth + 1)
        return found

    def _member(self, e: Any, index: int, depth: int) -> _Origin:
        """Where member `index` of a struct or tuple comes from."""
        if depth > _DEEPEST:
            return _Origin()
        found = _Origin()
        several: Sequence[Any]
        match e:
            case ir.Make(items=items):
                return self._origin(items[index], depth + 1)
            case ir.Local(slot=slot):
                several = self.definitions.get(slot, ())
            case ir.Choose(then=then, orelse=orelse):
                several = (then, orelse)
            case ir.FnCall(fn=fn):
                several = (self.program.fns[fn].body,)
            case ir.PacketValue(name=name):
                several = (self.program.parser.values[name].value,)
            case ir.LetIn(body=body):
                several = (body,)
            case ir.Deref(value=value):
                several = (value,)
            case _:
                return self._origin(e, depth + 1)
        for one in several:
            found |= self._member(one, index, depth + 1)
        return found


def _unshifted(value: Any, shift: int) -> int | None:
    """A number as a field holds it whose slice from bit `shift` on is `value`."""
    return int(value) << max(shift, 0) if isinstance(value, int) else None


def _base(e: ir.Expr) -> tuple[ir.Expr, int]:
    """What a slice or a conversion is taken of, and from which bit on."""
    shift = 0
    while isinstance(e, (ir.BitSlice, ir.Cast)):
        shift += e.low if isinstance(e, ir.BitSlice) else 0
        e = e.value
    return e, shift


def _drops(body: ir.Body) -> bool:
    return bool(body) and isinstance(body[-1], ir.Drop)


def _wish(then: ir.Body, orelse: ir.Body) -> Wish:
    if _drops(then) == _drops(orelse):
        return Wish.OPEN
    return Wish.UNWANTED if _drops(then) else Wish.WANTED


def _against(wish: Wish) -> Wish:
    return Wish(2 - wish)
