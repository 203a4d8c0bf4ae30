"""Every construct of a parser: all outcomes of a small spec, with a packet of each, and random packets.

Nothing is assumed of the frame, so the outcomes are all that there are: each packet has exactly one.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from tests.prove.spec.kit import assert_same, fits, holds, interpreter, number
from tests.prove.spec.test_examples import assert_leaves, edited, only
from tests.testing.traffic.kit import written

from polysome import smt
from polysome.prove.spec.parse import MOST_SIZES, TooManySizes, parses
from polysome.prove.window import Frame
from polysome.testing.spec import Spec

LONGEST = 28

# By name: headers, the parser's states, the bytes that random packets are made of, the least number of outcomes.
SPECS: dict[str, tuple[str, str, bytes, int]] = {
    "ends inside each other, shorter and longer than the room, and shorter than their header": (
        """header outer { kind: u8; length: u8 length(header + rest); end length; }
           header inner { kind: u8; length: u16 length(header + rest); end length; valid kind != 3; }
           header last { a: u8; b: u8; }""",
        """state start { extract outer; select outer.kind { 1 => inner; 2 => last; } }
           state inner { extract inner; select inner.kind { 1 => again; _ => last; } }
           state again { extract outer as second; goto last; }
           state last { extract last; }""",
        bytes([0, 1, 2, 3, 4, 5, 6, 7, 9, 12, 30]),
        10,
    ),
    "sizes, a rest, sizes below the fixed fields, and odd ones": (
        """header sized { words: u8; kind: u8; tail: rest; size words as u16 * 3 + 1; valid words < 6; }
           header tail { a: bit<3>; b: bool; c: bit<12>; }""",
        """state start { extract sized as a; select a.kind { 1 => more; 2 => tail; } }
           state more { extract sized as b; goto tail; }
           state tail { extract tail; select (tail.b, tail.c) { (true, 0..100), (false, 0x700..0x800) => end; } }
           state end { extract tail as more; }""",
        bytes([0, 1, 2, 3, 5, 6, 7, 16, 17]),
        30,
    ),
    "a quote that is cut, with a size and an end of its own": (
        """header top { kind: u8; length: u8 length(header + rest); end length; }
           header quoted { words: bit<4>; kind: bit<4>; length: u8 length(header + rest); a: u16; b: u8; c: u8;
             tail: rest; size words as u16 * 2 + 6; end length; valid kind != 9; }
           header last { a: u16; b: u16; }""",
        """state start { extract top; select top.kind { 1 => quoted; } }
           state quoted { extract quoted as q cut 3; select q.kind { 1, 9 => last; } }
           state last { extract last as q.last cut 1; }""",
        bytes([1, 2, 3, 4, 5, 6, 8, 9, 0x11, 0x21, 12, 20, 0]),
        9,
    ),
    "stacks and what is behind a full one": (
        """header tag { more: bit<4>; id: bit<4>; }""",
        """state start { extract tag as tags[..3]; select tags[last].more { 1 => start; 2 => end; } }
           state end { extract tag as after; }""",
        bytes([0x10, 0x11, 0x1F, 0x20, 0x25, 0x33]),
        7,
    ),
    "peeks beyond the room": (
        """header head { length: u8; end length; }
           header one { a: u8; }""",
        """state start { extract head; goto look; }
           state look { select (peek(20), peek(3)) {
             (0x10000..0x20000, _) => one; (0, _) => two; (_, 7) => three; (0x12300, 0) => one; } }
           state one { extract one; select peek(8) { 1 => two; } }
           state two { extract one as second; }
           state three { extract one as third; }""",
        bytes([0, 1, 2, 3, 4, 0x10, 0x12, 0x30, 0xE0, 0xFF]),
        7,
    ),
    "wide claims": (
        """header far { length: u64; end length; }
           header farther { length: bit<128>; end length; size length[7:0] as bit<128>; }
           header last { a: u8; }""",
        """state start { extract far; goto farther; }
           state farther { extract farther; goto last; }
           state last { extract last; }""",
        bytes([0, 0, 0, 0, 0, 0, 0, 16, 17, 24, 32, 255]),
        4,
    ),
}
HOOKED = """
header base { kind: u8; next_kind: u8; }
header extra { a: u8; b: u8; }
parser own { state start { extract base as base[..2]; select base[last].kind { 1 => start; 2 => plain; } }
  state plain { extract extra as plain; }
  value sum: u8 = if plain { plain.a + plain.b } else if base[1] { base[1].kind } else { 7 }; }
