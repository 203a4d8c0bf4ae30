"""The cells of state that one handler touched, before and after it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from polysome.analysis.values_text import text
from polysome.engines.history import LENGTH, End, History, Operation
from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.kinds.state import token_bucket
from polysome.kinds.values import ABSENT


def touched(program: ir.Program, history: History, number: int, start: int) -> list[str]:
    """A line for each cell that the handler of packet `number` (from 0) used: `out[…]: absent -> …`."""
    writer = _Writer(program, history, number, start)
    done = [o for o in history.operations if o.stamp == 2 * number + 1]
    return list(dict.fromkeys(line for o in done for line in writer.lines(o)))


def ended(program: ir.Program, end: End, start: int) -> str:
    """`out[…] expired (idle), was …`."""
    decl = program.state[end.map]
    assert isinstance(decl, ir.MapDecl)
    was = "" if decl.value is None else f", was {text(end.value, decl.value, program, start)}"
    why = {"idle": "expired (idle)", "age": "expired (age)"}.get(t.END.members[end.why][0], t.END.members[end.why][0])
    return f"{end.map}[{text(end.key, decl.key, program, start)}] {why}{was}"


class _Writer:
    def __init__(self, program: ir.Program, history: History, number: int, start: int) -> None:
        self.program, self.history, self.start = program, history, start
        self.before, self.after = 2 * number, 2 * number + 1
        self._buckets: dict[Any, token_bucket.Bucket] = {}  # those taken from, as they are now

    def text(self, value: Any, type: t.Type) -> str:
        return text(value, type, self.program, self.start)

    def lines(self, o: Operation) -> Iterator[str]:
        decl = self.program.state[o.state]
        if o.op in ("peek", "put", "set") and _only_buckets(_type(decl)):
            return  # their uses say it better
        if o.op in ("bucket_has", "bucket_take"):
            yield self._bucket(o, decl)
            return
        match decl:
            case ir.MapDecl():
                yield self._map(o, decl)
            case ir.PoolDecl():
                yield self._cell(f"free values of {o.state}", LENGTH, o.args[0], t.U64, o.state)
            case ir.ArrayDecl(item=item):
                yield self._cell(f"{o.state}[{o.args[0]}]", "", o.args[0], item, o.state)
            case ir.ScalarDecl(type=type):
                yield self._cell(o.state, "", None, type, o.state)
            case ir.KindDecl(params=params):
                types = [*params, *[t.U64] * len(o.args)]
                args = ", ".join(self.text(a, of) for a, of in zip(o.args, types, strict=False))
                result = "" if o.result is None else f" is {self.text(o.result, _plain(o.result))}"
                yield f"{o.state}.{o.op}({args}){result}"

    def _map(self, o: Operation, decl: ir.MapDecl) -> str:
        if o.op in ("find", "peek_index", "has"):
            index, key = o.args
            declared = next(i for i in decl.indexes if i.name == index)
            value = t.Entry(decl.key, decl.value or t.BOOL)
            return self._cell(f"{index}[{self.text(key, declared.key.type)}]", index, key, value, o.state)
        name = f"{o.state}[{self.text(o.args[0], decl.key)}]"
        old, new = (self._entry(stamp, o.state, o.args[0], decl) for stamp in (self.before, self.after))
        return f"{name}: {_changed(old, new)}"

    def _entry(self, stamp: int, state: str, key: Any, decl: ir.MapDecl) -> str:
        version = self.history.read(stamp, state, "", key)
        if version is ABSENT:
            return "absent"
        return "present" if decl.value is None else self.text(version[1], decl.value)

    def _cell(self, name: str, part: str, key: Any, type: t.Type, state: str) -> str:
        found = [self.history.read(stamp, state, part, key) for stamp in (self.before, self.after)]
        initial = getattr(self.program.state[state], "initial", ABSENT)
        if part == LENGTH:
            initial = self.history.read(self.before, state, LENGTH, ...)
        old, new = (self.text(initial if value is ABSENT else value, type) for value in found)
        return f"{name}: {_changed(old, new)}"

    def _bucket(self, o: Operation, decl: ir.AnyState) -> str:
        """A use of a token bucket, and how much was in it."""
        key, path, amount, rate, burst, unit = o.args
        scale = token_bucket.SCALE[unit]
        of = t.BYTES if unit == "bytes" else t.U64
        rates = t.BITRATE if unit == "bytes" else t.PACKETRATE
        name = o.state + self._key(decl, key) + "".join(f".{m}" for m in _member_names(decl, path))
        place = (o.state, key, path)
        held = self._buckets.get(place) or self._held(o, decl, key, path)
        fill = token_bucket.fill(held, o.time, rate, burst, scale)
        if o.op == "bucket_take":
            self._buckets[place] = token_bucket.take(held, o.time, amount, rate, burst, scale)[1]
        said = "takes" if o.op == "bucket_take" else "asks for"
        outcome = ("it was there" if o.result else "too little") + f": {self.text(fill, of)} in it"
        limits = f"rate {self.text(rate, rates)}, burst {self.text(burst, of)}"
        return f"{name} {said} {self.text(amount, of)}, {outcome} ({limits})"

    def _key(self, decl: ir.AnyState, key: Any) -> str:
        if key is None:
            return ""
        return f"[{self.text(key, decl.key if isinstance(decl, ir.MapDecl) else t.U64)}]"

    def _held(self, o: Operation, decl: ir.AnyState, key: Any, path: tuple[int, ...]) -> token_bucket.Bucket:
        """The bucket as the handler found it."""
        version = self.history.read(self.before, o.state, "", key)
        if version is ABSENT:
            return token_bucket.FULL
        value: Any = version[1] if isinstance(decl, ir.MapDecl) else version
        for i in path:
            value = value[i]
        found: token_bucket.Bucket = value
        return found


def _changed(old: str, new: str) -> str:
    return f"{old} (unchanged)" if old == new else f"{old} -> {new}"


def _plain(value: Any) -> t.Type:
    return t.BOOL if isinstance(value, bool) else t.U64


def _type(decl: ir.AnyState) -> t.Type | None:
    """The type of what one cell holds."""
    match decl:
        case ir.MapDecl(value=value):
            return value
        case ir.ArrayDecl(item=item):
            return item
        case ir.ScalarDecl(type=type):
            return type
        case _:
            return None


def _only_buckets(type: t.Type | None) -> bool:
    if isinstance(type, t.Struct):
        return all(_only_buckets(f) for _, f in type.fields)
    return isinstance(type, t.Bucket)


def _member_names(decl: ir.AnyState, path: tuple[int, ...]) -> list[str]:
    type = _type(decl)
    names = []
    for i in path:
        name, type = type.fields[i] if isinstance(type, t.Struct) else (str(i), None)
        names.append(name)
    return names
