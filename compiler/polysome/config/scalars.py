"""Texts and numbers of a configuration file to values of one type: numbers, quantities, addresses, names."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from polysome.config.items import Item
from polysome.ir import types as t
from polysome.kinds.values import Prefix
from polysome.syntax.diagnostics import did_you_mean
from polysome.syntax.literals import UNITS, quantity, split_quantity

# Bounded, since Python refuses to convert numbers of thousands of digits.
_WHOLE = re.compile(r"\d[\d_]{0,199}|0x[0-9a-fA-F][0-9a-fA-F_]{0,199}|0b[01][01_]{0,199}", re.ASCII)
_WITH_UNIT = re.compile(r"\d[\d_]{0,199}(?:\.\d[\d_]{0,199})?[A-Za-z%]+", re.ASCII)
_MAC = re.compile(r"[0-9a-fA-F]{2}(?::[0-9a-fA-F]{2}){5}")
_KINDS = {
    "duration": "duration",
    "bytes": "size in bytes",
    "bitrate": "bit rate",
    "packetrate": "packet rate",
    "percent": "percentage",
    "": "plain number",
}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Wrong(Exception):
    """Why a text or number is no value of a type: the code, what is wrong, why, and how to mend it ("" if unknown)."""

    def __init__(self, code: str, message: str, why: str, mend: str = "") -> None:
        super().__init__(message)
        self.code, self.message, self.why, self.mend = code, message, why, mend


class WrongShape(Exception):
    """Not even the right form, like an array for a number. Who catches it shows an example."""

    def __init__(self, expected: str) -> None:
        super().__init__(expected)
        self.expected = expected


def scalar(item: Item, type: t.Type, ports: tuple[str, ...]) -> Any:
    """The value of `type` that `item` gives (`ir.types` says how values look); raises Wrong or WrongShape."""
    match type:
        case t.Bits(width):
            return _fitting(_bits(item), width, type, item)
        case t.Bool():
            return _bool(item)
        case t.Quantity("time"):
            return _fitting(_time(item), 64, type, item)
        case t.Quantity(name):
            return _fitting(_quantity(item, name), 64, type, item)
        case t.Address():
            return _address(_text(item, f"an address of type {type} in quotes"), type)
        case t.Prefix():
            return prefix(_text(item, "a prefix in quotes"), None)
        case t.Port():
            return _named(
                _text(item, "the name of a port in quotes"), {name: i for i, name in enumerate(ports)}, "port"
            )
        case t.Enum():
            return _named(_text(item, f"a member of {type} in quotes"), dict(type.members), f"member of {type}")
    raise AssertionError(f"{type} is no scalar")


def _text(item: Item, expected: str) -> str:
    if not isinstance(item.value, str):
        raise WrongShape(expected)
    return item.value


def _fitting(value: int, width: int, type: t.Type, item: Item) -> int:
    if 0 <= value < 1 << width:
        return value
    why = f"{type} holds whole numbers from 0 to 2^{width} - 1" + (f" = {(1 << width) - 1}." if width <= 32 else ".")
    raise Wrong("E1011", f"{item.value} does not fit {type}", why, "Give a number in this range, or use a wider type.")


# ------------------------------------------------------------ numbers


def _bits(item: Item) -> int:
    if isinstance(item.value, int) and not isinstance(item.value, bool):
        return item.value
    text = _text(item, "a whole number")
    if _WHOLE.fullmatch(text):
        return _whole(text)
    found = quantity(text) if _WITH_UNIT.fullmatch(text) else ""
    if isinstance(found, tuple) and found[1] == "":
        return found[0]
    why = "Numbers are written as in the language: 1500, 0x5dc, 64K (powers of 1000), 64Ki (of 1024)."
    if isinstance(found, tuple):
        raise Wrong("E1012", f'"{text}" has a unit, but a plain number is expected', why, "Leave the unit away.")
    raise Wrong("E1009", f'"{text}" is no whole number', why, "Give a whole number.")


def _whole(text: str) -> int:
    digits = text.replace("_", "")
    return int(digits, {"0x": 16, "0b": 2}.get(digits[:2], 10))


def _bool(item: Item) -> bool:
    if isinstance(item.value, bool):
        return item.value
    if item.cell and item.value in ("true", "false"):
        return bool(item.value == "true")
    if item.cell:
        raise Wrong("E1009", f'"{item.value}" is neither true nor false', "A bool is `true` or `false`.")
    raise WrongShape("true or false")


def _quantity(item: Item, kind: str) -> int:
    name, units = _KINDS[kind], [unit for unit, (of, _) in UNITS.items() if of == kind]
    why = f"A {name} needs a unit: {' '.join(units)}; upper and lower case differ."
    if isinstance(item.value, (int, float)) and not isinstance(item.value, bool):
        raise Wrong("E1012", f"{item.value} has no unit", why, f'Write for example `"{item.value}{units[0]}"`.')
    text = _text(item, f"a {name} in quotes")
    quote = "" if item.cell else '"'
    if _WHOLE.fullmatch(text):
        raise Wrong("E1012", f'"{text}" has no unit', why, f"Write for example `{quote}{text}{units[0]}{quote}`.")
    close = text.replace(" ", "")
    digits, suffix = split_quantity(close)
    same = next((unit for unit in units if unit.lower() == suffix.lower()), suffix)
    meant = digits + same
    if meant != text and _WITH_UNIT.fullmatch(meant) and isinstance(quantity(meant), tuple):
        raise Wrong("E1012", f'"{text}" is no {name}', why, f"Write `{quote}{meant}{quote}`.")
    if not _WITH_UNIT.fullmatch(text):
        raise Wrong("E1012", f'"{text}" is no {name}', why, f"Write for example `{quote}10{units[0]}{quote}`.")
    found = quantity(text)
    if isinstance(found, str):
        mend = did_you_mean(suffix, units) if suffix not in UNITS else "Use a smaller unit."
        raise Wrong("E1012", f'"{text}" is no {name}: {found}', why, mend)
    if found[1] != kind:
        message = f'"{text}" is a {_KINDS[found[1]]}, but a {name} is expected'
        raise Wrong("E1012", message, why, f"Use one of the units {' '.join(units)}.")
    return found[0]


def written(value: int, kind: str) -> str:
    """A quantity as a file would give it: in the largest unit that it is a whole number of."""
    scale, unit = max((scale, unit) for unit, (of, scale) in UNITS.items() if of == kind and value % scale == 0)
    return f"{value // scale}{unit}"


def _time(item: Item) -> int:
    """Nanoseconds since 1970, from a date and time with an offset (to the microsecond), or from that number itself."""
    moment = item.value
    if isinstance(moment, int) and not isinstance(moment, bool):
        return moment
    if isinstance(moment, str) and item.cell and _WHOLE.fullmatch(moment):
        return _whole(moment)
    if isinstance(moment, str):
        try:
            moment = datetime.fromisoformat(moment)
        except ValueError:
            moment = None
    elif not isinstance(moment, datetime):
        raise WrongShape("a date and time with its offset, or nanoseconds since 1970")
    if moment is None or moment.tzinfo is None:
        why = "A time is a date and time with its offset from UTC (RFC 3339), or a number of nanoseconds since 1970."
        raise Wrong("E1009", f'"{item.value}" is no time', why, "Write for example `2026-01-31T12:00:00Z`.")
    microseconds: int = (moment - _EPOCH) // timedelta(microseconds=1)
    return microseconds * 1000


# ------------------------------------------------------------ addresses and names


def _address(text: str, type: t.Address) -> int:
    if type.name == "mac":
        return _mac(text)
    address = _parsed(text, ipaddress.ip_address)
    why = {
        "ipv4": "An ipv4 address is written 10.0.0.1.",
        "ipv6": "An ipv6 address is written as RFC 4291, section 2.2, says: 2001:db8::1.",
    }[type.name]
    if address is None or "%" in text:
        bare = re.split("[/%]", text)[0]
        mend = f'Write "{bare}".' if _parsed(bare, ipaddress.ip_address) else ""
        raise Wrong("E1009", f'"{text}" is no {type} address', why, mend)
    if address.version == 6 and type.width == 32:
        raise Wrong("E1009", f'"{text}" is an ipv6 address, but an ipv4 address is expected', why)
    if address.version == 4 and type.width == 128:
        mend = f'As an IPv4-mapped address it is "::ffff:{address}".'
        raise Wrong("E1009", f'"{text}" is an ipv4 address, but an ipv6 address is expected', why, mend)
    return int(address)


def _mac(text: str) -> int:
    if _MAC.fullmatch(text):
        return int(text.replace(":", ""), 16)
    digits = re.sub(r"[-.:]", "", text)
    mend = ""
    if re.fullmatch(r"[0-9a-fA-F]{12}", digits):
        mend = f'Write "{":".join(digits[i : i + 2] for i in range(0, 12, 2))}".'
    raise Wrong(
        "E1009", f'"{text}" is no mac address', "A mac address is six pairs of hex digits: 02:00:00:00:00:01.", mend
    )


def prefix(text: str, bits: int | None) -> Prefix:
    """An IP prefix of the family with `bits` (32 or 128) bits, or of any; raises Wrong."""
    why = "A prefix is an address, / and a length; the bits behind the length are zero."
    address, _, length = text.partition("/")
    parsed = _parsed(address, ipaddress.ip_address)
    if parsed is None or "%" in text or not re.fullmatch(r"\d{1,3}", length, re.ASCII):
        mend = (
            f'For one address write "{text}/{parsed.max_prefixlen}".' if parsed is not None and text == address else ""
        )
        raise Wrong("E1009", f'"{text}" is no prefix', why, mend)
    if int(length) > parsed.max_prefixlen:
        raise Wrong("E1009", f'"{text}" is longer than an address', why, f"The longest is /{parsed.max_prefixlen}.")
    if bits is not None and parsed.max_prefixlen != bits:
        expected, mend = "ipv6" if bits == 128 else "ipv4", ""
        if bits == 128:
            mend = f'For IPv4-mapped addresses write "::ffff:{address}/{int(length) + 96}".'
        family_why = "A prefix contains only addresses of its own family."
        raise Wrong("E1009", f'"{text}" is no {expected} prefix', family_why, mend)
    network = ipaddress.ip_network(f"{address}/{int(length)}", strict=False)
    if int(network.network_address) != int(parsed):
        raise Wrong("E1009", f'"{text}" has bits behind its length that are not zero', why, f'Write "{network}".')
    return Prefix(parsed.max_prefixlen, int(parsed), int(length))


def _parsed(text: str, parse: Callable[[str], Any]) -> Any:
    try:
        return parse(text)
    except ValueError:
        return None


def _named(text: str, known: dict[str, int], what: str) -> int:
    if text in known:
        return known[text]
    why = "Ports and members of enums are given by the names that the NF declares."
    raise Wrong("E1010", f"`{text}` is no {what}", why, did_you_mean(text, known))
