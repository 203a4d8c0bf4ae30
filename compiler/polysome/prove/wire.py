"""Where the protocol's fields stand in frames, in bytes from the first one of Ethernet on (polysome_protocol)."""

from __future__ import annotations

from polysome_protocol import AETH, BTH, ETHERNET, FLAGS, IPV4, RETH, TAG, UDP, kind
from polysome_protocol.headers import Header

# Between switch and NF. KIND: the byte with version and flags, one of FIELDS (edits have the same), WHOLE, OWN.
LINK = ETHERNET.size
TYPE = ETHERNET["ether_type"].at
KIND, CLASS, SEQ, PAIR, SIZE, PORT = (
    LINK + TAG[name].at for name in ("version", "parse_class", "seq", "queue_pair", "length", "port")
)
CONTENT = LINK + TAG.size
FIELDS, WHOLE, OWN = (kind(flags) for flags in (FLAGS.split, FLAGS.whole, FLAGS.own))
SEQ_SIZE = TAG["seq"].size
# What edits say again of their packet: its seq, queue pair and length, in this order wherever they stand in the tag.
SAID = (*range(SEQ, SEQ + SEQ_SIZE), PAIR, PAIR + 1, SIZE, SIZE + 1)
SAID_SEQ, SAID_PAIR, SAID_SIZE = slice(SEQ_SIZE), slice(SEQ_SIZE, SEQ_SIZE + 2), slice(SEQ_SIZE + 2, SEQ_SIZE + 4)

# Between switch and memory servers: RoCE over IPv4 without options. A request's headers end with RETH, an answer's with
# AETH; behind them is the cell.
_BEGINS = {
    IPV4.name: LINK,
    UDP.name: LINK + IPV4.size,
    BTH.name: LINK + IPV4.size + UDP.size,
    RETH.name: LINK + IPV4.size + UDP.size + BTH.size,
    AETH.name: LINK + IPV4.size + UDP.size + BTH.size,
}
REQUEST = _BEGINS[RETH.name] + RETH.size
ANSWER = _BEGINS[AETH.name] + AETH.size


def at(header: Header, field: str) -> int:
    return _BEGINS[header.name] + header[field].at


OPCODE, PSN, NUMBER = at(BTH, "opcode"), at(BTH, "psn"), at(BTH, "queue_pair")
TOTAL_LENGTH, UDP_LENGTH = at(IPV4, "total_length"), at(UDP, "length")
ADDRESS, LENGTH_AT = at(RETH, "address_high"), at(RETH, "length_high")  # of 8 bytes, and of 4
