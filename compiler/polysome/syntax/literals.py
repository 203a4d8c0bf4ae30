"""Literals: units (LANGUAGE.md L1.3) and addresses (L1.4)."""

from __future__ import annotations

import ipaddress
from fractions import Fraction

from polysome.syntax import ast
from polysome.syntax.diagnostics import Report, did_you_mean
from polysome.syntax.spans import Span

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
    kind, scale = UNITS[suffix]
    value = Fraction(digits.replace("_", "")) * scale
    if value.denominator != 1:
        return f"`{text}` is no whole number of the smallest unit"
    return int(value), kind


def number(text: str, span: Span, report: Report) -> ast.Number:
    """The AST of a quantity token; reports E0104 for a wrong unit and goes on with 0."""
    found = quantity(text)
    if isinstance(found, str):
        suffix = split_quantity(text)[1]
        hint = did_you_mean(suffix, UNITS) if suffix not in UNITS else "Use a smaller unit."
        report.add(
            "E0104",
            found,
            span,
            why="Units are ns us ms s min h d, B KB MB GB KiB MiB GiB, bps Kbps Mbps Gbps, pps Kpps Mpps, K M G Ki Mi Gi and %; "
            "upper and lower case differ.",
            mend=hint,
        )
        return ast.Number(span, 0, "")
    return ast.Number(span, *found)


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
        mend = ""
        if "host bits" in str(error):
            mend = f"Write `{ipaddress.ip_network(text, strict=False)}`."
        report.add(
            "E0105", f"`{text}` is not a valid {kind} literal", span, why=f"{_sentence(error)}", mend=mend
        )
        return ast.AddressLiteral(span, kind, 0, {"ipv4": 32, "mac": 48}.get(kind, 128), 0 if kind == "prefix" else None)


def _sentence(error: ValueError) -> str:
    text = str(error)
    return text[0].upper() + text[1:] + "."
