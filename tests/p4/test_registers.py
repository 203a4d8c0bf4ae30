"""Registers: one access for each packet, pairs, conditions as a stateful ALU evaluates them."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from tests.p4.chips import TOFINO
from tests.p4.skeleton import program
from tests.p4.soft import ethernet, run

from polysome.p4.limits import ChipLimits

pytestmark = pytest.mark.slow

IO = """
header io_h { bit<32> a; bit<32> b; bit<32> result; }
"""
PARSE = "state parse_ethernet { pkt.extract(hdr.ethernet); pkt.extract(hdr.io); transition accept; }"
SEND = "tm.ucast_egress_port = 2; tm.bypass_egress = 1;"


def stateful(types: str, locals_: str, apply: str) -> str:
    return program(types=IO + types, inner="io_h io;", states=PARSE, locals=locals_, apply=apply + SEND)


def results(
    p4: str,
    inputs: list[tuple[int, int]],
    before: str = "",
    after: str = "",
    at: int = 44,
    chip: ChipLimits = TOFINO,
) -> tuple[list[int], list[str]]:
    """The `result` of each packet with fields `a`, `b`, and what the commands of `after` print."""
    lines = "".join(f"in 1 0 {ethernet(f'{a:08x}{b:08x}00000000')}\n" for a, b in inputs)
    found = run(p4, f"port 1\nport 2\n{before}\n{lines}run 0\n{after}", chip)
    sent = [line for line in found if line.startswith("out")]
    return [int(line.split()[3][at : at + 8], 16) for line in sent], [
        line for line in found if not line.startswith("out")
    ]


COUNT = stateful(
    "",
    """
    Register<bit<16>, bit<4>>(10, 0xfffe) counts;
    RegisterAction<bit<16>, bit<4>, bit<16>>(counts) next = {
        void apply(inout bit<16> value, out bit<16> rv) { rv = value; value = value + 1; }
    };""",
    "hdr.io.result = 16w0 ++ next.execute(hdr.io.a[3:0]);",
)


def test_values_wrap_start_as_declared_and_an_index_beyond_the_end_is_nowhere() -> None:
    found, said = results(
        COUNT,
        [(1, 0), (1, 0), (1, 0), (2, 0), (12, 0), (12, 0)],
        after="\n".join(
            f"read Ingress.{what}" for what in ("counts 1", "counts 2", "counts 10", "counts 0 x", "other 0")
        ),
    )
    assert found == [0xFFFE, 0xFFFF, 0, 0xFFFE, 0, 0]
    assert said == [
        "value 1",
        "value 65535",
        "error Ingress.counts: index 10 of 10",
        "error Ingress.counts: it has no field `x`",
        "error Ingress.other: there is no such register",
    ]


GUARD = stateful(
    "struct pair_t { bit<32> count; bit<32> last; }",
    """
    Register<pair_t, bit<1>>(2) guard;
    RegisterAction<pair_t, bit<1>, bit<8>>(guard) take = {
        void apply(inout pair_t value, out bit<8> accepted) {
            accepted = 0;
            if (hdr.io.a - value.last > 100) {
                value.count = 1;
                value.last = hdr.io.a;
                accepted = 1;
            } else if (value.count < 3) {
                value.count = value.count + 1;
                value.last = hdr.io.a;
                accepted = 1;
            }
        }
    };
    RegisterAction<pair_t, bit<1>, bit<8>>(guard) give = {
        void apply(inout pair_t value) { value.count = value.count |-| 1; }
    };""",
    """
    if (hdr.io.b == 0) {
        hdr.io.result = 24w0 ++ take.execute(1);
    } else {
        give.execute(1);
    }""",
)


def test_a_pair_is_read_and_written_in_one_access() -> None:
    inputs = [(1000, 0), (1001, 0), (1002, 0), (1003, 0), (1003, 1), (1004, 0), (1102, 0), (1105, 0)]
    found, said = results(
        GUARD, inputs, after="read Ingress.guard 1 count\nread Ingress.guard 1 last\nread Ingress.guard 1"
    )
    # Since 1004 there are three; 1102 is 98 later, 1105 is 101 later.
    assert found == [1, 1, 1, 0, 0, 1, 0, 1]
    assert said == ["value 1", "value 1105", "error Ingress.guard: it has no field ``"]


def test_the_driver_writes_a_pair() -> None:
    before = "write Ingress.guard 1 2 count\nwrite Ingress.guard 1 990 last\nwrite Ingress.guard 1 0x100000000 last"
    found, said = results(GUARD, [(1000, 0), (1000, 0)], before=before)
    assert found == [1, 0] and said == ["error Ingress.guard: the value does not fit"]


WRAPS = replace(TOFINO, stateful_wraps=True)


def test_a_difference_in_a_condition_is_compared_without_wrapping_unless_the_chip_wraps() -> None:
    """The ALU computes it in more bits than the register has: a time before the last one is not far after it."""
    before = "write Ingress.guard 1 3 count\nwrite Ingress.guard 1 10 last"
    assert results(GUARD, [(5, 0)], before)[0] == [0]
    assert results(GUARD, [(5, 0)], before, chip=WRAPS)[0] == [1]


SIGNED = stateful(
    "",
    """
    Register<int<32>, bit<1>>(1) least;
    RegisterAction<int<32>, bit<1>, bit<32>>(least) keep = {
        void apply(inout int<32> value, out bit<32> rv) {
            if ((int<32>)hdr.io.a < value) { value = (int<32>)hdr.io.a; rv = 1; }
        }
    };
    Register<int<32>, bit<1>>(1) newest;
    RegisterAction<int<32>, bit<1>, bit<32>>(newest) later = {
        void apply(inout int<32> value, out bit<32> rv) {
            if ((int<32>)hdr.io.b - value > 0) { value = (int<32>)hdr.io.b; rv = 1; }
        }
    };""",
    "hdr.io.a = keep.execute(0); hdr.io.result = later.execute(0);",
)


def test_signed_values_are_compared_as_signed_and_their_differences_as_the_chip_says() -> None:
    inputs = [(5, 1), (0xFFFFFFFE, 0x70000000), (0xFFFFFFFF, 0xE0000000), (0x80000000, 0x10000000), (0x7FFFFFFF, 0)]
    for chip, newest in {
        TOFINO: [1, 1, 1, 0, 0],  # as numbers without a sign, in more bits
        WRAPS: [1, 1, 1, 1, 0],  # RFC 1982: each is less than 2^31 after the one before, but the last
    }.items():
        assert results(SIGNED, inputs, at=28, chip=chip)[0] == [0, 1, 0, 1, 0]  # 0, then -2, then -2^31
        assert results(SIGNED, inputs, chip=chip)[0] == newest


WINDOW = stateful(
    "",
    """
    Register<int<32>, bit<1>>(1) last;
    RegisterAction<int<32>, bit<1>, bit<32>>(last) outside = {
        void apply(inout int<32> value, out bit<32> rv) {
            if ((int<32>)hdr.io.a - value > 16 || (int<32>)hdr.io.a - value < -1) { value = (int<32>)hdr.io.a; rv = 1; }
        }
    };""",
    "hdr.io.result = outside.execute(0);",
)


@pytest.mark.parametrize("chip", [TOFINO, WRAPS], ids=["exact", "wraps"])
def test_times_of_31_bits_are_compared_alike_on_all_chips(chip: ChipLimits) -> None:
    """A constant below 0 keeps its sign."""
    times = [1 << 30, (1 << 30) - 1, (1 << 30) + 17, (1 << 30) + 15, 0x7FFFFFFF, 1 << 30]
    assert results(WINDOW, [(time, 0) for time in times], chip=chip)[0] == [1, 0, 1, 1, 1, 1]


BITS = stateful(
    "",
    """
    Register<bit<1>, bit<4>>(16) left;
    RegisterAction<bit<1>, bit<4>, bit<1>>(left) leave = {
        void apply(inout bit<1> value, out bit<1> there) { there = ~value; value = 1; }
    };""",
    "hdr.io.result = 31w0 ++ leave.execute(hdr.io.a[3:0]);",
)


def test_a_register_of_bits_returns_what_was_there() -> None:
    found, said = results(BITS, [(3, 0), (3, 0), (4, 0)], after="read Ingress.left 3\nread Ingress.left 5")
    assert found == [1, 0, 1] and said == ["value 1", "value 0"]


SATURATING = stateful(
    "",
    """
    Register<bit<8>, bit<1>>(1) up;
    RegisterAction<bit<8>, bit<1>, bit<8>>(up) more = {
        void apply(inout bit<8> value, out bit<8> rv) { value = value |+| hdr.io.a[7:0]; rv = value; }
    };
    Register<bit<8>, bit<1>>(1, 200) down;
    RegisterAction<bit<8>, bit<1>, bit<8>>(down) less = {
        void apply(inout bit<8> value, out bit<8> rv) { value = value |-| hdr.io.a[7:0]; rv = value; }
    };""",
    "hdr.io.result = 8w0 ++ more.execute(0) ++ 8w0 ++ less.execute(0);",
)


def test_saturating_sums_stop_at_the_ends() -> None:
    found, _ = results(SATURATING, [(100, 0), (100, 0), (100, 0)])
    assert found == [100 << 16 | 100, 200 << 16 | 0, 255 << 16 | 0]


PREDICATES = stateful(
    "struct pair_t { bit<32> low; bit<32> high; }",
    """
    Register<pair_t, bit<1>>(1) state;
    RegisterAction<pair_t, bit<1>, bit<32>>(state) step = {
        void apply(inout pair_t value, out bit<32> rv) {
            rv = 0;
            if (value.low == hdr.io.a && value.high != hdr.io.b) {
                value.high = hdr.io.b;
                rv = value.low;
            } else if (!(value.low == hdr.io.a)) {
                value.low = hdr.io.a;
            }
        }
    };""",
    "hdr.io.result = step.execute(0);",
)


def test_conditions_join_as_in_a_model() -> None:
    inputs = [*product((0, 3), (0, 4)), *product((3, 0), (4, 5))]
    low = high = 0
    wanted = []
    for a, b in inputs:
        result = 0
        if low == a and high != b:
            high, result = b, low
        elif low != a:
            low = a
        wanted.append(result)
    found, _ = results(PREDICATES, inputs)
    assert found == wanted and len(set(wanted)) == 2
