"""From the ways and the plan's sizes to the text of the P4 program; the templates are in targets/tofino."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from graphlib import TopologicalSorter
from itertools import pairwise
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from polysome.analysis.layout import WIRE
from polysome.backends.tofino import names
from polysome.backends.tofino.parser_states import NamedSum, States, option_parts
from polysome.backends.tofino.wire import WIRE_VALUES
from polysome.ir import program as ir
from polysome.plan.architectures.ribosome import requests
from polysome.plan.architectures.ribosome.parking import (
    LOOKS_AT_REST,
    LOOKS_UNTIL_DOWN,
    LOOKS_UNTIL_SILENT,
    bit_registers,
)
from polysome.plan.sizes import Addresses, Sizes
from polysome.plan.sums import Sum, sums
from polysome.plan.values import FieldKey, enclosed
from polysome.plan.way import Way
from polysome.resources import folder
from polysome_protocol import ETHERNET, RETRY

INGRESS_EVENTS = (
    *("unknown", "own_address", "foreign_answer", "no_queue_pair", "cut", "unknown_station", "no_port"),
    *("parked", "whole", "fallback", "edits", "repeated_edits", "old_edits", "edits_given_up", "retry", "merged"),
    *("returned", "resync", "silent", "forwarded", "foreign_cell", "ack", "down", "swept"),
)
EGRESS_EVENTS = (
    "out",
    "short",
    "long",
    "write",
    "read",
    "resynchronised",
    "fields",
    "whole_frame",
    "too_many",
    "given_up",
)
CLOCK_SKEW = 1  # ticks by which time stamps of two ports may come in the other order
FCS = 4  # which egress counts as part of a packet's length
RESPONSE_OVERHEAD = requests.response(0) - requests.pad(0) - ETHERNET.size  # of its IPv4 packet, but for pad and packet


def tofino_program(
    program: ir.Program, ways: tuple[Way, ...], sizes: Sizes, addresses: Addresses, architecture: str = "tna"
) -> str:
    """The P4_16 program for `architecture` (tna: Tofino 1, t2na: Tofino 2)."""
    parser = program.parser
    named = _named(ways, parser)
    flags = _flags(ways, named)
    states = States(parser, tuple(_within(way, sizes) for way in ways), named)
    parts = _parts(ways)
    fillings = _fillings(ways)
    instances = _in_wire_order(ways)
    types = {parser.instances[i].header.name: parser.instances[i].header for i in instances}
    words = _words(max((way.edits_size for way in ways), default=0))
    longest = requests.most_written(sizes.cell) + FCS
    values: dict[str, Any] = {
        "nf": program.name,
        "chip": {"architecture": architecture},
        "wire": WIRE_VALUES,
        "switch_mac": addresses.mac,
        "switch_ip": addresses.ip,
        "recirculation_port": addresses.recirculation_port,
        "ingress_events": INGRESS_EVENTS,
        "egress_events": EGRESS_EVENTS,
        "plan": _plan(sizes),
        "headers": [_header(h) for h in types.values()],
        "instances": [
            {"name": names.instance(i, parser), "type": names.header_type(parser.instances[i].header)}
            for i in instances
        ],
        "option_sizes": _option_sizes(ways),
        "words": words,
        "rest_bits": 8 * (sizes.edits_frame - WIRE.overhead) - sum(words) if ways else 0,
        "sums": [_sum(s, flags, parser) for s in flags],
        "flags": list(dict.fromkeys(flags.values())),
        "first_state": states.first if ways else "unsplit",
        "states": states.text(),
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
        "guarded": _guarded(ways, parser),
        "probed": bool(ways) and _guarded(ways, parser) is not None,
        "hashes": _hashes(ways, parser),
        "lengths": _lengths(ways, parser),
        "ways": len(ways),
        "applies": _applies(ways, named, flags, parser),
        "nf_link_entries": 256,
        "verdict_entries": 512,
        "station_entries": 1024,
        "flood_entries": 512,  # ports
        "nf_ports": sizes.nf_ports + 1,  # and the controller's
        "server_ports": sizes.server_ports,
        "address_high": _address_high(sizes),
        "part_sizes": sorted({size for _, size in parts}),
        "parts": [{"name": f"fields_{k}_{size}", "type": f"fields_{size}"} for k, size in parts],
        "fields_states": _fields_states(ways, parser),
        "fillings": fillings,
        "zeros": sorted({size for f in fillings for size in f["sizes"]}, reverse=True),
    }
    return _environment().get_template("switch.p4.j2").render(values)


def _within(way: Way, sizes: Sizes) -> Way:
    found = way.within(sizes.least, sizes.most)
    assert found is not None  # a plan's longest packet is longer than its threshold, and that than any way's headers
    return found


def _in_wire_order(ways: tuple[Way, ...]) -> tuple[int, ...]:
    """The headers of all ways, each behind those that come before it on any way: deparsers emit them so."""
    order: TopologicalSorter[int] = TopologicalSorter()
    for way in ways:
        for before, after in pairwise((None, *way.instances)):
            if after is not None:
                order.add(after, *([before] if before is not None else []))
    return tuple(order.static_order())


@cache
def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(folder("targets") / "tofino"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


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


def _option_sizes(ways: tuple[Way, ...]) -> list[int]:
    found = {
        part
        for way in ways
        if (options := way.steps[-1].options) is not None
        for size in range(options.least, options.most + 1)
        for part in option_parts(options, size)
    }
    return sorted(found, reverse=True)


def _header(header: ir.Header) -> Mapping[str, Any]:
    fields = [{"name": names.plain(f.name), "width": f.width} for f in header.fields if f.width]
    return {"name": names.header_type(header), "fields": fields}


def _guarded(ways: tuple[Way, ...], parser: ir.Parser) -> Mapping[str, str] | None:
    """Where Ethernet's addresses are: in the first header, if it has them as fields. Of no way: in `station`."""
    if not ways:
        return {"header": "station", "dst": "dst", "src": "src"}
    first = ways[0].instances[0]
    places = {(f.offset, f.width): names.plain(f.name) for f in parser.instances[first].header.fields}
    if (0, 48) not in places or (48, 48) not in places:
        return None
    return {"header": names.instance(first, parser), "dst": places[0, 48], "src": places[48, 48]}


