"""Which classes travel as fields, and what frames have that carry all headers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.analysis.specs import EXAMPLES, edits, fields, paths, program
from tests.analysis.test_frames import nf

from polysome.analysis.framed import framed_classes
from polysome.analysis.layout import WIRE, Carry, ClassLayout, layout
from polysome.analysis.relevance import passing
from polysome.ir import program as ir
from polysome.semantics.check import check
from polysome.syntax.diagnostics import Report

TCP, UDP, TAGGED = ("ethernet", "ipv4", "tcp"), ("ethernet", "ipv4", "udp"), ("ethernet", "vlan[0]", "ipv4", "tcp")


def framed(p: ir.Program, *headers: str, carry: Carry = "fields") -> ClassLayout | None:
    found = [c for c in framed_classes(p, carry) if headers in paths(p, c.classes)]
    return found[0] if found else None


@pytest.mark.parametrize(
    "statement",
    [
        "if payload.len > 3B { udp.dport = 1; }",
        "if udp { pop udp; }",
        "if udp { truncate 100B; }",
        "if ipv4 { emit ethernet { dst: ethernet.src, src: ethernet.dst } payload packet_from(ipv4, 64B) to a; }",
    ],
)
def test_what_bytes_and_edits_do_not_say_goes_whole(statement: str, tmp_path: Path) -> None:
    p = program(tmp_path, nf(f"    if udp {{ {statement} }}\n    send b;"))
    assert framed(p, *UDP) is None
    assert framed(p, *TCP) is not None, "only of the classes that get there"
    assert set(framed_classes(p)) <= set(layout(p).classes)


@pytest.mark.parametrize(
    ("policy", "split"),
    [
        ("fifo;", True),
        ("fifo; serve 1Mbps; buffer 1MB; when full drop;", False),
        ("police 1Mbps, 2KB; classes 10; idle 1s; when full drop;", False),
    ],
)
def test_copies_that_a_schedule_treats_by_themselves_are_of_whole_packets(
    policy: str, split: bool, tmp_path: Path
) -> None:
    schedule = f"schedule {{ class flow; {policy} }}"
    assert bool(framed_classes(program(tmp_path, nf("    send {a, b};", schedule)))) == split
    assert framed_classes(program(tmp_path, nf("    send b;", schedule)))


def test_no_mask_of_more_than_64_headers(tmp_path: Path) -> None:
    p = program(tmp_path, nf("    send b;"))
    parser = replace(p.parser, instances=p.parser.instances * (64 // len(p.parser.instances) + 1))
    assert framed_classes(p) and not framed_classes(replace(p, parser=parser))


def test_frames_with_all_headers(tmp_path: Path) -> None:
    p = program(
        tmp_path,
        nf('    if ipv4 and tcp { ipv4.ttl = 3; } if udp { require payload[2..4] == 7 else drop "no"; }\n    send b;'),
    )
    tcp, udp = framed(p, *TCP, carry="headers"), framed(p, *UDP, carry="headers")
    tagged = framed(p, *TAGGED, carry="headers")
    assert tcp is not None and udp is not None and tagged is not None
    assert fields(p, tcp) == [("ethernet", 0, 14, 0), ("ipv4", 0, 20, 14), ("tcp", 0, 20, 34)]
    assert fields(p, udp)[2:] == [("udp", 0, 8, 34), ("payload", 2, 2, 42)]
    assert [s[0] for s in fields(p, tagged)] == [*TAGGED] and tagged.number != tcp.number
    assert edits(tcp) == edits(tagged) == [("ipv4.ttl", 1, 0)]
    fewer = framed(p, *TCP)
    assert fewer is not None and fewer == framed(p, *TAGGED) and fewer.needs == tcp.needs and not fewer.fields


def test_a_header_that_may_be_cut_is_not_carried(tmp_path: Path) -> None:
    p = program(tmp_path, nf("    send b;"))
    quote = next(c for c in p.parser.classes if any(p.parser.instances[i].cut is not None for i in c))
    names = tuple(p.parser.instances[i].name for i in quote)
    assert framed(p, *names) is not None and framed(p, *names, carry="headers") is None


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_every_class_has_one_layout_with_all_headers(path: Path) -> None:
    p = check(path, Report())
    found = layout(p, "headers").classes
    union = 0
    for one in found:
        assert one.classes and not one.classes & union
        union |= one.classes
        if one.number is None:
            assert one.whole is not None and not one.fields and not one.edits
            continue
        (headers,) = paths(p, one.classes)
        sizes = {i.name: i.header.fixed for i in p.parser.instances}
        carried = [(name, sizes[name]) for name in headers if sizes[name]]
        starts = {s[0]: s[2] for s in fields(p, one) if s[1] == 0}
        assert all(starts[name] >= size for name, size in carried)
        assert one.fields_size >= sum(size for _, size in carried)
    assert union == passing(p)
    numbers = [one.number for one in found if one.number is not None]
    assert numbers == list(range(1, len(numbers) + 1)) and len(numbers) <= WIRE.class_numbers
