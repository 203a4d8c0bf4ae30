"""What is emitted for every example is proved; a fault put into the P4's text is refused, with a packet."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.analysis import specs
from tests.backends.examples import EXAMPLES, program
from tests.plan.test_conditions import HTTP3
from tests.prove.kit import designed, edited, example, failures

from polysome.analysis.layout import Carry
from polysome.backends.system.proof import case_of
from polysome.plan.design import design
from polysome.plan.split import fitting_site
from polysome.prove.case import Case
from polysome.prove.obligations import OBLIGATIONS, prove
from polysome.prove.result import Status
from polysome.prove.split import assumed
from polysome.prove.traffic import traffic
from polysome.testing.judge.parsing import parse

NAMES = sorted(path.stem for path in EXAMPLES.glob("*/*.nf"))
# Each chip, and each thing that may be carried; `make proofs` proves all examples for all of them.
SHAPES: list[tuple[str, str, Carry]] = [
    ("firewall", "tofino", "headers"),
    ("dns_guard", "tofino", "fields"),
    ("load_balancer", "tofino2", "headers"),
    ("load_balancer", "tofino2", "fields"),
]


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in ("load_balancer", "bridge") else pytest.mark.slow) for name in NAMES],
)
def test_every_example_is_proved(name: str) -> None:
    made = example(name, "software")
    found = list(prove(case_of(made), 600))
    assert [r for r in found if r.status != Status.proved] == []
    counted = {o.name: sum(r.obligation == o.name for r in found) for o in OBLIGATIONS}
    assert counted["whole"] > 0 and counted["converse"] == len(made.ways)
    assert all(counted.values()) == bool(made.ways)
    for result, way in zip((r for r in found if r.obligation == "converse"), made.ways, strict=True):
        assert result.packet is not None
        assert tuple(parse(made.program, 0, result.packet).path) == way.instances


@pytest.mark.parametrize("name", NAMES)
def test_a_switch_that_only_forwards_is_proved(name: str) -> None:
    """Frames of edits, and of RDMA servers, are nothing to it; and a program that parks is not proved to forward."""
    spec = program(name)
    made = design(spec, fitting_site(spec, "tofino", architecture="whole"))
    found = list(prove(case_of(made), 600))
    assert [r for r in found if r.status != Status.proved] == []
    proved = {r.obligation for r in found}
    assert proved >= {"whole", "stations", "returned"} and not proved & {"park", "requests", "merge", "state"}
    for fault in (
        ("hdr.bridge.copy = COPY_WHOLE;", "hdr.bridge.copy = COPY_OUT;"),
        ("ig_tm_md.ucast_egress_port = md.nf_port;", "ig_tm_md.ucast_egress_port = 0;"),
        ("default: accept;", "default: returned;"),
    ):
        assert failures(edited(made, fault)), fault


@pytest.mark.slow
@pytest.mark.parametrize(("name", "target", "carry"), SHAPES)
def test_shapes_are_proved_on_chips(name: str, target: str, carry: Carry) -> None:
    assert failures(case_of(example(name, target, carry)), 600) == []


def test_what_follows_a_header_is_looked_at(tmp_path: Path) -> None:
    spec = specs.program(tmp_path, HTTP3.format(condition="udp.dport == 443 and peek(1) == 0"))
    made = designed(spec)
    assert failures(case_of(made)) == []
    bare = edited(made, (", pkt.lookahead<bit<1>>()) {", ") {"), ("(0x1bb, 0x0):", "0x1bb:"))
    found = {(r.obligation, r.status) for r in failures(bare)}
    assert ("forward", Status.refuted) in found


def refuted(case: Case, name: str) -> bytes:
    """The packet of the first result of an obligation that is refuted."""
    (obligation,) = (o for o in OBLIGATIONS if o.name == name)
    found = next((r for r in obligation.results(traffic(case)) if r.status == Status.refuted), None)
    assert found is not None and found.packet is not None
    return found.packet


def ip(packet: bytes) -> bytes:
    """From the IPv4 header on, behind a tag or not."""
    return packet[14 if packet[12:14] == b"\x08\x00" else 18 :]


# Of the load balancer: what is put into the text, what is refuted, and how its packet is told.
FAULTS = {
    "IPv4 with options on TCP's way": (
        [("(0x4, 0x5, 0x0 &&& 0xf800, 0x0): parse_ipv4_2;", "(0x4, _, 0x0 &&& 0xf800, 0x0): parse_ipv4_2;")],
        "forward",
        lambda p: ip(p)[0] & 15 > 5,
    ),
    "first fragments": (
        [("(0x4, 0x5, 0x0 &&& 0xf800, 0x0): parse_ipv4_2;", "(0x4, 0x5, 0x0 &&& 0xf800, _): parse_ipv4_2;")],
        "order",
        bool,
    ),
    "later fragments": (
        [("(0x0, 0x6): parse_ipv4_tcp;", "(_, 0x6): parse_ipv4_tcp;")],
        "forward",
        lambda p: bool(int.from_bytes(ip(p)[6:8], "big") & 0x1FFF),
    ),
    "a version that is not 4": (
        [("(0x4, 0x5, 0x0 &&& 0xf800, 0x0): parse_ipv4_2;", "(_, 0x5, 0x0 &&& 0xf800, 0x0): parse_ipv4_2;")],
        "forward",
        lambda p: ip(p)[0] >> 4 != 4,
    ),
    "too short to be split": (
        [("            (_, _, 0x0 &&& 0xffc0, _): accept;\n", "")],
        "forward",
        lambda p: int.from_bytes(ip(p)[2:4], "big") < 64,
    ),
    "SCTP for TCP": (
        [("(0x0, 0x6): parse_ipv4_tcp;", "(0x0, 0x84): parse_ipv4_tcp;")],
        "forward",
        lambda p: ip(p)[9] == 0x84,
    ),
    "what follows by another field": (  # so that AH may follow, which has many sizes
        [("select(hdr.ipv4.fragment_offset, hdr.ipv4.protocol)", "select(hdr.ipv4.fragment_offset, hdr.ipv4.ttl)")],
        "forward",
        lambda p: ip(p)[9] != 6,
    ),
    "a way that is never taken": ([("(0x0, 0x6): parse_ipv4_tcp;", "(0x0, 0xfe): parse_ipv4_tcp;")], "converse", bool),
    "another class": ([("hdr.bridge.parse_class = 1;", "hdr.bridge.parse_class = 2;")], "forward", bool),
    "a TCP header that is too short": (
        [("        5: end_ipv4_tcp;", "        4: end_ipv4_tcp;\n            5: end_ipv4_tcp;")],
        "forward",
        lambda p: ip(p)[32] >> 4 == 4,
    ),
    "another length": ([(".total_length + 14;", ".total_length + 15;")], "forward", bool),
    "whole packets with a header more": (
        [("hdr.bridge.copy = COPY_WHOLE;", "hdr.bridge.copy = COPY_WHOLE; hdr.ethernet.setInvalid();")],
        "whole",
        bool,
    ),
    "whole packets with another source": (
        [("hdr.bridge.copy = COPY_WHOLE;", "hdr.bridge.copy = COPY_WHOLE; hdr.ethernet.src = 0;")],
        "whole",
        bool,
    ),
    "whole packets dropped": (
        [("send_whole(EVENT_WHOLE);", "drop(EVENT_WHOLE);")],
        "whole",
        bool,
    ),
    "packets cut in a header dropped": (
        [("                send_whole(EVENT_CUT);", "                drop(EVENT_CUT);")],
        "whole",
        bool,
    ),
    "somebody who speaks for the switch": (
        [("                from_the_switch.apply();\n", "")],
        "whole",
        lambda p: p[6:12] == bytes.fromhex("02706f6c7901"),
    ),
    "whole packets in fields frames": ([("tag(1, EVENT_WHOLE", "tag(0, EVENT_WHOLE")], "whole", bool),
    "a bucket by what flows do not share": (
        [("{hdr.ipv4.src, hdr.ipv4.dst, hdr.tcp.sport", "{hdr.ipv4.identification, hdr.ipv4.src, hdr.ipv4.dst")],
        "order",
        bool,
    ),
    "a bucket by less than flows share": (
        [("{hdr.ipv4.src, hdr.ipv4.dst, hdr.tcp.sport", "{hdr.ipv4.src, hdr.tcp.sport")],
        "order",
        bool,
    ),
    "one bucket for all packets of a way": ([("                    take_class_1();\n", "")], "order", bool),
    "a bucket by another part of the packet": (
        [
            (
                "key = {\n            md.port.role: exact;\n            bucket",
                "key = {\n            md.port.role: exact;\n            hdr.ethernet.src[11:0]",
            )
        ],
        "order",
        bool,
    ),
}  # fmt: skip


LONG = "what follows by another field"


@pytest.mark.parametrize("fault", [pytest.param(f, marks=[pytest.mark.slow] * (f == LONG)) for f in FAULTS])
def test_a_fault_is_refuted_with_a_packet(fault: str) -> None:
    edits, obligation, told = FAULTS[fault]
    packet = refuted(edited(example("load_balancer"), *edits), obligation)
    assert told(packet), packet.hex()  # type: ignore[operator]


def test_a_proof_that_runs_out_of_time_is_none() -> None:
    found = list(prove(case_of(example("load_balancer")), 0.0))
    assert {r.obligation for r in found if r.status == Status.undecided} == {o.name for o in OBLIGATIONS}


def test_no_premise_is_empty() -> None:
    """A way that no packet can take would be proved of nothing."""
    case = case_of(example("load_balancer"))
    assert all(assumed(case, way) for way in case.ways)
    impossible = replace(case.ways[0], steps=tuple(
        replace(s, conditions=tuple(replace(c, low=1, high=0) for c in s.conditions)) for s in case.ways[0].steps
    ))  # fmt: skip
    (result,) = (r for r in prove(replace(case, ways=(impossible,)), 100) if r.obligation == "converse")
    assert result.status == Status.refuted and "no packet" in result.why
