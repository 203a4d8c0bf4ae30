"""When warnings come, and when they do not."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.analysis.specs import EXAMPLES

from polysome.analysis.all import analyse
from polysome.semantics.check import check
from polysome.syntax.diagnostics import Report


def warnings(path: Path) -> list[tuple[str, str]]:
    report = Report()
    analyse(check(path, report), report)
    return [(d.code, d.message) for d in report.diagnostics]


def of(folder: Path, declarations: str, body: str = "send b;") -> list[tuple[str, str]]:
    path = folder / "spec.nf"
    path.write_text(
        f"use net.l4;\nuse nf.conntrack;\nstruct Row {{ ip: ipv4 }}\nnf t {{\n  port a, b;\n  {declarations}\n"
        f"  on packet {{ {body} }}\n}}\n",
        encoding="utf-8",
    )
    return warnings(path)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_examples_have_none(path: Path) -> None:
    assert warnings(path) == []


@pytest.mark.parametrize(
    ("declarations", "body", "found"),
    [
        ("param x: u64 = 1;", "send b;", ["param `x` is never used"]),
        (
            "param x: u64 = 1; // x is x",
            'require 1 as u64 > 0 else drop "x";\n    send b;',
            ["param `x` is never used"],
        ),
        ("param x: u64 = 1; /* x\n x */", "send b;", ["param `x` is never used"]),
        ("param x: u64 = 10; state { m: set<u16> { capacity x; forever; when full pass; } }", "m.add(1); send b;", []),
        ("param x: u64 = 1; property p { for q in trace expect q.len as u64 >= x; }", "send b;", []),
        ("param seed: bit<128> = 4;", "send b;", []),
        ("config rows: list<Row>;", "send b;", ["config `rows` is never used"]),
        (
            "config rows: list<Row>; state { m: map<u16, ref rows> { capacity 1K; forever; when full pass; } }",
            "if let r = m[1] { send b; } send a;",
            [],
        ),
        ("config ips: list<ipv4>; state { p: pool<ipv4> { from ips; } }", "let i = p.take() else send a; send b;", []),
    ],
)
def test_unused_names(tmp_path: Path, declarations: str, body: str, found: list[str]) -> None:
    assert of(tmp_path, declarations, body) == [("W0201", message) for message in found]


@pytest.mark.parametrize(
    ("declarations", "body", "found"),
    [
        ("state { n: u64; }", "send b;", ["state `n` is never used"]),
        ("state { n: u64; }", "n += 1; send b;", []),
        ("state { n: u64; } every 1s { n = 0; }", "send b;", []),
        ("state { n: u64; } action count() { n += 1; }", "send b;", ["state `n` is never used"]),
        (
            "state { n: u64; } property p { for q in trace expect q.after.n == 0; }",
            "send b;",
            ["state `n` is never used"],
        ),
        ("use nf.conntrack as ct;", "send b;", []),
        (
            "state { m: map<u16, u16> { capacity 1; forever; when full pass; } index i: m by value; }",
            "if let e = i[1] { send b; } send a;",
            [],
        ),
    ],
)
def test_unused_state(tmp_path: Path, declarations: str, body: str, found: list[str]) -> None:
    assert of(tmp_path, declarations, body) == [("W0501", message) for message in found]


def shaped(rate: str, burst: str, idle: str) -> str:
    return f"schedule {{ class flow; shape {rate}, {burst}; classes 1K; idle {idle}; buffer 1MB; when full drop; }}"


@pytest.mark.parametrize(
    ("declarations", "found"),
    [
        (shaped("8Mbps", "1MB", "1s"), []),  # fills in 1 s to the nanosecond
        (shaped("8Mbps", "1MB", "999999999ns"), ["`idle` is 999999999ns, but a bucket takes 1s to fill"]),
        (shaped("8Mbps", "1MB", "500ms"), ["`idle` is 500ms, but a bucket takes 1s to fill"]),
        (shaped("10pps", "5", "500ms"), []),
        (shaped("10pps", "6", "500ms"), ["`idle` is 500ms, but a bucket takes 600ms to fill"]),
        ("config r: bitrate; " + shaped("r", "1MB", "1ms"), []),  # only known at run time
        (
            "schedule { class flow; police 1Kbps, 1KB; classes 1K; idle 7s; when full pass; }",
            ["`idle` is 7s, but a bucket takes 8s to fill"],
        ),
    ],
)
def test_a_class_must_live_as_long_as_its_bucket_fills(tmp_path: Path, declarations: str, found: list[str]) -> None:
    assert of(tmp_path, declarations) == [("W0701", message) for message in found]


@pytest.mark.parametrize(("idle", "count"), [("idle 8s", 0), ("idle 7s", 1), ("age 1s", 0), ("forever", 0)])
def test_so_must_an_entry_of_a_map(tmp_path: Path, idle: str, count: int) -> None:
    m = f"state {{ m: map<u16, token_bucket(1Kbps, 1KB)> {{ capacity 1K; {idle}; when full pass; }} }}"
    found = of(tmp_path, m, 'require m[1].take(len) else drop "much"; send b;')
    assert [code for code, _ in found] == ["W0701"] * count
