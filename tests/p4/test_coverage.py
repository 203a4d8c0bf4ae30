"""What is counted of a program: each kind of point, both sides of it, and exactly as often as it happens."""

from __future__ import annotations

import pytest
from tests.p4.chips import TOFINO
from tests.p4.skeleton import program
from tests.p4.soft import covered, run

from polysome.p4.coverage import Coverage
from polysome.p4.load import load
from polysome.p4.points import Points
from polysome.p4.translate.translate import translate

# Frames are bytes a, b, and for some more of them.
SMALL = program(
    types="header io_h { bit<8> a; bit<8> b; } header more_h { bit<8> x; }",
    inner="io_h io; more_h more;",
    metadata="bit<8> up; bit<8> known; bit<8> low; bit<16> count;",
    start="transition parse_io;",
    states="""
    state parse_io {
        pkt.extract(hdr.io);
        md.up = 0;
        md.known = 0;
        md.low = 0;
        transition select(hdr.io.a) {
            1: one;
            2 &&& 0xfe: more;
            4: ahead;
            5: refuse;
            7: accept;
        }
    }
    state one { md.up = 1; transition accept; }
    state more { pkt.extract(hdr.more); transition accept; }
    state ahead { transition select(pkt.lookahead<bit<8>>()) { 9: one; 10: past; 11: beyond; default: accept; } }
    state past { pkt.advance(8); transition accept; }
    state beyond { pkt.advance(16); transition accept; }
    state refuse { transition reject; }""",
    locals="""
    Register<bit<16>, bit<1>>(2) counts;
    RegisterAction<bit<16>, bit<1>, bit<16>>(counts) bump = {
        void apply(inout bit<16> value, out bit<16> count) {
            if (value == 2) { value = 0; } else { value = value + 1; }
            count = value;
        }
    };
    RegisterAction<bit<16>, bit<1>, bit<16>>(counts) clear = { void apply(inout bit<16> value) { value = 0; } };
    action know(bit<8> what) { md.known = what; }
    action forget() { md.known = 0; }
    action lower() { md.low = 1; }
    table names {
        key = { hdr.io.b: exact; }
        actions = { know; forget; NoAction; }
        const default_action = NoAction();
    }
    table fixed {
        key = { hdr.io.b: exact; }
        actions = { lower; forget; }
        const entries = { (1): lower(); (2): forget(); }
        const default_action = forget();
    }
    table settable {
        key = { hdr.io.b: exact; }
        actions = { lower; NoAction; }
    }
    action send() {
        tm.ucast_egress_port = 2;
        if (md.low == 1) { md.up = 2; }
    }""",
    apply="""
    names.apply();
    fixed.apply();
    settable.apply();
    if (hdr.io.b == 1 && hdr.io.a == 1) {
        md.count = bump.execute(0);
    } else if (hdr.io.b == 200) {
        clear.execute(0);
    }
    send();
    if (md.known == 9) {
        send();
    }""",
    deparser="if (md.up == 1) { hdr.io.a = 0xff; }",
    egress_headers="io_h io;",
    egress_start="transition select(pkt.lookahead<bit<8>>()) { 0xff: bright; _: accept; }",
    egress_states="state bright { pkt.extract(hdr.io); transition accept; }",
    egress_apply="if (hdr.io.isValid()) { hdr.io.b = 0; }",
    egress_deparser="if (hdr.io.b == 0) { hdr.io.b = 1; }",
)
STATE, IF, BUMP = "ingress parser, state ", "ingress, if ", "ingress, register action Ingress.bump"
ENTRIES = """
port 1
port 2
add Ingress.names know 1 : 9
add Ingress.names forget 2
add Ingress.settable lower 1
add Ingress.settable NoAction 2
"""


def counts(*frames: str, before: str = "") -> dict[str, int]:
    """What these frames reach, in hex digits; outcomes that never happened are not there."""
    lines = "".join(f"in 1 {n} {frame.replace(' ', '')}\n" for n, frame in enumerate(frames))
    return happened(covered(SMALL, f"{ENTRIES}{before}\n{lines}run 99"))


def happened(found: Coverage) -> dict[str, int]:
    return {title: n for title, n in zip(found.titles, found.counts, strict=True) if n}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("frame", "expected"),
    [
        ("", {"parse_io: the frame ends"}),
        ("01", {"parse_io: the frame ends"}),
        ("01 00", {"parse_io: 1: one", "one: accept"}),
        ("02 00", {"parse_io: 2 &&& 0xfe: more", "more: the frame ends"}),
        ("03 00 00", {"parse_io: 2 &&& 0xfe: more", "more: accept"}),
        ("04 00", {"parse_io: 4: ahead", "ahead: the frame ends"}),
        ("04 00 09", {"parse_io: 4: ahead", "ahead: 9: one", "one: accept"}),
        ("04 00 08", {"parse_io: 4: ahead", "ahead: default: accept"}),
        ("04 00 0a", {"parse_io: 4: ahead", "ahead: 10: past", "past: accept"}),
        ("04 00 0b", {"parse_io: 4: ahead", "ahead: 11: beyond", "beyond: the frame ends"}),
        ("04 00 0b 00", {"parse_io: 4: ahead", "ahead: 11: beyond", "beyond: accept"}),
        ("05 00", {"parse_io: 5: refuse", "refuse: reject"}),
        ("06 00", {"parse_io: no case matches"}),
        ("07 00", {"parse_io: 7: accept"}),
    ],
)
def test_a_frame_counts_the_transitions_that_it_takes(frame: str, expected: set[str]) -> None:
    found = {t: n for t, n in counts(frame).items() if t.startswith(STATE)}
    assert found == {f"{STATE}{what}": 1 for what in expected | {"start: parse_io"}}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("frame", "names", "fixed", "settable"),
    [
        ("07 00", "NoAction by default", "forget by default", "the default action"),
        ("07 01", "know by an entry", "lower by an entry", "lower by an entry"),
        ("07 02", "forget by an entry", "forget by an entry", "NoAction by an entry"),
    ],
)
def test_tables_count_actions_by_what_gave_them(frame: str, names: str, fixed: str, settable: str) -> None:
    found = {t: n for t, n in counts(frame, frame).items() if ", table " in t}
    tables = {"names": names, "fixed": fixed, "settable": settable}
    assert found == {f"ingress, table Ingress.{table}: {what}": 2 for table, what in tables.items()}


