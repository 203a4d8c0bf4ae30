"""The binary form of configurations: what a native NF reads at its start and at each change (runtime/nf/reader.hpp).

A blob is items one after the other: a 16-bit number (the item's place in `Program.config`), then its value. All numbers
are big-endian:

| type                     | bytes                                                                                     |
|--------------------------|-------------------------------------------------------------------------------------------|
| numbers, addresses, enum | 1, 2, 4, 8 or 16: the least that hold the width                                           |
| bool; port               | 1; 2                                                                                      |
| struct, tuple            | the members                                                                               |
| prefix                   | 8-bit width of the family, 8-bit length, 16 bytes of address                              |
| list, set                | 32-bit count, values; those of a set ascend                                               |
| a table                  | 32-bit count, then rows as the kind's `cpp.py` says (`TableCpp.encoded`)                  |

Rows stand in file order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from polysome.backends.nf_cpp.table_code import Encode, table_cpp
from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.kinds.state import TABLE_KINDS
from polysome.kinds.values import Prefix


def encode(program: ir.Program, values: Mapping[str, Any]) -> bytes:
    """Some or all items of the config, with values in the form of `config.load.load_config`.

    KeyError for a name that is no item, OverflowError for a number that its type does not hold.
    """
    numbers = {name: number for number, name in enumerate(program.config)}
    parts = [_int(numbers[name], 2) + _encoder(program.config[name].type)(value) for name, value in values.items()]
    return b"".join(parts)


def size_of(type: t.Type) -> int | None:
    """Bytes of a number, address, quantity, enum, bool or port; None for other types."""
    if isinstance(type, (t.Struct, t.Tuple, t.FromPool)):
        return None
    bits = t.width(type)
    return None if bits is None else next(size for size in (1, 2, 4, 8, 16) if bits <= 8 * size)


def _encoder(type: t.Type) -> Encode:
    """The function that encodes values of a type. TypeError for a type that no config item has."""
    match type:
        case t.Struct(_, fields):
            return _together([member for _, member in fields])
        case t.Tuple(items):
            return _together(items)
        case t.Prefix():
            return _prefix
        case t.ListOf(item):
            return _rows(_encoder(item))
        case t.SetOf(item):
            rows = _rows(_encoder(item))
            return lambda values: rows(sorted(values))
        case t.Table():
            table_rows = _rows(table_cpp(type).encoded(type, _encoder))
            kind = TABLE_KINDS[type.kind]
            return lambda table: table_rows(kind.rows(table))
    size = size_of(type)
    if size is None:
        raise TypeError(f"a config item has no values of type {type}")
    return lambda value: _int(int(value), size)


def _prefix(prefix: Prefix) -> bytes:
    return bytes([prefix.bits, prefix.length]) + _int(prefix.value, 16)


def _together(types: Iterable[t.Type]) -> Encode:
    members = [_encoder(type) for type in types]
    return lambda values: b"".join([encode(value) for encode, value in zip(members, values, strict=True)])


def _rows(encode: Encode) -> Encode:
    return lambda rows: _int(len(rows), 4) + b"".join(map(encode, rows))


def _int(number: int, size: int) -> bytes:
    return number.to_bytes(size, "big")