# ---------------------------------------------------------------- park


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


# ---------------------------------------------------------------- fields


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


# ---------------------------------------------------------------- edits


def _named(ways: tuple[Way, ...], parser: ir.Parser) -> dict[int, tuple[NamedSum, ...]]:
    """The checksums of each way, with names; the same over the same fields has one name."""
    known: dict[Sum, NamedSum] = {}
    found = {}
    for way in ways:
        own = []
        for one in sums(way.instances, way.layout.edits, parser):
            if one not in known:
                base = names.instance(one.instance, parser)
                others = sum(s.instance == one.instance for s in known)
                known[one] = NamedSum(f"{base}_{others + 1}" if others else base, one)
            own.append(known[one])
        found[way.number] = tuple(own)
    return found


def _flags(ways: tuple[Way, ...], named: dict[int, tuple[NamedSum, ...]]) -> dict[NamedSum, str]:
    """For each checksum the bit that says whether it is updated; as few bits as do, each costs a stage on the chip.

    Two checksums have different bits if a way has both headers, and not both checksums follow there.
    """
    found: dict[NamedSum, int] = {}
    for one in dict.fromkeys(s for own in named.values() for s in own):
        taken = {found[other] for other in found if any(_apart(one, other, way, named[way.number]) for way in ways)}
        found[one] = next(n for n in range(len(found) + 1) if n not in taken)
    return {one: f"update_{n + 1}" for one, n in found.items()}


def _apart(one: NamedSum, other: NamedSum, way: Way, own: tuple[NamedSum, ...]) -> bool:
    """Must the way be able to update one of the two and not the other? UDP's zero stays, whatever else changes."""
    if one not in own and other not in own:
        return False
    both = one in own and other in own
    there = one.sum.instance in way.instances and other.sum.instance in way.instances
    return there and not (both and not one.sum.zero_is_none and not other.sum.zero_is_none)


def _sum(named: NamedSum, flags: dict[NamedSum, str], parser: ir.Parser) -> Mapping[str, Any]:
    one = named.sum
    header = parser.instances[one.instance].header
    return {
        "name": named.name,
        "flag": flags[named],
        "header": names.instance(one.instance, parser),
        "field": names.plain(header.fields[one.field].name),
        "fields": [names.field(*key, parser) for key in one.covered],
        "zero_is_none": one.zero_is_none,
        "never_zero": one.never_zero,
    }


def _words(size: int) -> list[int]:
    """Registers that hold so many bytes, by their widths in bits."""
    whole, rest = divmod(size, 4)
    return [32] * whole + ([8 if rest == 1 else 16 if rest == 2 else 32] if rest else [])


def _applies(
    ways: tuple[Way, ...], named: dict[int, tuple[NamedSum, ...]], flags: dict[NamedSum, str], parser: ir.Parser
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
