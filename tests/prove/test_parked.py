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
from polysome.prove.probes import probes
from polysome.prove.requests import requests
from polysome.prove.result import Result, Status
from polysome.prove.returned import returned
from polysome.prove.stations import stations
from polysome.prove.traffic import traffic
from polysome.prove.whole import whole

PROVERS = {"park": park, "requests": requests, "fields": fields, "merge": merge}
PROVERS |= {"whole": whole, "stations": stations, "returned": returned, "probes": probes}

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
    "edits of some lengths are refused": (
        [("0x0600 &&& 0xfe00: accept;", "0x0400 &&& 0xfc00: accept;")],
        "park",
        "may be refused",
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
        "no frame of edits put there",
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
        "a pad of 6 B",
    ),
    "responses of any length": ([("md.beyond[15:2] == 0", "md.beyond[15:3] == 0")], "merge", "another length"),
    "responses that are too short": ([("md.overhead = 53;", "md.overhead = 51;")], "merge", "another length"),
    "responses that never leave": ([("md.taken == 1 &&", "md.taken == 2 &&")], "merge", "leaves"),
    "responses with trailers": ([("md.beyond[15:2] == 0", "md.beyond[14:1] == 0")], "merge", "of a trailer leaves"),
    "the verdict of another frame": (
        [("value = hdr.tag_end.port;", "value = hdr.tag_end.length;")],
        "merge",
        "verdict",
    ),
    "a verdict of another slot": (
        [("take_verdict.execute(hdr.bridge.seq[13:0])", "take_verdict.execute(hdr.bridge.seq[14:1])")],
        "merge",
        "verdict",
    ),
    "a request without its checksum": (
        [("if (hdr.roce_ipv4.isValid()) {", "if (hdr.bth.isValid() && hdr.reth.key == 0) {")],
        "requests",
        "checksum",
    ),
    "all ones for the checksum of a request": (
        [
            (
                "hdr.roce_ipv4.src, hdr.roce_ipv4.dst\n            });",
                "hdr.roce_ipv4.src, hdr.roce_ipv4.dst\n            }, true);",
            )
        ],
        "requests",
        "checksum",
    ),
    "a checksum without the server's address": (
        [("hdr.roce_ipv4.src, hdr.roce_ipv4.dst\n", "hdr.roce_ipv4.src, hdr.roce_ipv4.src\n")],
        "requests",
        "checksum",
    ),
    "another time to live": ([("hdr.roce_ipv4.ttl = 64;", "hdr.roce_ipv4.ttl = 65;")], "requests", "from 20 on"),
    "no acknowledgement": (
        [("hdr.bth.ack_request = 0x80;", "hdr.bth.ack_request = 0;")],
        "requests",
        "against its PSN",
    ),
    "an acknowledgement of every second request": (
        [("md.psn[4:0] == 0", "md.psn[0:0] == 0")],
        "requests",
        "against its PSN",
    ),
    "from the server": ([("hdr.roce_ipv4.src = SWITCH_IP;", "hdr.roce_ipv4.src = 1;")], "requests", "switch's IP"),
    "from another station": (
        [("hdr.roce_ethernet.src = SWITCH_MAC;", "hdr.roce_ethernet.src = 1;")],
        "requests",
        "switch's MAC",
    ),
    "a server's key as its address": ([("roce_ipv4.dst = ip;", "roce_ipv4.dst = key;")], "requests", "`ip`"),
    "half a number": ([("bth.queue_pair = number;", "bth.queue_pair = number & 0xffff;")], "requests", "`number`"),
    "what is said of another queue pair": (
        [
            (
                "key = { hdr.bridge.queue_pair: exact; }\n        actions = { remote",
                "key = { hdr.bridge.length: exact; }\n        actions = { remote",
            )
        ],
        "requests",
        "another queue pair",
    ),
    "a PSN too few": (
        [("psn = value;\n            value = value + 1;", "psn = value;\n            value = value + 2;")],
        "requests",
        "PSN",
    ),
    "a PSN of the seq's": ([("hdr.bth.psn = md.psn[23:0];", "hdr.bth.psn = md.psn[24:1];")], "requests", "PSN"),
    "a whole frame that keeps its tag": (
        [("        hdr.outer.setInvalid();\n        hdr.tag.setInvalid();", "        hdr.outer.setInvalid();")],
        "returned",
        "changed",
    ),
    "own frames that are none": ([("(1, 2): returned;", "(1, 2): accept;")], "returned", "dropped"),
    "a verdict that is a queue pair": (
        [("md.verdict = hdr.tag_end.port;", "md.verdict = hdr.tag_end.queue_pair;")],
        "returned",
        "verdict",
    ),
    "copies to nobody": ([("ig_tm_md.mcast_grp_a = group;", "md.backup = group;")], "returned", "verdict"),
    "edits that go round for ever": (
        [("hdr.retry.tries = md.tries + 1;", "hdr.retry.tries = md.tries;")],
        "park",
        "round for ever",
    ),
    "edits that go round and are lost": (
        [("RETRY_READ: has_slot;", "RETRY_DOWN: has_slot;"), ("RETRY_DOWN: down;", "RETRY_READ: down;")],
        "park",
        "never becomes",
    ),
    "edits that never were put into their slot": (
        [("RETRY_SLOT: split_ethernet;", "RETRY_SLOT: has_slot;")],
        "merge",
        "leaves",
    ),
}
FAULTS |= {
    "edits that are never in their slot": (
        [
            (
                "== 0 && md.has_slot == 0) {\n                    md.in_the_way",
                "== 0 && md.has_slot == 1) {\n                    md.in_the_way",
            )
        ],
        "merge",
        "no frame of edits put there",
    ),
    "a WRITE to the primary's port that is the backup's": (
        [("park_it(md.backup_port);", "park_it(md.server_port);")],
        "requests",
        "WRITE goes to another port",
    ),
    "a READ by no table": (
        [("} else if (md.kind == KIND_EDITS || md.kind == KIND_SWEEP) {", "} else if (md.kind == KIND_SWEEP) {")],
        "requests",
        "READ goes to another port",
    ),
    "stations that get others' frames": (
        [
            (
                "pkt.extract(hdr.station);\n        transition others;",
                "pkt.extract(hdr.outer);\n        transition others;",
            )
        ],
        "stations",
        "",
    ),
    "frames in the switch's name": (
        [("            SWITCH_IP: accept;\n            default: to_a_station;", "            default: to_a_station;")],
        "stations",
        "name",
    ),
    "tagged frames in the switch's name": (
        [("            0x8100: others_tagged;\n", "            0x8100: to_a_station;\n")],
        "stations",
        "name",
    ),
    "frames in the switch's name with another tag": (
        [("            0x88a8: others_tagged;\n", "")],
        "stations",
        "name",
    ),
    "frames in the switch's name, tagged twice": (
        [("            0x88a8: others_tagged_2;\n", "            0x88a8: to_a_station;\n")],
        "stations",
        "name",
    ),
    "frames with three tags": (
        [("            0x8100: accept;\n            0x88a8: accept;\n", "            0x8100: accept;\n")],
        "stations",
        "name",
    ),
    "servers speak to the NF": (
        [
            (
                "            ETHER_TYPE_SPLIT: accept;\n            0x8100: others_tagged;\n",
                "            0x8100: others_tagged;\n",
            )
        ],
        "stations",
        "name",
    ),
    "groups by another bit": (
        [("hdr.station.dst[40:40] == 1", "hdr.station.dst[41:41] == 1")],
        "stations",
        "not as a table says",
    ),
    "frames to a group that go to one": (
        [("hdr.station.dst[40:40] == 1", "hdr.station.dst[40:40] == 0")],
        "stations",
        "not as a table says",
    ),
    "groups by the port where frames leave": (
        [
            (
                "key = { ig_intr_md.ingress_port: exact; }\n        actions = { flood_station",
                "key = { ig_tm_md.ucast_egress_port: exact; }\n        actions = { flood_station",
            )
        ],
        "stations",
        "",
    ),
    "groups by the role of the port": (
        [
            (
                "key = { ig_intr_md.ingress_port: exact; }\n        actions = { flood_station",
                "key = { md.port.role: exact; }\n        actions = { flood_station",
            )
        ],
        "stations",
        "",
    ),
    "frames to a group and to one": (
        [
            (
                "mcast_grp_a = group;\n        md.event",
                "mcast_grp_a = group;\n        send(ig_intr_md.ingress_port);\n        md.event",
            )
        ],
        "stations",
        "not as a table says",
    ),
    "floods in the switch's name": (
        [
            (
                "            SWITCH_IP: accept;\n            default: to_a_station;",
                "            SWITCH_IP: to_a_group;\n            default: to_a_station;",
            ),
            (
                "    state to_a_station {",
                "    state to_a_group {\n"
                "        transition select(hdr.station.dst[40:40]) {\n"
                "            1: to_a_station;\n"
                "            default: accept;\n"
                "        }\n"
                "    }\n"
                "    state to_a_station {",
            ),
        ],
        "stations",
        "name",
    ),
    "groups that get another group's frames": (
        [
            (
                "        ig_tm_md.mcast_grp_a = group;\n        md.event = EVENT_FORWARDED",
                "        ig_tm_md.mcast_grp_a = group + 1;\n        md.event = EVENT_FORWARDED",
            )
        ],
        "stations",
        "not as a table says",
    ),
    "no frame to a group": (
        [("                    floods.apply();\n", "                    drop(EVENT_UNKNOWN_STATION);\n")],
        "stations",
        "no table was asked",
    ),
    "answers to another port": (
        [("hdr.roce_udp.dport) {", "hdr.roce_udp.sport) {")],
        "stations",
        "passes for an answer",
    ),
    "answers to another IP": (
        [("SWITCH_IP: roce_udp;", "0xc613ff00 &&& 0xffffff00: roce_udp;")],
        "stations",
        "passes for an answer",
    ),
    "answers to another MAC": (
        [("(SWITCH_MAC[15:0], ETHER_TYPE_IPV4): roce_ipv4;", "(_, ETHER_TYPE_IPV4): roce_ipv4;")],
        "stations",
        "",
    ),
    "answers by their PSN": (
        [("            hdr.bth.queue_pair: exact;", "            hdr.bth.psn: exact;")],
        "stations",
        "passes for an answer",
    ),
    "other servers' frames are dropped": (
        [("            default: others;\n", "            default: accept;\n")],
        "stations",
        "dropped",
    ),
    "sweeps by anybody": (
        [
            ("            ROLE_GENERATOR: generator;", "            ROLE_GENERATOR: forward;"),
            ("            default: forward;", "            default: generator;"),
        ],
        "stations",
        "answer",
    ),
}
FAULTS |= {
    "packets that are all there, and not written": (
        [("md.claimed = hdr.bridge.length + 4;", "md.claimed = hdr.bridge.length + 5;")],
        "park",
        "all there is not written",
    ),
    "short packets that go to a server as they are": (
        [("drop(EVENT_SHORT);", "md.event = EVENT_SHORT;")],
        "park",
        "as it is",
    ),
    "a pad that is not zeros": ([("hdr.pad_4.zero = 0;", "hdr.pad_4.zero = 1;")], "park", "the pad is not"),
    "a queue pair that is down": (
        [("} else if (md.primary_up == 1) {", "} else if (md.primary_up != 2) {")],
        "requests",
        "may be down",
    ),
    "bytes behind a READ": (
        [("            count_edits();", "            count_bytes();")],
        "requests",
        "left behind a READ",
    ),
    "bytes behind a READ of edits that came again": (
        [("            count_retried();", "            count_edits();")],
        "park",
        "goes round never becomes a READ",
    ),
    "bytes behind that egress does not count": (
        [("            count_edits();", "            count_retried();")],
        "requests",
        "left behind a READ",
    ),
    "READs of no edits": (
        [("        md.total = eg_intr_md.pkt_length + 19", "        md.total = eg_intr_md.pkt_length + 29")],
        "park",
        "never becomes a READ",
    ),
    "edits that count as come again": (
        [("hdr.bridge.parse_class == 0) {", "hdr.bridge.parse_class == 1) {")],
        "requests",
        "left behind a READ",
    ),
    "READs counted elsewhere": (
        [("request.execute(hdr.bridge.queue_pair[", "request.execute(hdr.bridge.length[")],
        "requests",
        "not at its queue pair's place",
    ),
    "answers counted elsewhere": (
        [("give_back.execute(hdr.bridge.queue_pair[", "give_back.execute(hdr.bridge.length[")],
        "stations",
        "passes for an answer",
    ),
    "a response that ends before its cell": (
        [
            ("        md.kind = KIND_RESPONSE;", ""),
            (
                "state response {\n",
                "state response {\n        md.kind = KIND_RESPONSE;\n",
            ),
        ],
        "stations",
        "passes for an answer",
    ),
    "the NF's frames to nobody": ([("hdr.outer.dst = mac;", "hdr.outer.dst = mac + 1;")], "fields", "not addressed"),
    "no port in the tag": ([("= 8w0 ++ hdr.bridge.port;", "= 16w9;")], "fields", "tag"),
    "whole frames without a port": ([("= 8w0 ++ hdr.bridge.port;", "= 16w9;")], "whole", "names another port"),
    "whole frames by another table": (
        [("md.port.index: exact;\n            hdr.bridge.way", "md.port.role: exact;\n            hdr.bridge.way")],
        "whole",
        "where a table says",
    ),
}
FAULTS |= {
    "probes only on queue pairs that are up": (
        [(" || md.port.role == ROLE_CONTROLLER) {", ") {")],
        "probes",
        "could be parked is not",
    ),
    "probes by their order class": ([("md.port.role == ROLE_CONTROLLER", "md.port.role == 7")], "probes", ""),
    "probes by their target": ([("bucket = hdr.ethernet.src[", "bucket = hdr.ethernet.dst[")], "probes", "its source"),
    "traffic where probes are parked": (
        [
            (
                "            md.port.role: exact;\n            bucket",
                "            md.port.unused: exact;\n            bucket",
            )
        ],
        "probes",
        "alone",
    ),
    "the NF's frames to the controller": (
        [("            (_, 1): accept;\n", "")],
        "probes",
        "the NF sends it",
    ),
}
FAULTS |= {
    "requests without RETH": (
        [("        hdr.reth.setValid();\n", "")],
        "park",
        "not written whole",
    ),
    "edits of packets that no cell holds": (
        [
            ("0x0000 &&& 0xf800: split_edits;", "0x0000 &&& 0xf000: split_edits;"),
            ("} else if (md.beyond != 0) {", "} else if (md.beyond != 0 && hdr.bridge.copy == COPY_WRITE) {"),
        ],
        "requests",
        "more than a cell",
    ),
    "tags of another version": ([("(1, 0): parked;", "(_, 0): parked;")], "returned", "no tag"),
    "tags with other flags": ([("(1, 1): returned;", "(1, 1 &&& 7): returned;")], "returned", "no tag"),
    "frames of the NF without a tag": (
        [("(ETHER_TYPE_SPLIT, _): tag;", "(ETHER_TYPE_SPLIT &&& 0xff00, _): tag;")],
        "returned",
        "no tag",
    ),
}
# Of these what breaks it is a frame of the NF, or of the controller.
NO_PACKET = {
    "probes": ("",),
    "park": ("round", "refused", "never becomes"),
    "requests": ("READ", "place"),
    "stations": ("",),
    "returned": ("",),
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


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_refuted(made: Design, fault: str) -> None:
    edits, name, why = FAULTS[fault]
    found = first(edited(made, *edits), name)
    assert found is not None and found.status == Status.refuted and why in found.why, found
    assert (found.packet is None) == any(word in found.why for word in NO_PACKET.get(name, ()))


def test_a_session_that_is_cut_too_early_or_too_late_is_refuted(made: Design) -> None:
    for more in (-1, 1):
        whole = case_of(made)
        case = replace(whole, sessions=tuple(most + more for most in whole.sessions))
        found = first(case, "fields")
        assert found is not None and found.status == Status.refuted, more
