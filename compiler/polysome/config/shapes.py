"""What a value of a type looks like in a configuration file: which names a row has, and examples for messages."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from polysome.config.items import Style
from polysome.ir import types as t
from polysome.kinds.state import TABLE_KINDS, brought

_QUANTITIES = {
    "time": "2026-01-31T12:00:00Z",
    "duration": "30s",
    "bytes": "64KB",
    "bitrate": "10Mbps",
    "packetrate": "100pps",
}
_ADDRESSES = {"ipv4": "10.0.0.1", "ipv6": "2001:db8::1", "mac": "02:00:00:00:00:01"}


def fields_of(type: t.Type) -> tuple[str, ...]:
    """A struct's names; none for other types."""
    return tuple(name for name, _ in type.fields) if isinstance(type, t.Struct) else ()


def inlined(type: t.Type, taken: Sequence[str]) -> bool:
    """May a row list the members of its value (or key) themselves? Only a struct's, if no name means two things."""
    return isinstance(type, t.Struct) and not set(fields_of(type)) & {*taken, "value"}


def unusable(type: t.Type, outermost: bool = True) -> t.Type | None:
    """The part of a config item's type that no file can give: tables inside others, references, buckets."""
    match type:
        case t.Bits() | t.Bool() | t.Address() | t.Quantity() | t.Port() | t.Prefix() | t.Enum():
            return None
        case t.Struct():
            parts: tuple[t.Type, ...] = tuple(part for _, part in type.fields)
        case t.Tuple():
            parts = type.items
        case t.ListOf() | t.SetOf():
            parts = (type.item,)
        case t.Table() if outermost and type.kind in brought("rows") and TABLE_KINDS[type.kind].keys(type.key):
            parts = (type.key, type.value)
        case _:
            return type
    return next((found for part in parts if (found := unusable(part, False)) is not None), None)


# ------------------------------------------------------------ examples


def sample(type: t.Type, ports: Sequence[str]) -> Any:
    """An example of a value, as numbers, strings, dicts, lists (of any length) and tuples (of this one)."""
    match type:
        case t.Bits():
            return 1
        case t.Bool():
            return True
        case t.Address(name):
            return _ADDRESSES[name]
        case t.Quantity(name):
            return _QUANTITIES[name]
        case t.Port():
            return ports[0] if ports else "uplink"
        case t.Prefix():
            return "10.0.0.0/8"
        case t.Enum():
            return type.members[0][0]
        case t.Struct():
            return {name: sample(member, ports) for name, member in type.fields}
        case t.Tuple():
            return tuple(sample(item, ports) for item in type.items)
        case t.ListOf() | t.SetOf():
            return [sample(type.item, ports)]
        case t.Table():
            return [brought("rows")[type.kind].example(type, ports)]
    raise AssertionError(f"{type} cannot be configured")


def matcher_sample(type: t.Type, ports: Sequence[str]) -> Any:
    """An example of what keys of a type may be matched with."""
    match type:
        case t.Address("ipv4"):
            return "10.0.0.0/8"
        case t.Address("ipv6"):
            return "2001:db8::/32"
        case t.Bits(width) if width >= 8:
            return "80-90"
        case _:
            return sample(type, ports)


def written(value: Any, style: Style) -> str:
    """An example as its format writes it: inline TOML, JSON, or the text of a CSV cell."""
    if style == "csv" and not isinstance(value, (dict, list, tuple)):
        return str(value).lower() if isinstance(value, bool) else str(value)
    if style != "json" and isinstance(value, dict):
        members = (f"{_toml_key(name)} = {written(member, 'toml')}" for name, member in value.items())
        return "{ " + ", ".join(members) + " }"
    if style != "json" and isinstance(value, (list, tuple)):
        return "[" + ", ".join(written(member, "toml") for member in value) + "]"
    return json.dumps(value)


def _toml_key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name)


def item_sample(name: str, type: t.Type, ports: Sequence[str], style: Style) -> str:
    """How a whole config item may be given, to stand between backticks: with its name, or for CSV header and row."""
    value = sample(type, ports)
    if style == "json":
        return f'{{"{name}": {written(value, style)}}}'
    columns = _columns(value[0]) if style == "csv" and isinstance(value, list) else None
    if columns:
        cells = (written(cell, "csv") for cell in columns.values())
        return f"{','.join(columns)}` and below it `{','.join(cells)}"
    path = ".".join(_toml_key(part) for part in name.split("."))
    return f"{path} = {written(value, 'toml')}"


def _columns(row: Any) -> dict[str, Any] | None:
    """A row's cells by their columns' names; None if CSV cannot say it."""
    members = dict(enumerate(row)) if isinstance(row, tuple) else row if isinstance(row, dict) else {"value": row}
    columns: dict[str, Any] = {}
    for name, value in members.items():
        if isinstance(value, list):
            return None
        inner = _columns(value) if isinstance(value, (dict, tuple)) else {"": value}
        if inner is None:
            return None
        columns |= {f"{name}.{rest}".rstrip("."): cell for rest, cell in inner.items()}
    return columns
