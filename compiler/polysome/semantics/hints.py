"""How to mend: what a user most likely meant, by what stands there and what could."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.syntax import ast
from polysome.syntax.diagnostics import did_you_mean, listed

# What newcomers write from habit.
FOREIGN = {
    "True": "Write `true`.",
    "False": "Write `false`.",
    "null": "A lookup that finds nothing says what then: `let v = m[k] else …;`.",
    "None": "A lookup that finds nothing says what then: `let v = m[k] else …;`.",
    "accept": "A packet is sent with `send PORT;`.",
    "hdr": "Headers are named without a prefix: `ipv4.ttl`.",
    "headers": "Headers are named without a prefix: `ipv4.ttl`.",
    "standard_metadata": "Write `in_port` for the port of arrival, and `send PORT;` to choose where it leaves.",
}
DECLARE = "Bind it with `let`, or declare it in the NF."


_EXAMPLES = {"duration": "30s", "bytes": "64KB", "bitrate": "10Mbps", "packetrate": "1Kpps"}
_ADDRESSES = {"ipv4": "10.0.0.1", "ipv6": "2001:db8::1", "mac": "02:00:00:00:00:01"}


def mend_type(have: t.Type, want: t.Type, ports: Iterable[str]) -> str:
    """What to write where a value of type `want` is needed."""
    match have, want:
        case t.Optional(), _:
            return "Take it apart with `let x = … else …;` or `if let x = …`."
        case t.Bits(a), t.Bits(b):
            return f"Write `as {want}`: it {'cuts' if a > b else 'extends with zeros'}."
        case t.Bits(1), t.Bool():
            return "Compare it: `… == 1`."
        case t.Literal(), t.Bool():
            return "Write `true` or `false`, or a comparison."
        case t.Bits() | t.Quantity(), t.Bool():
            return "Compare it with something, for example `… != 0`."
        case _, t.Bool():
            return "Write a test or a comparison, which is true or false."
        case t.Literal(), t.Quantity(name) if name in _EXAMPLES:
            return f"Give it a unit, for example `{_EXAMPLES[name]}`."
        case t.Bits(), t.Quantity() | t.Address():
            return f"If it is one, write `as {want}`."
        case t.Quantity(), t.Bits():
            return f"To use its bare number, write `as {want}`; a literal is written without unit: `64K`."
        case t.Address(), t.Bits():
            return f"To use its number, write `as {want}`."
        case t.Address("ipv4"), t.Address("ipv6"):
            return "Write `as ipv6`: it becomes ::ffff:a.b.c.d."
        case _, t.Address(name):
            return f"Addresses are written like `{_ADDRESSES[name]}`, without quotes."
        case _, t.Port():
            return f"Name a port: {', '.join(f'`{p}`' for p in ports)}." if ports else "Declare a `port`, and name it."
        case _, t.Enum(name, members, _):
            return f"Name a member, for example `{name}.{members[0][0]}`."
        case _, t.Struct(name, _):
            return f"Write `{name} {{ … }}` with all its members."
        case _:
            return f"Use a value of type {want}."


def a_value_of(decl: ast.StructDecl | ast.EnumDecl) -> str:
    if isinstance(decl, ast.EnumDecl):
        return f"Name a member: `{decl.name.text}.{decl.members[0][0].text}`."
    return f"A value of it is written `{decl.name.text} {{ {decl.fields[0].name.text}: …, … }}`."


def mend_header(text: str, known: Iterable[str]) -> str:
    """The header that was most likely meant, or some that there are."""
    known = list(known)
    longer = [h for h in known if h.endswith("." + text) or h.startswith(text + "[")]
    if longer:
        return f"Did you mean `{longer[0]}`?"
    roots = dict.fromkeys(h.split(".")[0].split("[")[0] for h in known)
    return did_you_mean(text, known) or f"There are: {listed(roots)}."


def mend_field(name: str, fields: Iterable[str]) -> str:
    """The field that was most likely meant, or those that there are."""
    names = sorted(fields)
    return did_you_mean(name, names) or (f"It has {listed(names)}." if names else "It has none.")


def mend_member(type: t.Type, name: str) -> str:
    match type:
        case t.Struct(_, fields):
            return mend_field(name, [n for n, _ in fields])
        case t.Tuple(items):
            return "Its members are " + ", ".join(f"`.{i}`" for i in range(len(items))) + "."
        case t.Entry():
            return "It has `.key` and `.value`."
        case t.Optional():
            return "Take the lookup apart first: `let x = … else …;` or `if let x = …`."
        case _:
            return f"To call a function of this name, declare it: `fn {name}(x: {type}) -> …`."


def mend_index(type: t.Type) -> str:
    match type:
        case t.Struct(_, fields):
            return f"Name a member: {', '.join(f'`.{n}`' for n, _ in fields)}."
        case t.Tuple():
            return "Members of a tuple are `.0`, `.1` and so on."
        case t.Bits() | t.Address():
            return "For a single bit i, write `x[i:i]`."
        case t.ByteString():
            return "Say where the bytes end: `x[0..4]`."
        case _:
            return "Remove the index."


# What methods of other languages are called -> how it is written here, by the kind of state.
_LOOKED_UP, _TESTED = "Look up with `let v = {name}[k] else …;`.", "Test with `k in {name}`."
_REMOVED, _LEN = "Write `remove {name}[k];`.", "Write `{name}.len`."
_READS: dict[tuple[str, ...], dict[str, str]] = {
    ("get", "lookup", "find", "at"): {
        "map": _LOOKED_UP,
        "set": _TESTED,
        "array": "Read `{name}[i]`.",
        "pool": "Write `let v = {name}.take() else …;`.",
    },
    ("contains", "contains_key", "has", "has_key", "exists", "count"): {"map": _TESTED, "set": _TESTED},
}
_WRITES: dict[tuple[str, ...], dict[str, str]] = {
    ("put", "set", "update", "store", "add", "insert", "append", "push"): {
        "map": "Write `{name}[k] = v;`.",
        "set": "Write `{name}.add(k);`.",
        "array": "Write `{name}[i] = v;`.",
    },
    ("delete", "remove", "erase", "discard", "pop", "del"): {"map": _REMOVED, "set": _REMOVED},
    ("release", "free", "put", "give_back"): {"pool": "A value goes back by itself when no entry holds it any more."},
    ("size", "length"): dict.fromkeys(("map", "set", "array", "pool"), _LEN),
}


def _habit(word: str, kind: str, among: Mapping[tuple[str, ...], Mapping[str, str]]) -> str:
    return next((kinds[kind] for words, kinds in among.items() if word in words and kind in kinds), "")


def mend_config(name: str, type: t.Type) -> str:
    """What to write instead of a change of config."""
    ends = "{ capacity 1K; idle 30s; when full drop; }"
    match type:
        case t.SetOf(item) | t.ListOf(item):
            decl = f"{name}: set<{item}> {ends}"
        case t.Table("map", key, value):
            decl = f"{name}: map<{key}, {value}> {ends}"
        case t.Table(kind):
            return f"Only the operator changes {kind} tables; what packets add can be in a `map` or `set` of `state`."
        case _:
            decl = f"{name}: {type};"
    return f"Only the operator changes config; what packets change is state: `state {{ {decl} }}`."


def mend_config_method(word: str, name: str, type: t.Type) -> str:
    """What to write instead of a method of config, which has none."""
    match type:
        case t.SetOf() | t.ListOf():
            habit = _habit(word, "set", _READS)
        case t.Table():
            habit = _habit(word, "map", _READS)
        case _:
            habit = ""
    return habit.format(name=name) or mend_config(name, type)


def mend_method(word: str, state: ir.AnyState, known: Iterable[str]) -> str:
    """What other languages call so, or what there is."""
    methods = sorted(known)
    close = did_you_mean(word, methods)
    if close.startswith("Did"):
        return close
    habit = _habit(word, _kind(state), {**_READS, **_WRITES})
    return habit.format(name=state.name) or f"It has {listed(methods)}."


def _kind(state: ir.AnyState) -> str:
    match state:
        case ir.MapDecl():
            return "set" if state.value is None else "map"
        case ir.ArrayDecl():
            return "array"
        case ir.PoolDecl():
            return "pool"
        case _:
            return ""


_TYPES = {
    "boolean": "bool",
    "int": "u32",
    "uint": "u32",
    "unsigned": "u32",
    "long": "u64",
    "size_t": "u64",
    "byte": "u8",
    "char": "u8",
    "timestamp": "time",
    "ip": "ipv4",
    "ip4Addr_t": "ipv4",
    "macAddr_t": "mac",
    "Duration": "duration",
}


def mend_type_name(word: str, known: Iterable[str]) -> str:
    """What other languages call so, or the type that looks like it."""
    sized = re.fullmatch(r"[ui]?(?:int|bit|nt)?_?(\d+)(?:_t)?", word)
    if sized and 1 <= int(sized[1]) <= 128:
        width = int(sized[1])
        return f"Did you mean `{f'u{width}' if width in (8, 16, 32, 64) else f'bit<{width}>'}`?"
    if word in _TYPES:
        return f"Did you mean `{_TYPES[word]}`?"
    return did_you_mean(word, known) or "Declare it with `struct` or `enum`, or use `bit<N>`."


def mend_operation(op: str, types: tuple[t.Type, ...]) -> str:
    """What to write where an operator does not fit its operands."""
    a, b = types[0], types[-1]
    match sorted((a, b), key=lambda i: type(i).__name__):
        case [t.Bits(v), t.Bits(w)] if v != w:
            return f"Widen the narrower one: `as {t.Bits(max(v, w))}`."
        case [t.Literal(), t.Quantity(name)] if name in _EXAMPLES:
            return f"Give the number a unit, for example `{_EXAMPLES[name]}`."
        case [t.Bits(), t.Quantity(name)]:
            return f"If the number counts {'nanoseconds' if name in ('time', 'duration') else name}, write `as {name}`."
        case [t.Quantity(), t.Quantity()] if a != b:
            return f"{str(a).capitalize()} and {b} measure different things; to use the bare numbers, write `as u64`."
        case [t.Address(), t.Address()] if a != b:
            return "An IPv4 address becomes IPv6 with `as ipv6`."
        case [t.Bits(), t.Bool()] | [t.Bool(), t.Literal()]:
            return "Compare the number: `x == 1` is true or false."
        case [t.Address(), t.Bits() | t.Literal()]:
            return "To calculate with an address, convert it: `a as u32`, `a as bit<128>`."
        case _ if any(isinstance(i, t.Optional) for i in types):
            return "Take the lookup apart first: `let x = … else …;` or `if let x = …`."
        case [t.Port(), t.Port()]:
            return "A set of ports is written `{a, b}`."
        case _ if op == "in":
            return "After `in` stands a set, a list, a map, a prefix, or `{a, b}`."
        case _ if isinstance(a, (t.Struct, t.Tuple)) or isinstance(b, (t.Struct, t.Tuple)):
            return "Take the members of which you need it."
        case _:
            return f"Find two values of one type for which `{op}` has a meaning."


def mend_cast(have: t.Type, want: t.Type) -> str:
    """How else to get from one type to another."""
    match have, want:
        case t.Struct() | t.Tuple(), t.Bits():
            return "Take a member, or hash it: `hash(x)` is a u64."
        case (t.Quantity() | t.Address(), t.Quantity() | t.Address()):
            return f"Go over an integer, if that is meant: `as u64 as {want}`."
        case t.Bits() | t.Literal(), t.Bool():
            return "Compare it: `x != 0`."
        case t.Port(), _:
            return "A port is no number; compare it with the names of ports."
        case _:
            return "Work the value out from its parts."


def mend_slice(type: t.Type, low: int, high: int) -> str:
    """For a slice of bytes that is none."""
    if not isinstance(type, t.ByteString):
        return "Integers and addresses are sliced by bits: `x[high:low]`."
    return f"Write `[{high}..{low}]`." if high < low else f"For one byte, write `[{low}..{low + 1}]`."


def mend_bits(width: int | None, high: int, low: int) -> str:
    """For a slice of bits that is none; `width` of what is sliced, if it has bits."""
    if width is None:
        return "Only integers and addresses have bits."
    if low > high and low < width:
        return f"The higher bit stands first: `[{low}:{high}]`."
    return f"Bits go from {width - 1} to 0."
