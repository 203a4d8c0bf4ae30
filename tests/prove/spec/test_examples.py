"""The symbolic semantics of every example's packets is the interpreter's."""

from __future__ import annotations

import random

import pytest
from tests.prove.spec.kit import (
    NAMES,
    Constant,
    assert_same,
    every_field,
    example,
    fits,
    held,
    holds,
    interpreter,
    known,
    number,
    packets,
    plain,
)

from polysome import smt
from polysome.interp.apply import apply
from polysome.interp.packet import Packet, read_bits, slice_bits
from polysome.ir import program as ir
from polysome.prove.spec.apply import leaves
from polysome.prove.spec.packet import Parsed
from polysome.prove.spec.parse import parses
from polysome.prove.window import Frame

# The others parse as `acl` does.
OWN_PARSERS = {"acl", "bridge", "dns_guard", "router6", "vxlan_gateway"}


def share(name: str, whole: int) -> int:
    """How many packets an example gets: most go to those that have a parser that no other has."""
    return whole if name in OWN_PARSERS else whole // 5


def only(program: ir.Program, data: bytes) -> Parsed:
    """The one outcome for a packet of constants."""
    found = list(parses(program, Constant(data=data)))
    assert len(found) == 1, found
    assert not found[0].conditions and number(found[0].condition)
    return found[0]


@pytest.mark.parametrize("name", NAMES)
def test_packets_are_parsed_as_the_interpreter_does(name: str) -> None:
    spec = example(name)
    program, machine = spec.program, interpreter(spec)
    values = machine.functions
    for data in packets(spec, share(name, 150), f"parse {name}"):
        p, parsed = machine.parse(0, data), only(program, data)
        assert_same(p, parsed, program)
        for i, f in every_field(program, p):
            shape = program.parser.instances[i].header.fields[f]
            want = read_bits(data, 8 * p.offset[i] + shape.offset, shape.width, p.header_end[i])
            assert number(parsed.field(i, f)) == want, shape.name
        for k, (value, decl) in enumerate(program.parser.values.items()):
            found = OnceMore(parsed, decl)
            assert found.plain == values[f"value_{k}"](p), value
            assert found.plain_class == values[f"value_{k}c"](p), value
        for low, high in ((0, 1), (0, 16), (3, 9)):
            assert number(parsed.payload(low, high)) == slice_bits(data, low, high, p.payload, p.end)


class OnceMore:
    """A value of the parser, as itself and in a class."""

    def __init__(self, parsed: Parsed, decl: ir.ValueDecl) -> None:
        self.plain = plain(decl.value.type, parsed.value(decl.value))
        self.plain_class = plain(decl.for_class.type, parsed.value(decl.for_class))


@pytest.mark.parametrize("name", NAMES)
def test_what_an_outcome_demands_is_what_leads_there(name: str) -> None:
    """On a frame that is free but for what is assumed; each outcome's conditions are tried on the other packets too."""
    spec = example(name)
    program, machine = spec.program, interpreter(spec)
    frame = Frame()
    outcomes: dict[str, Parsed] = {}
    tried = packets(spec, share(name, 50), f"conditions {name}")
    for data in tried:
        found = list(parses(program, frame, known(frame, data)))
        assert len(found) == 1 and not found[0].conditions
        assert fits(machine.parse(0, data), found[0])
        outcomes.setdefault(" ".join(map(str, found[0].decisions)), found[0])
    rng = random.Random(1)
    for data in rng.sample(tried, min(len(tried), 15)):
        p = machine.parse(0, data)
        true = [parsed for parsed in outcomes.values() if holds(parsed.condition, data, frame)]
        assert len(true) == 1 and fits(p, true[0])


def edited(program: ir.Program, p: Packet, rng: random.Random) -> dict[tuple[int, int], int]:
    """New values of some fields that can be written, sometimes the old ones."""
    fields = [(i, f) for i, f in every_field(program, p) if not program.parser.instances[i].header.fields[f].read_only]
    found = {}
    for i, f in rng.sample(fields, min(len(fields), rng.choice((1, 2, 3, 8)))):
        shape = program.parser.instances[i].header.fields[f]
        old = read_bits(p.data, 8 * p.offset[i] + shape.offset, shape.width, p.header_end[i])
        most = (1 << shape.width) - 1
        found[i, f] = rng.choice((old, 0, most, rng.getrandbits(shape.width), (old + 1) & most, most ^ old))
    return found


def assert_leaves(program: ir.Program, p: Packet, parsed: Parsed, edits: dict[tuple[int, int], int]) -> None:
    """What the symbolic apply leaves on a packet of constants is what the interpreter's does."""
    terms = {
        (i, f): smt.BitVecVal(v, program.parser.instances[i].header.fields[f].width) for (i, f), v in edits.items()
    }
    found = [left for left in leaves(parsed, terms) if all(number(c) for c in left.conditions)]
    assert len(found) == 1
    left = found[0]
    content = bytearray(p.data[: number(parsed.end)])
    for k, term in left.octets.items():
        if k < len(content):
            content[k] = number(term)
    for k, word in left.words.items():
        content[k : k + 2] = held(word).to_bytes(2, "big")
    p.edits = {i << 16 | f: v for (i, f), v in edits.items()}
    assert bytes(content) == apply(program, p), edits
    p.edits = {}


@pytest.mark.parametrize("name", NAMES)
def test_what_leaves_is_what_the_interpreter_sends(name: str) -> None:
    spec = example(name)
    program, machine = spec.program, interpreter(spec)
    rng = random.Random(f"edits {name}")
    for data in packets(spec, share(name, 150), f"apply {name}"):
        p = machine.parse(0, zeroed(data, rng))
        if p.path:
            parsed = only(program, p.data)
            for _ in range(3):
                assert_leaves(program, p, parsed, edited(program, p, rng))


def zeroed(data: bytes, rng: random.Random) -> bytes:
    """Sometimes with a word of 0000 or ffff, as checksums have it at the edges."""
    if rng.random() < 0.7 or len(data) < 44:
        return data
    at = 2 * rng.randrange(7, 22)
    return data[:at] + rng.choice((b"\0\0", b"\xff\xff")) + data[at + 2 :]
