"""The packets by which queue pairs are proved are packets that the switch splits, by the spec's own parser."""

from __future__ import annotations

import base64
from dataclasses import replace

import pytest
from tests.backends.examples import EXAMPLES, program

from polysome.config.tables import Tables
from polysome.interp.machine import Machine, Nowhere
from polysome.plan.architectures.ribosome.probes import lengths, probes
from polysome.plan.design import Design, default_design

NAMES = sorted(path.name for path in EXAMPLES.iterdir() if path.is_dir())
UNSPLIT = ("bridge", "router6")


def design(name: str) -> Design:
    return default_design(program(name))


def parsed(made: Design, packet: bytes) -> tuple[int, ...]:
    """The headers that the spec's parser finds."""
    program = made.program
    parser = replace(program, packet_handlers=(), end_handlers={}, timers=(), state={}, config={})
    return tuple(Machine(parser, Tables(parser, {}), Nowhere()).parse(0, packet).path)


@pytest.mark.parametrize("name", NAMES)
def test_each_is_of_the_class_that_its_way_splits(name: str) -> None:
    made = design(name)
    found = probes(made)
    assert bool(found) == (name not in UNSPLIT)
    parser = made.program.parser
    for probe in found:
        way = made.ways[probe["way"] - 1]
        headers = base64.b64decode(probe["headers"])
        assert headers[6:12] == bytes(6) and headers[0] & 1 == 0
        packet = headers + bytes(probe["length"] - len(headers))
        path = parsed(made, packet)
        assert path == parser.classes[way.parse_class]
        assert sum(piece["bytes"] for piece in probe["fields"]) == way.fields_size
        assert sum(piece["bytes"] for piece in probe["edits"]) == way.edits_size
        assert all(piece["first"] + piece["width"] <= 8 * probe["length"] for piece in probe["fields"])


@pytest.mark.parametrize("name", [name for name in NAMES if name not in UNSPLIT])
def test_lengths_are_the_least_the_largest_and_one_that_needs_another_pad(name: str) -> None:
    made = design(name)
    least, most, odd = lengths(made)
    assert (least, most) == (made.sizes.least, min(made.sizes.most, made.site.largest_frame))
    assert odd % 2 == 1 and least < odd < most
    assert odd % 4 not in (least % 4, most % 4)
    depths = {way.length_plus for way in made.ways}
    assert len(probes(made)) == 3 * len(depths)


def test_the_header_checksum_is_right() -> None:
    for probe in probes(design("load_balancer")):
        headers = base64.b64decode(probe["headers"])
        first = 14 + 4 * (headers[12:14] == b"\x81\x00")
        words = [int.from_bytes(headers[i : i + 2], "big") for i in range(first, first + 20, 2)]
        assert sum(words) % 0xFFFF == 0 and words[1] == probe["length"] - first
