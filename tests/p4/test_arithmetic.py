"""Expressions against Python's integers."""

from __future__ import annotations

import random

import pytest
from tests.p4.skeleton import program
from tests.p4.soft import ethernet, run

pytestmark = pytest.mark.slow

WIDTHS = (5, 8, 16, 24, 32, 64, 100, 128)


def operations(w: int) -> list[tuple[str, int]]:
    """P4 over `a` and `b` of w bits, and the width of the result."""
    h = w // 2
    return [
        ("a + b", w),
        ("a - b", w),
        ("a |+| b", w),
        ("a |-| b", w),
        ("a & b", w),
        ("a | b", w),
        ("a ^ b", w),
        ("~a", w),
        ("-a", w),
        ("a << 3", w),
        (f"a << {w}", w),
        (f"b >> {h}", w),
        ("a + 1", w),
        ("7 - b", w),
        ("(a < b ? a : b)", w),
        ("(a == b ? a : 0)", w),
        (f"a[{h}:1]", h),
        (f"a[{w - 1}:{w - 1}]", 1),
        (f"(bit<{h}>)b", h),
        (f"(bit<{h}>)(a + b)", h),
        (f"(bit<128>)a[{h - 1}:0]", 128),
        *([("a ++ b", 2 * w), ("a[2:0] ++ b ++ 4w9", w + 7)] if w <= 64 else []),
        *([(f"(bit<{w}>)((int<{w}>)a >> 2)", w), (f"(bit<1>)((int<{w}>)a < (int<{w}>)b)", 1)] if w <= 64 else []),
        *([(f"(bit<{w}>)((int<{w}>)a |+| (int<{w}>)b)", w)] if w <= 32 else []),
    ]


def signed(value: int, w: int) -> int:
    return value - (1 << w) if value >> (w - 1) else value


def expected(w: int, a: int, b: int) -> list[int]:
    full, h = (1 << w) - 1, w // 2
    half = (1 << h) - 1
    most = full >> 1
    found = [
        a + b & full, a - b & full, min(a + b, full), max(a - b, 0), a & b, a | b, a ^ b, ~a & full, -a & full,
        a << 3 & full, 0, b >> h, a + 1 & full, 7 - b & full, min(a, b), a if a == b else 0, a >> 1 & half,
        a >> (w - 1), b & half, a + b & half, a & half,
    ]  # fmt: skip
    if w <= 64:
        found += [a << w | b, (a & 7) << (w + 4) | b << 4 | 9]
    if w <= 64:
        found += [signed(a, w) >> 2 & full, int(signed(a, w) < signed(b, w))]
    if w <= 32:
        found.append(max(-most - 1, min(most, signed(a, w) + signed(b, w))) & full)
    return found


def arithmetic(w: int) -> str:
    results = operations(w)
    fields = " ".join(f"bit<{r}> r{i}; bit<{-r % 8 or 8}> p{i};" for i, (_, r) in enumerate(results))
    sets = "\n".join(f"hdr.results.r{i} = {e}; hdr.results.p{i} = 0;" for i, (e, _) in enumerate(results))
    pad, after = (f"bit<{-w % 8}> pa; ", f"bit<{-w % 8}> pb; ") if w % 8 else ("", "")
    p4 = program(
        types=f"header io_h {{ bit<{w}> a; {pad}bit<{w}> b; {after}}} header results_h {{ {fields} }}",
        headers="results_h results;",
        inner="io_h io;",
        states="state parse_ethernet { pkt.extract(hdr.ethernet); pkt.extract(hdr.io); transition accept; }",
        apply=f"""
        tm.ucast_egress_port = 2;
        tm.bypass_egress = 1;
        bit<{w}> a = hdr.io.a;
        bit<{w}> b = hdr.io.b;
        hdr.results.setValid();
        {sets}""",
    )
    return p4


@pytest.mark.parametrize("w", WIDTHS)
def test_operations(w: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("polysome.p4.checks.check_gateways", lambda *_: None)
    draw = random.Random(w)
    full = (1 << w) - 1
    edges = [0, 1, full, full >> 1, (full >> 1) + 1]
    pairs = [(a, b) for a in edges for b in edges] + [(draw.randint(0, full), draw.randint(0, full)) for _ in range(20)]
    size, after = w + -w % 8, -w % 8
    lines = ""
    for i, (a, b) in enumerate(pairs):
        given = (a << after).to_bytes(size // 8, "big") + (b << after).to_bytes(size // 8, "big")
        lines += f"in 1 {i} {ethernet(given.hex())}\n"
    found = run(arithmetic(w), f"port 1\nport 2\n{lines}run 999")
    assert len(found) == len(pairs)
    for line, (a, b) in zip(found, pairs, strict=True):
        bits = int(line.split()[3], 16)
        left = len(line.split()[3]) * 4
        for (text, r), want in zip(operations(w), expected(w, a, b), strict=True):
            left -= r
            assert bits >> left & (1 << r) - 1 == want, (text, w, hex(a), hex(b))
            left -= -r % 8 or 8
