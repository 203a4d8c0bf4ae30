"""What parking on RDMA servers is in the switch's program: the values of `targets/tofino/ribosome`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from polysome.analysis.layout import WIRE
from polysome.backends.tofino import names
from polysome.backends.tofino.parser_states import NamedSum
from polysome.backends.tofino.pieces import Pieces, Split
from polysome.ir import program as ir
from polysome.plan.architectures.ribosome import requests
from polysome.plan.architectures.ribosome.parking import (
    LOOKS_AT_REST,
    LOOKS_UNTIL_DOWN,
    LOOKS_UNTIL_SILENT,
    bit_registers,
)
from polysome.plan.sizes import Sizes
from polysome.plan.values import FieldKey, enclosed
from polysome.plan.way import Way
from polysome_protocol import ETHERNET, RETRY

CLOCK_SKEW = 1  # ticks by which time stamps of two ports may come in the other order
FCS = 4  # which egress counts as part of a packet's length
RESPONSE_OVERHEAD = requests.response(0) - requests.pad(0) - ETHERNET.size  # of its IPv4 packet, but for pad and packet


class Parked(Pieces):
    def values(self, split: Split) -> Mapping[str, Any]:
        parser, ways, sizes = split.parser, split.ways, split.sizes
        words = _words(max((way.edits_size for way in ways), default=0))
        parts = _parts(ways)
        longest = requests.most_written(sizes.cell) + FCS
        fillings = _fillings(ways)
        return {
            "plan": _plan(sizes),
            "recirculation_port": split.addresses.recirculation_port,
            "words": words,
            "rest_bits": 8 * (sizes.edits_frame - WIRE.overhead) - sum(words),
            "edits_lengths": enclosed(sizes.least, sizes.most, 16),
            "response_overhead": RESPONSE_OVERHEAD,
            "most_pad": requests.MOST_PAD,
            "ack_bits": requests.ACK_EVERY.bit_length() - 1,
            "longest": longest,
            # By which edits that end their frame are shorter than the longest frame; modulo 2^16, as egress adds.
            "longest_of_edits": longest - (sizes.edits_frame + FCS) & 0xFFFF,
            "longest_of_retried": longest - (RETRY.size + sizes.edits_frame + FCS) & 0xFFFF,
            "pads": [(n, m, requests.pad_with(n, m - n)) for n in range(4) for m in range(4)],
            "skew": CLOCK_SKEW,
            # A register counts from 1, with which the first READ begins.
            "looks_until_silent": 1 + LOOKS_UNTIL_SILENT,
            "looks_until_down": 1 + LOOKS_UNTIL_DOWN,
            "looks_at_rest": LOOKS_AT_REST,
            "probed": split.guarded is not None,
            "hashes": _hashes(ways, parser),
            "lengths": _lengths(ways, parser),
            "ways": len(ways),
            "applies": _applies(ways, split.sums, split.flags, parser),
            "server_ports": sizes.server_ports,
            "address_high": _address_high(sizes),
            "part_sizes": sorted({size for _, size in parts}),
            "parts": [{"name": f"fields_{k}_{size}", "type": f"fields_{size}"} for k, size in parts],
            "fields_states": _fields_states(ways, parser),
            "fillings": fillings,
            "zeros": sorted({size for f in fillings for size in f["sizes"]}, reverse=True),
        }


P4 = Parked()


def _plan(sizes: Sizes) -> Mapping[str, int]:
    registers = bit_registers(sizes.cells)
    return {
        **vars(sizes),
        "slot_bits": sizes.slots.bit_length() - 1,
        "queue_pair_bits": sizes.queue_pairs.bit_length() - 1,
        "bucket_bits": sizes.buckets.bit_length() - 1,
        "cell_bits": sizes.cell.bit_length() - 1,
        "ring_bits": sizes.cells.bit_length() - 1,
        "cell_registers": registers,
        "cell_register_bits": (sizes.cells // registers).bit_length() - 1,
    }


def _hashes(ways: tuple[Way, ...], parser: ir.Parser) -> list[dict[str, Any]]:
    groups: dict[tuple[FieldKey, ...], list[Way]] = {}
    for way in ways:
        if way.hashed:
            groups.setdefault(way.hashed, []).append(way)
    made = []
    for n, (keys, own) in enumerate(groups.items(), 1):
        fields = [names.field(i, f, parser) for i, f in keys]
        made.append({"name": f"class_{n}", "fields": fields, "ways": [w.number for w in own]})
    return made


def _address_high(sizes: Sizes) -> str:
    """The upper 32 bits of (seq mod cells) · cell."""
    shift = sizes.cell.bit_length() - 1
    return "0" if sizes.cells * sizes.cell <= 1 << 32 else f"md.cell >> {32 - shift}"


def _lengths(ways: tuple[Way, ...], parser: ir.Parser) -> list[dict[str, Any]]:
    groups: dict[tuple[str, int], list[int]] = {}
    for way in ways:
        groups.setdefault((names.field(*way.length_field, parser), way.length_plus), []).append(way.number)
    return [
        {"name": f"length_{n}", "field": field, "plus": plus, "ways": own}
        for n, ((field, plus), own) in enumerate(groups.items(), 1)
    ]


def _parts(ways: tuple[Way, ...]) -> list[tuple[int, int]]:
    """Pieces of fields, as (place in the frame, bytes); ways share those that are alike."""
    found = {(k, s.length) for way in ways for k, s in enumerate(way.layout.fields)}
    return sorted(found)


def _fields_states(ways: tuple[Way, ...], parser: ir.Parser) -> list[dict[str, Any]]:
    states = []
    for way in ways:
        at, lines = 0, []
        for k, piece in enumerate(way.layout.fields):
            start = way.offset(piece.instance, parser) + piece.first
            if start > at:
                lines.append(f"pkt.advance({8 * (start - at)});")
            lines.append(f"pkt.extract(hdr.fields_{k}_{piece.length});")
            at = start + piece.length
        states.append({"number": way.number, "lines": lines})
    return states


def _fillings(ways: tuple[Way, ...]) -> list[dict[str, Any]]:
    groups: dict[int, list[int]] = {}
    for way in ways:
        short = WIRE.room - way.fields_size
        if short > 0:
            groups.setdefault(short, []).append(way.number)
    return [
        {"bytes": n, "sizes": [size for size in (32, 16, 8, 4, 2, 1) if n & size], "ways": own}
        for n, own in sorted(groups.items())
    ]


def _words(size: int) -> list[int]:
    """Registers that hold so many bytes, by their widths in bits."""
    whole, rest = divmod(size, 4)
    return [32] * whole + ([8 if rest == 1 else 16 if rest == 2 else 32] if rest else [])


def _applies(
    ways: tuple[Way, ...], named: Mapping[int, tuple[NamedSum, ...]], flags: Mapping[NamedSum, str], parser: ir.Parser
) -> list[Mapping[str, Any]]:
    """One action for all ways whose edits and checksums are the same."""
    words = _words(max((way.edits_size for way in ways), default=0))
    groups: dict[tuple[str, ...], list[int]] = {}
    for way in ways:
        if way.layout.edits:
            lines = [line for edit in way.layout.edits for line in _assigned(edit, words, parser)]
            for one in named[way.number]:
                lines.append(f"md.{flags[one]} = {f'md.{one.name}_there' if one.sum.zero_is_none else 1};")
            groups.setdefault(tuple(dict.fromkeys(lines)), []).append(way.number)
    return [
        {"name": f"edits_{n}", "lines": list(lines), "ways": own} for n, (lines, own) in enumerate(groups.items(), 1)
    ]


def _assigned(edit: Any, words: list[int], parser: ir.Parser) -> list[str]:
    """A field from the words of the edits, piece by piece."""
    width = parser.instances[edit.instance].header.fields[edit.field].width
    end = 8 * (edit.offset + edit.length)
    start, lines, name = end - width, [], names.field(edit.instance, edit.field, parser)
    while start < end:
        word, first = divmod(start, 32)
        size, bits = min(32 - first, end - start), words[word]
        source = f"md.word{word}" if size == bits else f"md.word{word}[{bits - 1 - first}:{bits - first - size}]"
        low = end - start - size
        target = name if size == width else f"{name}[{low + size - 1}:{low}]"
        lines.append(f"{target} = {source};")
        start += size
    return lines