@pytest.mark.slow
def test_conditions_count_both_sides_wherever_the_code_is_put() -> None:
    """An action that is called in two places is one piece of text, and one point."""
    one = counts("01 01")
    assert one[f"{IF}(hdr.io.b == 1 && hdr.io.a == 1): true"] == 1
    assert f"{IF}(hdr.io.b == 200): true" not in one and f"{IF}(hdr.io.b == 200): false" not in one
    assert one[f"{IF}(md.low == 1): true"] == 2 and one[f"{IF}(md.known == 9): true"] == 1
    other = counts("07 01", "07 c8", "07 c8")
    assert other[f"{IF}(hdr.io.b == 1 && hdr.io.a == 1): false"] == 3
    assert other[f"{IF}(hdr.io.b == 200): true"] == 2 and other[f"{IF}(hdr.io.b == 200): false"] == 1
    assert other[f"{IF}(md.low == 1): true"] == 2 and other[f"{IF}(md.low == 1): false"] == 2


@pytest.mark.slow
def test_register_actions_count_that_they_run_and_their_branches() -> None:
    found = counts("01 01", "01 01", "01 01", "01 01", "07 c8")
    assert found[f"{BUMP}: runs"] == 4
    assert found[f"{BUMP}, if (value == 2): true"] == 1 and found[f"{BUMP}, if (value == 2): false"] == 3
    assert found["ingress, register action Ingress.clear: runs"] == 1
    assert f"{BUMP}: runs" not in counts("07 c8")


@pytest.mark.slow
def test_deparsers_and_egress_are_counted() -> None:
    found = counts("01 00", "07 00", "07 00")
    expected = {
        "ingress deparser, if (md.up == 1): true": 1,
        "ingress deparser, if (md.up == 1): false": 2,
        "egress parser, state start: 0xff: bright": 1,
        "egress parser, state start: _: accept": 2,
        "egress parser, state bright: accept": 1,
        "egress, if (hdr.io.isValid()): true": 1,
        "egress, if (hdr.io.isValid()): false": 2,
        "egress deparser, if (hdr.io.b == 0): true": 3,
    }
    assert {t: n for t, n in found.items() if t.startswith(("ingress deparser", "egress"))} == expected


@pytest.mark.slow
def test_what_never_ran_is_said_with_its_line() -> None:
    frames = [
        f"{a:02x}{b:02x}{x}" for a in range(8) for b in (0, 1, 2, 200) for x in ("", "09", "08", "0a", "0b", "0b00")
    ]
    lines = "".join(f"in 1 {n} {frame}\n" for n, frame in enumerate(["01", *frames]))
    found = covered(SMALL, f"{ENTRIES}{lines}run 9999")
    missing = {found.titles[o.number] for o in found.missing}
    assert missing == {"egress deparser, if (hdr.io.b == 0): false"}
    line = 1 + SMALL[: SMALL.index("if (hdr.io.b == 0)")].count("\n")
    assert f"  {line:>5}  egress deparser, if (hdr.io.b == 0): false" in found.lines()
    total = len(found.counts)
    assert found.lines()[0].startswith(f"reached {total - 1} of {total} outcomes")
    points = found.to_json()["points"]
    assert [p["what"] for p in points if not p["count"]] == [found.titles[o.number] for o in found.missing]


def test_without_being_asked_nothing_is_counted() -> None:
    loaded = load("test.p4", SMALL, TOFINO)
    assert "coverage" not in translate(loaded, TOFINO)
    assert "coverage_.count(0)" in translate(loaded, TOFINO, Points(loaded))


@pytest.mark.slow
def test_counting_changes_nothing() -> None:
    script = f"{ENTRIES}{''.join(f'in 1 {n} {n % 8:02x}{n % 3:02x}09{chr(10)}' for n in range(40))}run 99\ndrops"
    assert run(SMALL, script) == run(SMALL, script, counted=True)


def test_titles_are_names() -> None:
    twice = program(
        locals="action a() { tm.ucast_egress_port = 1; }",
        apply="if (hdr.ethernet.ether_type == 1) { a(); } if (hdr.ethernet.ether_type == 1) { a(); }",
    )
    points = Points(load("test.p4", twice, TOFINO))
    titles = Coverage(points, twice, (0,) * len(points.outcomes)).titles
    assert len(set(titles)) == len(titles)
    assert f"{IF}(hdr.ethernet.ether_type == 1): true (2)" in titles


def test_a_frame_cannot_end_where_the_parser_has_looked() -> None:
    titles = covered(SMALL, "run 1").titles
    ends = {title for title in titles if title.endswith("the frame ends")}
    assert ends == {f"{STATE}{name}: the frame ends" for name in ("parse_io", "more", "ahead", "beyond")}
