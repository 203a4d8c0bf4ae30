"""`checksums_valid` (L12.12): what the spec's parser finds in a frame, and the RFCs where that sees nothing."""

from __future__ import annotations

import pytest
from tests.semantics.rules.packets import fragment6

from polysome.testing.judge.checksums import right, wrong
from polysome.testing.judge.parsing import parse

from .kit import ethernet, icmp, ipv4, ipv6, spec, tcp, udp, vlan

PLAIN = spec("use net.l4; nf n { port a; on packet { send a; } }")
# An operator's own headers: sums of a header alone, of the rest alone, and with a pseudo header.
OWN = spec("""use net.ethernet;
header shell { kind: u16; total: u16; sum: u16 checksum(header); valid total >= 6; end total; pseudo kind; }
header inner { sum: u16 checksum(pseudo, rest) zero is none; }
parser own {
  state start { extract ethernet; select ethernet.ether_type { 0x9999 => shell; } }
  state shell { extract shell; goto inner; }
  state inner { extract inner; }
}
nf n { port a; on packet { send a; } }
""")
# The usual protocols, but somebody forgot to say that there is a checksum.
FORGETFUL = spec("""header eth { dst: mac; src: mac; kind: u16; }
header ip4 { first: bit<64>; ttl: u8; protocol: u8; sum: u16; src: ipv4; dst: ipv4; }
parser own { state start { extract eth; select eth.kind { 0x0800 => ip4; } } state ip4 { extract ip4; } }
nf n { port a; on packet { send a; } }
""")

DATAGRAM = udp(b"abc").under(b"\x0a\0\0\1\x0a\0\0\2\0\x11\0\x0b")
QUOTED = ipv4(udp(b"abcdefgh", 1000, 53))
RIGHT = {
    "UDP": ethernet(ipv4(udp(b"abc"))),
    "UDP without checksum": ethernet(ipv4(udp(b"abc", check=0))),
    "UDP with bytes behind it": ethernet(ipv4(DATAGRAM + b"zz", protocol=17)),
    "UDP whole in a short frame": ethernet(ipv4(DATAGRAM, protocol=17, total_length=60)),
    "TCP with options": ethernet(ipv4(tcp(b"abc", options=b"\1\1\1\0"), options=b"\1\1\1\0")),
    "padding behind the packet": ethernet(ipv4(udp(b"abc"))) + b"\xff" * 9,
    "IPv6": ethernet(ipv6(tcp(b"abc"))),
    "two tags": ethernet(vlan(vlan(ipv4(udp(b"abc")), 6), 5, 0x8100), 0x8100),
    "ICMP with a cut quote": ethernet(ipv4(icmp(QUOTED[:30], type=3))),
    "a first fragment": ethernet(ipv4(udp(b"abc", length=100, check=0x1234), fragment=0x2000)),
    "a later fragment": ethernet(ipv4(b"abcdefgh", protocol=17, fragment=0x0001)),
    "a first fragment of IPv6": ethernet(
        ipv6(udp(b"abc", check=0x1234).data, next_header=44, extensions=fragment6(17, more=1))
    ),
    "cut off": ethernet(ipv4(udp(b"abcdefgh")))[:-3],
    "cut in a header": ethernet(ipv4(udp(b"abcdefgh")))[:30],
    "nothing": b"",
}  # fmt: skip


def flipped(frame: bytes, at: int) -> bytes:
    return frame[:at] + bytes([frame[at] ^ 0x40]) + frame[at + 1 :]


WRONG = {
    "ipv4.checksum": flipped(RIGHT["UDP"], 22),
    "udp.checksum": flipped(RIGHT["UDP"], -1),
    "tcp.checksum": flipped(RIGHT["TCP with options"], -1),
    "ipv4.checksum of a fragment": flipped(RIGHT["a first fragment"], 22),
    "tcp.checksum of IPv6": flipped(RIGHT["IPv6"], -1),
    "icmp.checksum": flipped(RIGHT["ICMP with a cut quote"], -1),
    "icmp.quoted.ipv4.checksum": ethernet(ipv4(icmp(flipped(QUOTED, 8)[:30], type=3))),
}


def names(frame: bytes) -> list[str]:
    return wrong(PLAIN.program, frame, parse(PLAIN.program, 0, frame))


@pytest.mark.parametrize("name", RIGHT)
def test_L12_12_right(name: str) -> None:
    assert names(RIGHT[name]) == []
    assert right(PLAIN.program, RIGHT[name], parse(PLAIN.program, 0, RIGHT[name]))


@pytest.mark.parametrize("name", WRONG)
def test_L12_12_wrong(name: str) -> None:
    assert names(WRONG[name]) == [name.split(" of ")[0]]
    assert not right(PLAIN.program, WRONG[name], parse(PLAIN.program, 0, WRONG[name]))


def test_L12_12_what_was_not_sent_has_no_right_checksums() -> None:
    assert not right(PLAIN.program, None, None)


def test_L12_12_every_byte_of_a_frame_that_a_checksum_covers_matters() -> None:
    frame = RIGHT["TCP with options"]
    for at in range(18, len(frame)):  # behind the parts that parsing itself depends on
        if at not in (20, 21, 23) and not names(flipped(frame, at)):
            assert parse(PLAIN.program, 0, flipped(frame, at)).path != parse(PLAIN.program, 0, frame).path, at


def own(kind: int, total: int, sum: int, inner: int, rest: bytes) -> bytes:
    numbers = b"".join(n.to_bytes(2, "big") for n in (0x9999, kind, total, sum, inner))
    return bytes(12) + numbers + rest


@pytest.mark.parametrize(
    ("frame", "found"),
    [
        # shell: 1234 + 000c + edbf = ffff. inner: pseudo 1234, length 6, rest 1111 + 2222, with ba92 ffff.
        (own(0x1234, 12, 0xEDBF, 0xBA92, b"\x11\x11\x22\x22"), []),
        (own(0x1234, 12, 0xEDBF, 0, b"\x11\x11\x22\x22"), []),
        (own(0x1234, 12, 0xEDBF, 0xBA92, b"\x11\x11\x22\x22" + b"behind"), []),
        (own(0x1234, 12, 0xEDBE, 0xBA92, b"\x11\x11\x22\x22"), ["shell.sum"]),
        (own(0x1234, 12, 0xEDBF, 0xBA91, b"\x11\x11\x22\x22"), ["inner.sum"]),
        (own(0x1234, 12, 0xEDBF, 0xBA92, b"\x11\x11\x22"), []),  # cut: cannot be told
        (own(0x1234, 11, 0xEDC0, 0xBAB5, b"\x11\x11\x22"), []),  # odd: padded with zero
    ],
)
def test_L12_12_own_headers(frame: bytes, found: list[str]) -> None:
    assert wrong(OWN.program, frame, parse(OWN.program, 0, frame)) == found


def test_L12_12_a_forgotten_mark_is_noticed() -> None:
    frame = WRONG["ipv4.checksum"]
    (found,) = wrong(FORGETFUL.program, frame, parse(FORGETFUL.program, 0, frame))
    assert "ipv4" in found.lower() and "RFC" in found
    assert right(FORGETFUL.program, RIGHT["UDP"], parse(FORGETFUL.program, 0, RIGHT["UDP"]))
