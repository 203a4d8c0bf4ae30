"""Values as the language writes them: addresses, durations, members of enums, structs with names."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from polysome.analysis.words import exact_duration
from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.ir.value_places import behind
from polysome.kinds.state import TABLE_KINDS, token_bucket
from polysome.kinds.values import ABSENT, Prefix, Row, Taken

MOST_MEMBERS = 8  # of a list, set or table; more would hide the rest of the line
MOST_BYTES = 16
_SCALES = {
    "bytes": ((10**9, "GB"), (2**30, "GiB"), (10**6, "MB"), (2**20, "MiB"), (10**3, "KB"), (2**10, "KiB"), (1, "B")),
    "bitrate": ((10**9, "Gbps"), (10**6, "Mbps"), (10**3, "Kbps"), (1, "bps")),
    "packetrate": ((10**6, "Mpps"), (10**3, "Kpps"), (1, "pps")),
}


def text(value: Any, type: t.Type, program: ir.Program, start: int | None = None) -> str:
    """A value of `type` as a spec would write it; long tables and byte strings are cut.

    Times are shown from `start` (ns since 1970), as `start + 1.5s`, else as a number of ns. What is absent is `absent`;
    a value that is taken from a pool or stands in a config row is that value.
    """
    if value is ABSENT or (value is None and not isinstance(type, t.Wrong)):
        return "absent"
    match value:
        case Row() | Taken():
            return text(value.value, _inner(type), program, start)
        case Fraction():
            return str(value) if value.denominator == 1 else f"{float(value):.6g}"
    match type:
        case t.Ref(_, inner) | t.FromPool(_, inner) | t.Optional(inner):
            return text(value, inner, program, start)
        case t.Struct(name, fields):
            pairs = zip(fields, value, strict=True)
            return f"{name} {{ {', '.join(f'{n}: {text(v, f, program, start)}' for (n, f), v in pairs)} }}"
        case t.Tuple(items):
            members = (text(v, i, program, start) for v, i in zip(value, items, strict=True))
            return f"({', '.join(members)})"
        case t.Entry(key, inner):
            return f"{text(value[0], key, program, start)} -> {text(value[1], inner, program, start)}"
        case t.ListOf(item):
            return _listed("[", [text(v, item, program, start) for v in value[: MOST_MEMBERS + 1]], len(value), "]")
        case t.SetOf(item):
            return _listed("{", [text(v, item, program, start) for v in sorted(value)], len(value), "}")
        case t.Table():
            return _table(value, type, program, start)
        case _:
            return _scalar(value, type, program, start)


def duration(ns: int) -> str:
    """`30s`, `124min`; else with a fraction in the largest unit that is not above it: `1.5ms`, `-2.000000001s`."""
    if ns < 0:
        return f"-{duration(-ns)}"
    for scale, unit in ((10**9, "s"), (10**6, "ms"), (10**3, "us")):
        if ns % (10**9) and ns >= scale:
            return _decimal(ns, scale, unit)
    return exact_duration(ns)


def moment(ns: int, start: int | None) -> str:
    """A time, counted from `start`: `start + 1.5s`; without it, `1500000000ns` since 1970."""
    if start is None:
        return f"{ns}ns"
    return "start" if ns == start else f"start {'+' if ns > start else '-'} {duration(abs(ns - start))}"


def address(value: int, width: int) -> str:
    """An address of 32 (IPv4), 48 (MAC) or 128 bits (IPv6; IPv4-mapped ones with dots)."""
    if width == 48:
        return ":".join(f"{byte:02x}" for byte in value.to_bytes(6, "big"))
    if width == 32:
        return str(ipaddress.IPv4Address(value))
    if value >> 32 == 0xFFFF:
        return f"::ffff:{ipaddress.IPv4Address(value & 0xFFFFFFFF)}"
    return str(ipaddress.IPv6Address(value))


def _scalar(value: Any, type: t.Type, program: ir.Program, start: int | None) -> str:
    match type:
        case t.Bool():
            return "true" if value else "false"
        case t.Address(_, width):
            return address(value, width)
        case t.Quantity("time"):
            return moment(value, start)
        case t.Quantity("duration"):
            return duration(value)
        case t.Quantity(name) if name in _SCALES:
            scales = _SCALES[name] if value else _SCALES[name][-1:]
            return next(f"{value // scale}{unit}" for scale, unit in scales if value % scale == 0)
        case t.Port():
            return program.ports[value] if 0 <= value < len(program.ports) else str(value)
        case t.Prefix():
            return prefix(value)
        case t.Enum(name, members):
            return next((f"{name}.{member}" for member, number in members if number == value), str(int(value)))
        case t.Bucket(unit):
            return _bucket(value, unit, start)
        case t.Str():
            return f'"{value}"'
        case _:
            return _hex(value) if isinstance(value, bytes) else _plain(value)


def prefix(value: Prefix) -> str:
    """`10.0.0.0/8`."""
    return f"{address(value.value, value.bits)}/{value.length}"


def _plain(value: Any) -> str:
    """A value whose type says nothing."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and value >> 32:
        return f"0x{value:x}"
    return str(value)


def _decimal(value: int, scale: int, unit: str) -> str:
    whole, rest = divmod(value, scale)
    digits = str(rest).rjust(len(str(scale)) - 1, "0").rstrip("0")
    return f"{whole}.{digits}{unit}" if digits else f"{whole}{unit}"


def _bucket(value: token_bucket.Bucket, unit: str, start: int | None) -> str:
    """What was in it when something was last taken; rounded down."""
    if value == token_bucket.FULL:
        return "full bucket"
    tokens, last = value
    if unit not in token_bucket.SCALE:  # each use says by its rate what the bucket counts
        return f"bucket last used at {moment(last, start)}"
    return f"bucket with {tokens // token_bucket.SCALE[unit]} {unit} left at {moment(last, start)}"


def _hex(value: bytes) -> str:
    shown = value[:MOST_BYTES].hex(" ")
    return f"{len(value)} bytes" + (f" {shown}" if value else "") + (" …" if len(value) > MOST_BYTES else "")


def _listed(opening: str, members: list[str], count: int, closing: str) -> str:
    more = [f"… {count - MOST_MEMBERS} more"] if count > MOST_MEMBERS else []
    return opening + ", ".join([*members[:MOST_MEMBERS], *more]) + closing


def _table(value: Any, type: t.Table, program: ir.Program, start: int | None) -> str:
    """In the form of `config.load` (and of a mapping in `Tables.current`); other objects by what they are."""
    if not isinstance(value, (Mapping, tuple)):
        return f"{type.kind} table"

    def show(part: Any, of: t.Type) -> str:
        return text(part, of, program, start)

    kind = TABLE_KINDS[type.kind]
    rows = [kind.text(row, type, show) for row in kind.rows(value)]
    return _listed("{", rows, len(rows), "}")


def _inner(type: t.Type) -> t.Type:
    return behind(type) if isinstance(type, (t.Ref, t.FromPool)) else type
