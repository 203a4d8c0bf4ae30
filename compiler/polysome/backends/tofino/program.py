"""From the ways and the plan's sizes to the text of the P4 program; the templates are in targets/tofino."""

from __future__ import annotations

from collections.abc import Mapping
from graphlib import TopologicalSorter
from itertools import pairwise
from typing import Any

from polysome.backends.templates import fill
from polysome.backends.tofino import names
from polysome.backends.tofino.parser_states import NamedSum, States, option_parts
from polysome.backends.tofino.pieces import Pieces, Split
from polysome.backends.tofino.wire import WIRE_VALUES
from polysome.ir import program as ir
from polysome.plan.architectures import brought
from polysome.plan.site import Site
from polysome.plan.sizes import Addresses, Sizes
from polysome.plan.sums import Sum, sums
from polysome.plan.way import Way

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


def tofino_program(
    program: ir.Program,
    ways: tuple[Way, ...],
    sizes: Sizes,
    addresses: Addresses,
    chip: str = "tna",
    architecture: str = Site.architecture,
) -> str:
    """The P4_16 program for a `chip` (tna: Tofino 1, t2na: Tofino 2).

    The templates are a skeleton of ports, ways, verdicts and counters, and, where packets are split, what the folder of
    the `architecture` puts into its blocks.
    """

    def part(name: str) -> list[str]:
        return [f"{architecture}/{name}.p4.j2"] * bool(ways) + [f"{name}.p4.j2"]

    parser = program.parser
    named = _named(ways, parser)
    flags = _flags(ways, named)
    states = States(parser, tuple(_within(way, sizes) for way in ways), named)
    instances = _in_wire_order(ways)
    types = {parser.instances[i].header.name: parser.instances[i].header for i in instances}
    guarded = _guarded(ways, parser)
    values: dict[str, Any] = {
        "nf": program.name,
        "chip": {"architecture": chip},
        "part": part,
        "wire": WIRE_VALUES,
        "switch_mac": addresses.mac,
        "switch_ip": addresses.ip,
        "ingress_events": INGRESS_EVENTS,
        "egress_events": EGRESS_EVENTS,
        "plan": {"queue_pairs": sizes.queue_pairs, "queue_pair_bits": sizes.queue_pairs.bit_length() - 1},
        "headers": [_header(h) for h in types.values()],
        "instances": [
            {"name": names.instance(i, parser), "type": names.header_type(parser.instances[i].header)}
            for i in instances
        ],
        "option_sizes": _option_sizes(ways),
        "sums": [_sum(s, flags, parser) for s in flags],
        "flags": list(dict.fromkeys(flags.values())),
        "first_state": states.first if ways else "unsplit",
        "states": states.text(),
        "guarded": guarded,
        "probed": False,
        "nf_link_entries": 256,
        "verdict_entries": 512,
        "station_entries": 1024,
        "flood_entries": 512,  # ports
        "nf_ports": sizes.nf_ports + 1,  # and the controller's
    }
    if ways:
        pieces = brought(architecture, "p4")
        assert isinstance(pieces, Pieces)  # who splits packets has a place for them
        values |= pieces.values(Split(parser, ways, sizes, addresses, named, flags, guarded))
    return fill("tofino/switch.p4", values)


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
