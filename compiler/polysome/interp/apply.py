"""`apply`: edits and a packet to the packet that leaves (LANGUAGE.md section 10)."""

from __future__ import annotations

from polysome.interp import rebuild
from polysome.interp.packet import Packet, read_bits, write_bits
from polysome.ir import program as ir
from polysome.ir.checksum import updated, word_sum


def apply(program: ir.Program, p: Packet) -> bytes:
    """The packet as it leaves: field writes, pops, pushes, truncation, then next and length fields, then checksums."""
    data = p.data if p.end == len(p.data) else p.data[: p.end]
    if not p.edits and not p.operations:
        return data
    buffer = bytearray(data)
    changed = _write(program.parser, p, buffer)
    if changed:
        _update_checksums(program.parser, p, data, buffer, changed)
    if p.operations:
        return rebuild.rebuild(program, p, buffer)
    return bytes(buffer)


def _write(parser: ir.Parser, p: Packet, buffer: bytearray) -> list[tuple[int, int]]:
    """Write the edits; the byte ranges whose content is now different."""
    changed = []
    for key, value in p.edits.items():
        i = key >> 16
        field = parser.instances[i].header.fields[key & 0xFFFF]
        start = p.offset[i] * 8 + field.offset
        end = p.header_end[i]
        if read_bits(buffer, start, field.width, end) != int(value):
            write_bits(buffer, start, field.width, int(value), end)
            changed.append((start >> 3, min((start + field.width + 7) >> 3, end)))
    return changed


def _update_checksums(parser: ir.Parser, p: Packet, old: bytes, new: bytearray, changed: list[tuple[int, int]]) -> None:
    """Every checksum over a changed byte, innermost first; an updated one is itself a changed byte for outer ones."""
    for position in range(len(p.path) - 1, -1, -1):
        i = p.path[position]
        header = parser.instances[i].header
        for field in header.fields:
            if field.checksum is None:
                continue
            at = p.offset[i] + (field.offset >> 3)
            if at + 2 > p.header_end[i]:
                continue  # a quote that was cut before its checksum
            covered = _covered(parser, p, position, field.checksum)
            difference = _difference(old, new, changed, covered, at)
            if difference is None:
                continue
            value = read_bits(old, at * 8, 16, at + 2)
            if field.checksum.zero_is_none and value == 0:
                continue
            value = updated(value, difference)
            if field.checksum.never_zero and value == 0:
                value = 0xFFFF
            new[at : at + 2] = value.to_bytes(2, "big")
            changed.append((at, at + 2))


def _covered(parser: ir.Parser, p: Packet, position: int, checksum: ir.Checksum) -> list[tuple[int, int]]:
    """The byte ranges that a checksum covers; each begins at an even distance from the start of its sum."""
    i = p.path[position]
    ranges = []
    if "header" in checksum.parts:
        end = max(p.limit[i], p.header_end[i]) if "rest" in checksum.parts else p.header_end[i]
        ranges.append((p.offset[i], end))
    if "pseudo" in checksum.parts:
        for j in reversed(p.path[:position]):
            header = parser.instances[j].header
            if header.pseudo:
                for f in header.pseudo:
                    start = p.offset[j] + (header.fields[f].offset >> 3)
                    ranges.append((start, start + (header.fields[f].width >> 3)))
                break
    return ranges


def _difference(
    old: bytes, new: bytearray, changed: list[tuple[int, int]], covered: list[tuple[int, int]], own: int
) -> int | None:
    """New minus old sum (mod 65535) of the covered words that hold a changed byte; None if nothing covered changed."""
    total = 0
    seen: set[int] = set()
    for low, high in covered:
        for start, end in changed:
            first, last = max(start, low), min(end, high)
            for word in range(low + ((first - low) & ~1), last, 2):
                behind = min(word + 2, high)
                if word != own and word not in seen and old[word:behind] != new[word:behind]:
                    seen.add(word)
                    total += word_sum(new, word, behind) - word_sum(old, word, behind)
    return total if seen else None