parse extra as first after base[0] when base[0].next_kind == 9 and peek(8) == 0;
parse extra as any after base when base[0].next_kind > 100 or len < 3B;
parse extra as behind after first when first.a == 3 and peek(9) != 0;
parse extra as always after behind;
nf own { port a, b; on packet { send b; } }
"""


def written_spec(tmp_path: Path, headers: str, states: str) -> Spec:
    return written(tmp_path, f"{headers}\nparser own {{ {states} }}\nnf own {{ port a, b; on packet {{ send b; }} }}")


def assert_all_outcomes(spec: Spec, alphabet: bytes, least: int) -> None:
    """Each outcome has a packet, and the interpreter finds the same in it; random packets have one outcome each."""
    program, machine, frame = spec.program, interpreter(spec), Frame()
    outcomes = list(parses(program, frame, [smt.ULE(frame.length, LONGEST)]))
    assert len(outcomes) >= least
    rng = random.Random(least)
    tried = [rng.choice([bytes(rng.choices(alphabet, k=n)), rng.randbytes(n)]) for n in range(LONGEST)]
    tried += [bytes(rng.choices(alphabet, k=rng.randrange(1, 12))) for _ in range(30)]
    for parsed in outcomes:
        solver = smt.Solver()
        solver.add(smt.ULE(frame.length, LONGEST), parsed.condition)
        assert solver.check() == smt.sat
        tried.append(data := frame.content(solver.model()))
        assert fits(machine.parse(0, data), parsed), parsed.decisions
    for n, data in enumerate(tried):
        p, parsed = machine.parse(0, data), only(program, data)
        assert_same(p, parsed, program)
        if n % 8 == 0:
            true = [o for o in outcomes if holds(o.condition, data, frame)]
            assert len(true) == 1 and fits(p, true[0])
        assert_leaves(program, p, parsed, edited(program, p, rng))
    assert {o.path for o in outcomes} == set(program.parser.classes) & {tuple(machine.parse(0, d).path) for d in tried}


@pytest.mark.parametrize("name", SPECS)
def test_all_outcomes_of(name: str, tmp_path: Path) -> None:
    headers, states, alphabet, least = SPECS[name]
    assert_all_outcomes(written_spec(tmp_path, headers, states), alphabet, least)


def test_hooks_with_and_without_conditions(tmp_path: Path) -> None:
    spec = written(tmp_path, HOOKED)
    assert_all_outcomes(spec, bytes([0, 1, 2, 3, 9, 101, 128]), 12)
    value = spec.program.parser.values["sum"].value
    function = interpreter(spec).functions["value_0"]
    for data in (b"", b"\1\0", b"\1\0\1\5", b"\2\0\xf0\x20", b"\1\0\2\0\1\2"):
        p = interpreter(spec).parse(0, data)
        assert number(only(spec.program, data).value(value)) == function(p)


def test_outcomes_have_conditions_only_where_there_is_a_choice(tmp_path: Path) -> None:
    headers = "header one { a: u8; size a; tail: rest; } header two { b: u8; }"
    spec = written_spec(
        tmp_path, headers, "state start { extract one; select one.a { 3 => two; } } state two { extract two; }"
    )
    frame = Frame()
    told = [frame.byte(0) == 3, frame.length == 4]
    [parsed] = parses(spec.program, frame, told)
    assert parsed.path == (0, 1) and not parsed.conditions and len(parsed.decisions) == 4
    assert [str(d) for d in parsed.decisions][:2] == ["start: one is there, 3 bytes", "start: (0x3)"]
    both = list(parses(spec.program, frame, told[:1]))
    assert [p.path for p in both] == [(0, 1), (0,), ()]
    assert all(p.conditions for p in both)
    assert list(parses(spec.program, frame, [frame.length == 4, frame.length == 5])) == []


def test_more_sizes_than_can_be_walked_are_refused(tmp_path: Path) -> None:
    headers = "header one { a: u8; size a; tail: rest; }"
    spec = written_spec(tmp_path, headers, "state start { extract one; }")
    frame = Frame()
    assert len(list(parses(spec.program, frame, [smt.ULE(frame.length, MOST_SIZES)]))) == MOST_SIZES + 1
    with pytest.raises(TooManySizes, match="`one` may have more than 64 sizes"):
        list(parses(spec.program, frame, [smt.ULE(frame.length, MOST_SIZES + 1)]))


SUM_HEADERS = """
header outer { x: u8; y: u8; sum: u16 checksum(header, rest); b: u8; }
header address { a: u16; b: u8; c: bit<4>; d: bit<4>; pseudo a, b; }
header upper { a: bit<4>; b: bit<12>; first: u16 checksum(header);
  second: u16 checksum(pseudo, header, rest) zero is none;
  third: u16 checksum(pseudo); fourth: u16 checksum(rest); c: u8; }
header last { length: u16; odd: u8; v: u8; sum: u16 checksum(header); w: u16; end length; }
"""
SUM_STATES = """state start { extract outer; goto address; } state address { extract address; goto upper; }
state upper { extract upper; goto last; } state last { extract last cut 3; }"""


def test_checksums_in_each_other_at_odd_places(tmp_path: Path) -> None:
    spec = written_spec(tmp_path, SUM_HEADERS, SUM_STATES)
    program, machine = spec.program, interpreter(spec)
    rng = random.Random(5)
    for _ in range(300):
        data = bytearray(rng.choices((0, 0, 0xFF, 0xFF, 8, 255, 1, 0x80), k=rng.randrange(18, 36)))
        if rng.random() < 0.5:
            data[20:22] = rng.choice((5, 6, 7, 8, 9, 20)).to_bytes(2, "big")
        p = machine.parse(0, bytes(data))
        parsed = only(program, bytes(data))
        assert_same(p, parsed, program)
        assert_leaves(program, p, parsed, edited(program, p, rng))
