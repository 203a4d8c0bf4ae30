"""Faults in how a packet is parked, read again, shown to the NF and merged with its edits are refuted."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.analysis import specs
from tests.prove.kit import designed, edited

from polysome.backends.system.design import Design
from polysome.backends.system.proof import case_of
from polysome.prove.case import Case
from polysome.prove.fields import fields
from polysome.prove.merge import merge
from polysome.prove.park import park
from polysome.prove.result import Result, Status
from polysome.prove.traffic import traffic

PROVERS = {"park": park, "fields": fields, "merge": merge}

# Short, so that many faults are looked for soon: what is split goes three ways.
SPEC = """
use net.ethernet;
use net.ipv4;
use net.tcp;
use net.udp;
parser small {
  state start {
    extract ethernet;
    select ethernet.ether_type { EtherType.ipv4 => ipv4; }
  }
  state ipv4 {
    extract ipv4;
    select (ipv4.fragment_offset, ipv4.protocol) { (0, IpProtocol.tcp) => tcp; (0, IpProtocol.udp) => udp; }
  }
  state tcp { extract tcp; }
  state udp { extract udp; }
}
nf rewriter {
  port a, b;
  on packet from a {
    if tcp { tcp.dport = tcp.sport; } else if udp { udp.dport = udp.sport; } else { drop "neither"; }
    ethernet.dst = ethernet.src;
    ipv4.dst = ipv4.src;
    send b;
  }
  on packet from b { drop "back"; }
}
"""

# What is put into the text, what is refuted, and words that say why.
FAULTS = {
    "an address of half the cell": ([("md.cell << 11", "md.cell << 10")], "park", "does not begin"),
    "another cell for the READ": (
        [("hdr.bridge.copy = COPY_READ;", "hdr.bridge.copy = COPY_READ; hdr.bridge.seq = hdr.bridge.seq + 1;")],
        "park",
        "different cells",
    ),
    "a READ of four bytes more": (
        [("hdr.bridge.length + 11", "hdr.bridge.length + 15")],
        "park",
        "more than the WRITE",
    ),
    "a READ of four bytes less": ([("hdr.bridge.length + 11", "hdr.bridge.length + 7")], "park", "not ask for all"),
    "a READ of any length": (
        [("md.size = md.size & 0xfffc", "md.size = md.size & 0xffff")],
        "park",
        "READ's length is no",
    ),
    "a pad too small": ([("(COPY_WRITE, 0, 1): pad_3", "(COPY_WRITE, 0, 1): pad_2")], "park", "WRITE's length is no"),
    "a pad that the READ does not count on": (
        [("(COPY_WRITE, 3, 3): pad_5", "(COPY_WRITE, 3, 3): pad_1")],
        "park",
        "more than the WRITE",
    ),
    "frames that are shorter than they claim": (
        [("if (md.missing != 0) {", "if (md.missing == 0xffff) {")],
        "park",
        "",
    ),
    "frames beyond a cell": ([("LONGEST = 2044;", "LONGEST = 2045;")], "park", "beyond its cell"),
    "an IPv4 length without ICRC": ([("md.size + 60", "md.size + 56")], "park", "IPv4 or UDP"),
    "a UDP length of the READ": ([("hdr.roce_udp.length = 40;", "hdr.roce_udp.length = 44;")], "park", "IPv4 or UDP"),
    "a packet that is changed before it is parked": (
        [("md.mirror_copy = COPY_FIELDS;", "md.mirror_copy = COPY_FIELDS; hdr.ethernet.src = 0;")],
        "park",
        "not written whole",
    ),
    "packets that are parked and dropped": (
        [("md.mirror_copy = COPY_FIELDS;", "md.mirror_copy = COPY_FIELDS; ig_dprsr_md.drop_ctl = 1;")],
        "park",
        "the packet is lost",
    ),
    "fields one byte too early": ([("pkt.advance(112);", "pkt.advance(104);")], "fields", "other bytes"),
    "fields beyond what the session lets through": (
        [("pkt.advance(112);", "pkt.advance(120);")],
        "fields",
        "do not reach",
    ),
    "no zeros": ([("hdr.zeros_4.bytes = 0;", "hdr.zeros_4.bytes = 1;")], "fields", "no zeros"),
    "too few zeros": ([("        hdr.zeros_2.setValid();\n", "")], "fields", "no zeros"),
    "the port of the chip": (
        [("hdr.bridge.port = md.port.index;", "hdr.bridge.port = ig_intr_md.ingress_port[7:0];")],
        "fields",
        "tag",
    ),
    "another version": ([("hdr.tag.version = 1;", "hdr.tag.version = 2;")], "fields", "tag"),
    "a seq of all ones": ([("LAST_SEQ = 0x3ffffffe", "LAST_SEQ = 0x3fffffff")], "fields", "seq"),
    "a seq of 0": ([("                value = 1;\n", "                value = 0;\n")], "fields", "seq"),
    "another half of a word": (
        [("dst[15:0] = md.word1[31:16]", "dst[15:0] = md.word1[15:0]")],
        "merge",
        "not what the spec",
    ),
    "a word twice": ([("value = hdr.edits.word1;", "value = hdr.edits.word0;")], "merge", "not what the spec"),
    "a word of another slot": (
        [("put_word1.execute(hdr.bridge.seq[13:0]);", "put_word1.execute(hdr.bridge.seq[14:1]);")],
        "merge",
        "not what the spec",
    ),
    "checksums left alone": ([("        md.update_1 = 1;\n", "")], "merge", "not what the spec"),
    "a sum without the address": (
        [("tcp_sum.subtract({hdr.ipv4.dst});", "tcp_sum.subtract({hdr.ipv4.src});")],
        "merge",
        "not what the spec",
    ),
    "a sum without the old checksum": (
        [("ipv4_sum.subtract({hdr.ipv4.dst, hdr.ipv4.checksum});", "ipv4_sum.subtract({hdr.ipv4.dst});")],
        "merge",
        "not what the spec",
    ),
    "the other zero": (
        [("hdr.ipv4.dst, md.ipv4_residual\n            });", "hdr.ipv4.dst, md.ipv4_residual\n            }, true);")],
        "merge",
        "not what the spec",
    ),
    "UDP's zero": (
        [
            (
                "hdr.ipv4.dst, hdr.udp.dport, md.udp_residual\n            }, true);",
                "hdr.ipv4.dst, hdr.udp.dport, md.udp_residual\n            });",
            )
        ],
        "merge",
        "not what the spec",
    ),
    "a RoCE header that stays": ([("        hdr.aeth.setInvalid();\n", "")], "merge", "another length"),
    "another way back": (
        [("    state pad_6 {\n        pkt.advance(48);", "    state pad_6 {\n        pkt.advance(40);")],
        "merge",
        "6 bytes of pad",
    ),
    "responses of any length": ([("md.beyond[15:2] == 0", "md.beyond[15:3] == 0")], "merge", "another length"),
    "responses that are too short": ([("md.overhead = 53;", "md.overhead = 51;")], "merge", "another length"),
    "responses that never leave": ([("md.taken == 1 &&", "md.taken == 2 &&")], "merge", "leaves"),
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Design:
    return designed(specs.program(tmp_path_factory.mktemp("spec"), SPEC))


def first(case: Case, name: str) -> Result | None:
    return next((r for r in PROVERS[name](traffic(case)) if r.status != Status.proved), None)


@pytest.mark.parametrize("name", PROVERS)
def test_what_is_emitted_is_proved(made: Design, name: str) -> None:
    found = list(PROVERS[name](traffic(case_of(made))))
    assert found and {r.status for r in found} == {Status.proved}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_refuted(made: Design, fault: str) -> None:
    edits, name, why = FAULTS[fault]
    found = first(edited(made, *edits), name)
    assert found is not None and found.status == Status.refuted and why in found.why, found
    assert found.packet is not None


def test_a_session_that_is_cut_too_early_or_too_late_is_refuted(made: Design) -> None:
    for more in (-1, 1):
        whole = case_of(made)
        case = replace(whole, sessions=tuple(most + more for most in whole.sessions))
        found = first(case, "fields")
        assert found is not None and found.status == Status.refuted, more
