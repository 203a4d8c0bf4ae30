"""Literals: units (LANGUAGE.md L1.3) and addresses (L1.4)."""

from __future__ import annotations

import ipaddress
import re
from fractions import Fraction

from polysome.syntax import ast
from polysome.syntax.diagnostics import Report, did_you_mean
from polysome.syntax.spans import Span

_DECIMAL = re.compile(r"[0-9][0-9_]*(\.[0-9_]+)?")
_LONGEST = 130  # 128 binary digits and `0b`

# suffix -> (kind, how many of the kind's smallest part)
UNITS: dict[str, tuple[str, int]] = {
    "ns": ("duration", 1),
    "us": ("duration", 10**3),
    "ms": ("duration", 10**6),
    "s": ("duration", 10**9),
    "min": ("duration", 60 * 10**9),
    "h": ("duration", 3600 * 10**9),
    "d": ("duration", 86400 * 10**9),
    "B": ("bytes", 1),
    "KB": ("bytes", 10**3),
    "MB": ("bytes", 10**6),
    "GB": ("bytes", 10**9),
    "KiB": ("bytes", 2**10),
    "MiB": ("bytes", 2**20),
    "GiB": ("bytes", 2**30),
    "bps": ("bitrate", 1),
    "Kbps": ("bitrate", 10**3),
    "Mbps": ("bitrate", 10**6),
    "Gbps": ("bitrate", 10**9),
    "pps": ("packetrate", 1),
    "Kpps": ("packetrate", 10**3),
    "Mpps": ("packetrate", 10**6),
    "K": ("", 10**3),
    "M": ("", 10**6),
    "G": ("", 10**9),
    "Ki": ("", 2**10),
    "Mi": ("", 2**20),
    "Gi": ("", 2**30),
    "%": ("percent", 10**4),
}


def split_quantity(text: str) -> tuple[str, str]:
    """The digits and the suffix of a quantity token."""
    i = 0
    while i < len(text) and (text[i].isdigit() or text[i] in "._"):
        i += 1
    return text[:i], text[i:]


def quantity(text: str) -> tuple[int, str] | str:
    """(value in the smallest part, kind) of `30s`, `1.5MB`, `1%` (in parts per million), or what is wrong with it."""
    digits, suffix = split_quantity(text)
    if suffix not in UNITS:
        return f"there is no unit `{suffix}`"
    if len(digits) > _LONGEST:
        return "this number is too long"
    if not _DECIMAL.fullmatch(digits):
        return f"`{digits}` is no number"
    kind, scale = UNITS[suffix]
    value = Fraction(digits.replace("_", "")) * scale
    if value.denominator != 1:
        return f"`{text}` is no whole number of the smallest unit"
    return int(value), kind


def integer(text: str, span: Span, report: Report) -> int:
    """The value of `17`, `0x1f`, `0b101`; reports E0104 if it is none and goes on with 0."""
    digits = text.replace("_", "")
    if len(digits) <= _LONGEST and digits not in ("0x", "0b"):
        return int(digits) if digits.isdigit() else int(digits, 0)
    report.add(
        "E0104",
        "this number is too long" if len(digits) > _LONGEST else f"`{text}` has no digits",
        span,
        why="No value has more than 128 bits."
        if len(digits) > _LONGEST
        else "`0x` and `0b` only say how digits are meant.",
        mend="Use a smaller number." if len(digits) > _LONGEST else "Write for example `0x1f` or `0b101`.",
    )
    return 0


def number(text: str, span: Span, report: Report) -> ast.Number:
    """The AST of a quantity token; reports E0104 for a wrong unit and goes on with 0."""
    found = quantity(text)
    if isinstance(found, str):
        report.add("E0104", found, span, why=_WHY_UNITS, mend=_mend_unit(text))
        return ast.Number(span, 0, "")
    return ast.Number(span, *found)


_WHY_UNITS = (
    "Units are ns us ms s min h d, B KB MB GB KiB MiB GiB, bps Kbps Mbps Gbps, pps Kpps Mpps, K M G Ki Mi Gi and %; "
    "upper and lower case differ."
)
_HABITS = {"m": "min", "sec": "s", "secs": "s", "seconds": "s", "hr": "h", "day": "d", "days": "d", "k": "K", "b": "B"}


def _mend_unit(text: str) -> str:
    """What was most likely meant by a quantity that is none."""
    digits, suffix = split_quantity(text)
    if suffix in UNITS:
        return "Use a smaller unit, or fewer digits."
    if text[:2] in ("0x", "0X", "0b", "0B"):
        return "Hexadecimal numbers are written `0x1f`, binary ones `0b101`."
    if re.fullmatch(r"[ui]\d+", suffix):
        return f"Write `{digits} as u{suffix[1:]}`."
    if suffix in _HABITS:
        return f"Did you mean `{_HABITS[suffix]}`?"
    return did_you_mean(suffix, UNITS) or "Write for example `30s`, `64KB`, `10Mbps`, `1Kpps`."


def address(kind: str, text: str, span: Span, report: Report) -> ast.AddressLiteral:
    """The AST of an address or prefix token; reports E0105 if it is none."""
    try:
        if kind == "mac":
            return ast.AddressLiteral(span, "mac", int(text.replace(":", ""), 16), 48)
        if kind == "prefix":
            network = ipaddress.ip_network(text)
            return ast.AddressLiteral(
                span, "prefix", int(network.network_address), network.max_prefixlen, network.prefixlen
            )
        parsed = ipaddress.ip_address(text)
        return ast.AddressLiteral(span, kind, int(parsed), parsed.max_prefixlen)
    except ValueError as error:
        why, mend = _sentence(error), f"Write for example `{_SAMPLES[kind]}`."
        if "host bits" in str(error):
            why = "Behind the prefix's length, all bits are 0."
            mend = f"Write `{ipaddress.ip_network(text, strict=False)}`."
        elif kind == "ipv4":
            why = "An IPv4 address has four numbers from 0 to 255, without leading zeros."
        report.add("E0105", f"`{text}` is not a valid {kind} literal", span, why=why, mend=mend)
        return ast.AddressLiteral(
            span, kind, 0, {"ipv4": 32, "mac": 48}.get(kind, 128), 0 if kind == "prefix" else None
        )


_SAMPLES = {"ipv4": "10.0.0.1", "ipv6": "2001:db8::1", "mac": "02:00:00:00:00:01", "prefix": "10.0.0.0/8"}


def _sentence(error: ValueError) -> str:
    text = str(error)
    return text[0].upper() + text[1:] + "."
