"""Checksums that follow when edits are applied: which ones cover an edited field, and what with (PROTOCOL.md, rule 12).

The parser subtracts the 16-bit words that may change and the checksum itself, the deparser adds what they are then
(RFC 1624, equation 3): the rest of the packet need not be seen.
"""

from __future__ import annotations

from dataclasses import dataclass

from polysome.analysis.layout import Edit
from polysome.ir import program as ir
from polysome.plan.values import FieldKey


@dataclass(frozen=True)
class Sum:
    """The checksum `field` of `instance` over `covered`, whole 16-bit words of fields, in wire order."""

    instance: int
    field: int
    covered: tuple[FieldKey, ...]
    zero_is_none: bool
    never_zero: bool

    def kind(self, parser: ir.Parser) -> tuple[str, ...]:
        """What it is computed over; a parser keeps running sums of as many kinds as it has units."""
        checksum = parser.instances[self.instance].header.fields[self.field].checksum
        return checksum.parts if checksum else ()


def sums(instances: tuple[int, ...], edits: tuple[Edit, ...], parser: ir.Parser) -> tuple[Sum, ...]:
    """The checksums that the edits of a packet with these headers, in their order, may change."""
    edited = {(e.instance, e.field) for e in edits}
    found = []
    for n, i in enumerate(instances):
        header = parser.instances[i].header
        for f, declared in enumerate(header.fields):
            if declared.checksum is None:
                continue
            ordered = sorted(edited, key=lambda key: (instances.index(key[0]), key[1]))
            covered = [key for key in ordered if _covers(instances, n, key, declared.checksum, parser)]
            words: dict[FieldKey, None] = {}
            for key in covered:
                words |= dict.fromkeys(_words(key, parser))
            words.pop((i, f), None)
            if words:
                found.append(Sum(i, f, tuple(words), declared.checksum.zero_is_none, declared.checksum.never_zero))
    return tuple(found)


def _covers(instances: tuple[int, ...], n: int, key: FieldKey, checksum: ir.Checksum, parser: ir.Parser) -> bool:
    """Does the checksum of the way's n-th header cover a field?"""
    at = instances.index(key[0])
    if at == n:
        return "header" in checksum.parts
    if at > n:
        return "rest" in checksum.parts
    if "pseudo" not in checksum.parts:
        return False
    enclosing = [k for k in range(n) if parser.instances[instances[k]].header.pseudo]
    return bool(enclosing) and at == enclosing[-1] and key[1] in parser.instances[key[0]].header.pseudo


def _words(key: FieldKey, parser: ir.Parser) -> list[FieldKey]:
    """The fields that share 16-bit words with a field."""
    fields = parser.instances[key[0]].header.fields
    low = fields[key[1]].offset // 16 * 16
    high = -(-(fields[key[1]].offset + fields[key[1]].width) // 16) * 16
    return [
        (key[0], f) for f, one in enumerate(fields) if one.offset < high and one.offset + one.width > low and one.width
    ]
