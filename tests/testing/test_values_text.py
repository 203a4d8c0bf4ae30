"""Values as a spec would write them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from tests.semantics.rules.harness import program

from polysome.analysis.values_text import duration, moment, text
from polysome.ir import types as t
from polysome.kinds.state import token_bucket
from polysome.kinds.state.acl import AclRow, Range
from polysome.kinds.values import ABSENT, Prefix, Row, Taken

NF = program("use net.l4; nf n { port a, b; on packet { send a; } }")
PAIR = t.Struct("Pair", (("ip", t.IPV4), ("to", t.PORT)))
S = 10**9


@pytest.mark.parametrize(
    ("value", "type", "shown"),
    [
        (7, t.U8, "7"),
        (2**32, t.U64, "0x100000000"),
        (True, t.BOOL, "true"),
        (0x0A000001, t.IPV4, "10.0.0.1"),
        (0xFFFF0A000001, t.IPV6, "::ffff:10.0.0.1"),
        (0x20010DB8 << 96 | 1, t.IPV6, "2001:db8::1"),
        (0x020000000001, t.MAC, "02:00:00:00:00:01"),
        (1500, t.BYTES, "1500B"),
        (65536, t.BYTES, "64KiB"),
        (0, t.BYTES, "0B"),
        (10**7, t.BITRATE, "10Mbps"),
        (0, t.PACKETRATE, "0pps"),
        (S + 1, t.TIME, "start + 1ns"),
        (S // 2, t.TIME, "start - 500ms"),
        (1, t.PORT, "b"),
        (Prefix(32, 10 << 24, 8), t.PREFIX, "10.0.0.0/8"),
        (3, t.END, "End.removed"),
        (9, t.END, "9"),
        ((1, 0), PAIR, "Pair { ip: 0.0.0.1, to: a }"),
        ((1, False), t.Tuple((t.U8, t.BOOL)), "(1, false)"),
        (Row((1, 0)), t.Ref("rows", PAIR), "Pair { ip: 0.0.0.1, to: a }"),
        ((1, 0), t.Ref("rows", PAIR), "Pair { ip: 0.0.0.1, to: a }"),
        (Taken(5, None), t.FromPool("pool", t.U16), "5"),
        ((Row(1), Row(2)), t.ListOf(t.IPV4), "[0.0.0.1, 0.0.0.2]"),
        (tuple(range(10)), t.ListOf(t.U8), "[0, 1, 2, 3, 4, 5, 6, 7, … 2 more]"),
        (frozenset((1, 0)), t.PORT_SET, "{a, b}"),
        ({1: Row(2)}, t.Table("map", t.IPV4, t.U8), "{0.0.0.1 -> 2}"),
        (((Prefix(32, 0, 0), 1),), t.Table("lpm", t.IPV4, t.U8), "{0.0.0.0/0 -> 1}"),
        (((1, 1), (2, 3)), t.Table("maglev", t.U64, t.U8), "{1, 2 (weight 3)}"),
        (
            (AclRow((None, Range(1, 2)), True, 7),),
            t.Table("acl", t.Tuple((t.IPV4, t.U16)), t.BOOL),
            "{(*, 1-2) -> true (priority 7)}",
        ),
        (token_bucket.FULL, t.Bucket("bytes", None, None), "full bucket"),
        ((16 * S, S), t.Bucket("bytes", None, None), "bucket with 2 bytes left at start"),
        (b"\x01\xff", t.BYTE_STRING, "2 bytes 01 ff"),
        ("red", t.STR, '"red"'),
        (ABSENT, t.U8, "absent"),
        (None, t.Optional(t.U8), "absent"),
        (Fraction(1, 4), t.Ratio("bitrate"), "0.25"),
        ((1, 2), t.Entry(t.U8, t.IPV4), "1 -> 0.0.0.2"),
    ],
)
def test_a_value_reads_as_in_a_spec(value: Any, type: t.Type, shown: str) -> None:
    assert text(value, type, NF, S) == shown


@pytest.mark.parametrize(
    ("ns", "shown"),
    [
        (0, "0s"),
        (1, "1ns"),
        (1500, "1.5us"),
        (1_234_567, "1.234567ms"),
        (90 * S, "90s"),
        (7440 * S, "124min"),
        (S + 1, "1.000000001s"),
        (-2 * S, "-2s"),
    ],
)
def test_a_duration_has_all_its_digits(ns: int, shown: str) -> None:
    assert duration(ns) == shown


def test_a_time_without_a_start_is_in_nanoseconds() -> None:
    assert moment(S, None) == "1000000000ns"
