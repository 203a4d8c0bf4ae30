"""One error for each cause, and the errors of all causes in a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from polysome.syntax.diagnostics import Diagnostic

Diagnose = Callable[[Path], tuple[list[Diagnostic], str]]

NF = """use net.l4;

nf firewall {
  port lan, wan;
  config backends: list<ipv4>;
  BODY
}
"""

# What follows from a cause is not said again: bodies with one slip each, and its code.
ONE = {
    "a type that is not there": (
        "state { seen: map<Flow, Fool> { capacity 1K; idle 1s; when full drop; } }"
        'on packet { let f = seen[flow] else drop "n"; seen[flow] = f; require f.a == 3 else drop "x"; send wan; }',
        "E0204",
    ),
    "a key type that is not there": (
        "state { seen: map<Fool, u64> { capacity 1K; idle 1s; when full drop; } }"
        'on packet { seen[flow] += 1; let f = seen[now] else drop "n"; require f > 3 else drop "x"; send wan; }',
        "E0204",
    ),
    "state that could not be declared": (
        "state { seen: map<Flow>; }"
        'on packet { seen[flow] += 1; require flow in seen and seen.len < 5 else drop "x"; seen.add(flow); send wan; }',
        "E0207",
    ),
    "a param without value": (
        "param limit: u64; param twice: u64 = limit * 2;"
        "state { seen: array<u64>[limit]; }"
        'on packet { seen[limit] = twice; require limit > 0 else drop "x"; send wan; }',
        "E0219",
    ),
    "a wrong param": (
        "param limit: bytes = 10s; state { t: token_bucket(1Mbps, limit); }"
        'on packet { require len < limit and t.take(len) else drop "x"; send wan; }',
        "E0301",
    ),
    "a block that is not there": (
        "use nf.conntrak as ct;"
        'on packet { ct.open(); require ct.connections.len < 5 and ct.x else drop "x"; send wan; }',
        "E0201",
    ),
    "a bucket without burst": (
        'state { t: token_bucket(1Mbps); } on packet { require t.take(len) and t.has(1B) else drop "x"; send wan; }',
        "E0211",
    ),
    "a name used often": ("on packet { let a = b; let c = b + b; send b; }", "E0213"),
    "a wrong local": (
        'on packet { let a = flow.none; let c = a + 1; require a.x == c else drop "x"; send wan; }',
        "E0308",
    ),
    "a wrong lookup": (
        "state { seen: map<Flow, u64> { capacity 1K; idle 1s; when full drop; } }"
        'on packet { let n = seen[flow] + 1; require n > 5 else drop "x"; seen[flow] = n; send wan; }',
        "E0501",
    ),
    "a function that is wrong": (
        "fn f(a: u8) -> u16 { a } on packet { let x = f(1); let y = f(2) + x; send wan; }",
        "E0301",
    ),
    "an action that is wrong": ("action f() { ipv4.none = 1; } on packet { f(); f(); send wan; }", "E0402"),
    "a const in a circle": (
        'const A: u64 = B; const B: u64 = A; on packet { require A + B > 0 else drop "x"; send wan; }',
        "E0324",
    ),
    "a clause by another name": (
        "state { seen: set<Flow> { size 1K; idle 1s; when full drop; } } on packet { seen.add(flow); send wan; }",
        "E0510",
    ),
    "a member by another name": (
        'on packet { let e = Endpoint { ip: 10.0.0.1, prt: 1 }; require e.port == 1 else drop "x"; send wan; }',
        "E0308",
    ),
    "a clause of a wrong type": (
        "schedule { shape 1Mbps, 1KB; classes 64KB; idle 1s; buffer 1MB; when full drop; } on packet { send wan; }",
        "E0301",
    ),
    "a reference to nothing": (
        "state { s: map<Flow, ref backend> { capacity 1K; idle 1s; when full drop; } }"
        "on packet { require ipv4 else drop \"x\"; ipv4.dst = s[flow] else backends[0]; send wan; }",
        "E0209",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("body", "code"), ONE.values(), ids=ONE.keys())
def test_one_error_for_each_cause(
    body: str, code: str, diagnose: Diagnose, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("spec.nf").write_text(NF.replace("BODY", body), encoding="utf-8")
    found, shown = diagnose(Path("spec.nf"))
    assert [d.code for d in found if not d.warning] == [code], shown


MANY = """use net.l4;

struct Entry { first: tme, count: u64 }
header tag { kind: u8; }
fn nobody_calls_it(x: u8) -> u16 { x }

nf firewall {
  port lan, wan;
  param limit: bytes = 10s;
  config friends: list<ipv6, u8>;
  state {
    seen: map<Flow, Entry> { capacity 1K; when full drop; }
    t: token_bucket(10Mbps);
  }
  action nobody_calls_it_either() { bounc(); send wan; }
  on packet from lan {
    let port = flow.destination;
    ipv4.ttl = 300;
    send wam;
  }
  on packet from wan {
    if tcp { send lan; }
  }
  every 0s { }
  property p { for a in trace expect a.snet; }
}
"""


def test_all_causes_of_a_file(diagnose: Diagnose, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("spec.nf").write_text(MANY, encoding="utf-8")
    found, shown = diagnose(Path("spec.nf"))
    lines = [(MANY.count("\n", 0, d.span.start) + 1, d.code) for d in found if d.span is not None]
    assert lines == [
        *[(3, "E0204"), (5, "E0301"), (9, "E0301"), (10, "E0207"), (12, "E0512"), (13, "E0211"), (15, "E0320")],
        *[(17, "E0308"), (18, "E0404"), (18, "E0305"), (19, "E0213"), (23, "E0609"), (24, "E0610"), (25, "E0901")],
    ], shown


SYNTAX = """use net.l4
struct Entry { first: time; count: u64 }

nf firewall {
  port lan, wan;
  param limit bytes = 10KB;
  state { seen: u64 }
  on packet from lan {
    let port = ;
    require tcp && udp else drop "x";
    if ipv4 drop "x";
    seen += 1
    send wan;
  }
  on packet from wan {
    return;
    send lan
  }
}
"""


def test_all_causes_of_wrong_syntax(diagnose: Diagnose, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("spec.nf").write_text(SYNTAX, encoding="utf-8")
    found, shown = diagnose(Path("spec.nf"))
    lines = [(SYNTAX.count("\n", 0, d.span.start) + 1, d.code) for d in found if d.span is not None]
    assert lines == [
        *[(1, "E0102"), (2, "E0101"), (6, "E0101"), (7, "E0102"), (9, "E0101"), (10, "E0113"), (11, "E0101")],
        *[(16, "E0113"), (17, "E0102")],
    ], shown
