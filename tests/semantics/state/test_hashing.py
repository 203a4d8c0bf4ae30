"""Section 5 of STATE.md: hashing and canonical bytes."""

from __future__ import annotations

import pytest

from polysome.ir import types as t
from polysome.kinds.base import Context
from polysome.kinds.hashing import encoder, key_of_seed, positions, siphash
from polysome.kinds.state import STATE_KINDS
from polysome.kinds.values import Prefix, Row, Taken


def test_S5_1_the_reference_vector_of_siphash() -> None:
    # Aumasson and Bernstein, appendix A
    assert siphash(bytes(range(16)), bytes(range(15))) == 0xA129CA6149BE45E5
    # vectors_sip64 of the reference implementation: no bytes, and byte 00
    assert siphash(bytes(range(16)), b"") == 0x726FDB47DD0E0E31
    assert siphash(bytes(range(16)), b"\0") == 0x74F839C593DC67FD


def test_S5_2_the_seed_is_little_endian() -> None:
    assert key_of_seed(0x0F0E0D0C0B0A09080706050403020100) == bytes(range(16))
    assert key_of_seed(1) == b"\1" + bytes(15)


def test_S5_3_canonical_bytes() -> None:
    flow = t.Struct("F", (("a", t.IPV4), ("ok", t.BOOL), ("n", t.Bits(12)), ("p", t.PORT)))
    value = (0x0A000001, True, 0xABC, 3)
    coded = bytes.fromhex("0a000001 01 0abc 0003")  # 12 bits take 2 bytes
    assert encoder(flow)(value) == coded
    assert encoder(t.Tuple((t.U8, flow)))((9, value)) == b"\x09" + coded
    assert encoder(t.Ref("rows", flow))(Row(value)) == coded
    assert encoder(t.FromPool("free", flow))(Taken(value, 6)) == coded
    assert encoder(t.Bits(1))(1) == b"\1" and encoder(t.Bits(9))(1) == b"\0\1"
    assert encoder(t.IPV6)(1) == bytes(15) + b"\1" and encoder(t.TIME)(258) == bytes(6) + b"\1\2"
    assert encoder(t.END)(3) == b"\3" and encoder(t.Enum("E", (("a", 0), ("b", 300)), None))(300) == b"\x01\x2c"
    assert encoder(t.PREFIX)(Prefix(32, 0x0A000000, 8)) == bytes.fromhex("0a000000 08")
    assert encoder(t.PREFIX)(Prefix(128, 1 << 127, 1)) == b"\x80" + bytes(15) + b"\1"
    assert encoder(t.Tuple(()))(()) == b"" and encoder(t.BYTE_STRING)(b"xy") == b"xy"


def test_S5_3_what_has_no_canonical_bytes() -> None:
    for unfit in (t.ListOf(t.U8), t.Table("map", t.U8, t.U8), t.Tuple((t.U8, t.PORT_SET))):
        with pytest.raises(TypeError):
            encoder(unfit)


def test_S5_4_a_sketch_hashes_canonical_bytes() -> None:
    asked: list[bytes] = []

    def record(data: bytes) -> int:
        asked.append(data)
        return 0

    options = {"count_min": {"error": 10_000, "confidence": 990_000}, "bloom": {"capacity": 10, "error": 10_000}}
    options["hyperloglog"] = {"error": 50_000}
    context = Context("s", lambda: 0, encoder(t.Tuple((t.U8, t.U16))), record)
    for name, values in options.items():
        STATE_KINDS[name].make(values, context).add((1, 2))
    assert asked == [b"\1\0\2"] * 3


def test_S5_5_double_hashing() -> None:
    # step = 8000000040000001; 4000000080000000, c0000000c0000001, then 1 4000000100000002 loses its carry
    hashed = 0x4000000080000000
    assert list(positions(hashed, 3, 10)) == [2, 7, 2]  # 0.25·10, 0.75·10, 0.25·10
    assert list(positions(hashed, 3, 2**64)) == [0x4000000080000000, 0xC0000000C0000001, 0x4000000100000002]
    assert list(positions(0, 3, 2**64)) == [0, 1, 2]  # step = 0 or 1
