"""Faults in how a packet is parked, read again, shown to the NF and merged with its edits are refuted."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.analysis import specs
from tests.prove.answer_faults import ANSWERS
from tests.prove.kit import designed, edited
from tests.prove.parking_faults import PARKING

from polysome.backends.system.proof import case_of
from polysome.plan.design import Design
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

FAULTS = {**PARKING, **ANSWERS}
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
