"""Faults in how a packet is parked, asked for, and shown to the NF."""

from __future__ import annotations

Fault = tuple[list[tuple[str, str]], str, str]  # what is put into the text, what is refuted, and words that say why

PARKING: dict[str, Fault] = {
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
}
