"""LANGUAGE.md L3.11 and L3.12: hashing and canonical bytes."""

from __future__ import annotations

import pytest

from polysome.kinds.values import Prefix
from rules.harness import value, value_errors
from rules.siphash import siphash

ZERO = bytes(16)
# The test key of the reference implementation: bytes 00 to 0f. Little-endian as one number: 0f in front.
REFERENCE = 0x0F0E0D0C0B0A09080706050403020100

# vectors_sip64 of the reference implementation, for the inputs 00, 01, …, as it prints them: low byte first
VECTORS = {
    0: "31 0e 0e dd 47 db 6f 72",
    1: "fd 67 dc 93 c5 39 f8 74",
    2: "5a 4f a9 d9 09 80 6c 0d",
    7: "37 d1 01 8b f5 00 02 ab",
    8: "62 24 93 9a 79 f5 f5 93",
    15: "e5 45 be 49 61 ca 29 a1",
}


@pytest.mark.parametrize("length", VECTORS)
def test_L3_11_hash_is_siphash_2_4_keyed_by_param_seed(length: int) -> None:
    data = bytes(range(length))
    expected = int.from_bytes(bytes.fromhex(VECTORS[length]), "little")
    assert siphash(bytes(range(16)), data) == expected
    arguments = ", ".join(f"{byte} as u8" for byte in data)
    assert value(f"hash({arguments})", "u64", params={"seed": str(REFERENCE)}) == expected


def test_L3_11_the_low_half_of_the_seed_is_k0() -> None:
    k0_is_1 = siphash(bytes([1]) + bytes(15), b"\x07")
    k1_is_1 = siphash(bytes(8) + bytes([1]) + bytes(7), b"\x07")
    assert value("hash(7 as u8)", "u64", params={"seed": "1"}) == k0_is_1
    assert value("hash(7 as u8)", "u64", params={"seed": str(2**64)}) == k1_is_1
    assert value("hash(7 as u8)", "u64") == siphash(ZERO, b"\x07")


DECLARATIONS = """
struct Inner { p: bit<12>, q: bool }
struct Outer { a: Inner, t: (port, bit<1>), e: Small }
enum Small { x, y }
enum Many { x = 300 }
enum Sized: u16 { x = 7 }
"""


@pytest.mark.parametrize(
    ("arguments", "canonical"),
    [
        ("0x1234 as u16", "1234"),
        ("0x1 as u8, 0x2 as u16, 0x3 as u32, 0x4 as u64", "01 0002 00000003 0000000000000004"),
        ("0xabc as bit<12>", "0abc"),  # 12 bits, four zero bits in front
        ("1 as bit<1>", "01"),
        ("1 as bit<17>", "000001"),
        ("0x1ff as bit<9>, 0x1ff as bit<9>", "01ff 01ff"),  # each padded by itself
        ("true, false", "01 00"),
        ("10.0.0.1", "0a000001"),
        ("2001:db8::1", "20010db8 00000000 00000000 00000001"),
        ("02:00:00:00:00:01", "020000000001"),
        ("a, b", "0000 0001"),  # ports: two bytes, numbered in order of declaration
        ("now", "0000000000000102"),
        ("1us", "00000000000003e8"),
        ("3B, 5bps, 7pps", "0000000000000003 0000000000000005 0000000000000007"),
        ("Small.y", "01"),  # numbers 0 and 1: one bit
        ("Many.x", "012c"),  # 300 needs nine bits
        ("Sized.x", "0007"),
        ("(1 as u8, 2 as u16)", "01 0002"),
        ("Inner { q: true, p: 0xabc }", "0abc 01"),
        ("Outer { a: Inner { p: 1, q: false }, t: (b, 1), e: Small.x }", "0001 00 0001 01 00"),
        ("nets[0], nets[1]", "0a010000 10  20010db8 00000000 00000000 00000000 20"),
        ("rows[0]", "0001 02"),
        ("1 as bit<128>", "00000000 00000000 00000000 00000001"),
    ],
)
def test_L3_12_canonical_bytes(arguments: str, canonical: str) -> None:
    items = "config nets: list<prefix>; config rows: list<(u16, u8)>;"
    nets = (Prefix(32, 0x0A010000, 16), Prefix(128, 0x20010DB8 << 96, 32))
    config = {"nets": nets, "rows": ((1, 2),)}
    found = value(f"hash({arguments})", "u64", time=0x102, items=items, declarations=DECLARATIONS, config=config)
    assert found == siphash(ZERO, bytes.fromhex(canonical))


def test_L3_12_a_struct_hashes_like_its_members() -> None:
    before = "let s = Inner { p: 5, q: true };"
    more = {"before": before, "declarations": DECLARATIONS}
    assert value("hash(s)", "u64", **more) == value("hash(s.p, s.q)", "u64", **more)  # type: ignore[arg-type]


def test_L3_12_what_has_no_canonical_bytes_cannot_be_hashed() -> None:
    assert value_errors("hash(l)", "u64", items="config l: list<u8>;") == ["E0322"]
    assert value_errors("hash(payload)", "u64") == ["E0322"]
