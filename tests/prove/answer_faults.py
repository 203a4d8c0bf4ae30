"""Faults in what becomes of answers: of the NF, of servers, of stations and the controller."""

from __future__ import annotations

from tests.prove.parking_faults import Fault

ANSWERS: dict[str, Fault] = {
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
    "edits that never were put into their slot": (
        [("RETRY_SLOT: split_ethernet;", "RETRY_SLOT: has_slot;")],
        "merge",
        "leaves",
    ),
}
