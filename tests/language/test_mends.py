"""Mends that lead somewhere: what is wrong, what the message says to do, and that it is right when that is done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from polysome.syntax.diagnostics import Diagnostic

Diagnose = Callable[[Path], tuple[list[Diagnostic], str]]

NF = """use net.l4;
struct Pair { a: u8, b: u8 }
OUTSIDE
nf wire {
  port lan, wan;
  config routes: lpm<ipv4, u8>;
  DECLARED
  on packet {
    require tcp and ipv4 else drop "other";
    BODY
    send wan;
  }
}
"""
ENDS = "{ capacity 1K; idle 30s; when full drop; }"


@dataclass(frozen=True)
class Case:
    """`wrong` becomes `right` by `mend`; each is what is declared in the NF, and what is done with a packet."""

    code: str
    wrong: tuple[str, str]
    mend: str
    right: tuple[str, str]


CASES = {
    "bytes of a rest field": Case(
        "E0605",
        ("", "tcp.options[2..4] = 5;"),
        "Bytes of the payload and of `rest` fields are only read; other fields are written as a whole.",
        ("", "tcp.window = 5;"),
    ),
    "bytes of the payload": Case(
        "E0605",
        ("", "payload[0..2] = 5;"),
        "Bytes of the payload and of `rest` fields are only read; other fields are written as a whole.",
        ("", "tcp.window = 5;"),
    ),
    "bits of a field": Case(
        "E0605",
        ("", "ipv4.ttl[3:0] = 5;"),
        "Write the whole, with these bits in it: for example `x = (x & 0xf0) | 5;`.",
        ("", "ipv4.ttl = (ipv4.ttl & 0xf0) | 5;"),
    ),
    "a header": Case(
        "E0605",
        ("", "ipv4 = 5;"),
        "Write to its fields: `ipv4.… = …;`; `push` and `pop` add and remove headers.",
        ("", "ipv4.ttl = 5;"),
    ),
    "a map in a map": Case(
        "E0522",
        (f"state {{ m: map<ipv4, map<u16, u8>> {ENDS} }}", ""),
        "Put both keys into one: `map<(…, u16), u8>`, with the outer key in place of `…`.",
        (f"state {{ m: map<(ipv4, u16), u8> {ENDS} }}", "m[(ipv4.src, tcp.sport)] = 1;"),
    ),
    "a set in a map": Case(
        "E0522",
        (f"state {{ m: map<ipv4, set<u16>> {ENDS} }}", ""),
        "Put both keys into one: `set<(…, u16)>`, with the outer key in place of `…`.",
        (f"state {{ m: set<(ipv4, u16)> {ENDS} }}", "m.add((ipv4.src, tcp.sport));"),
    ),
    "a list in a map": Case(
        "E0522",
        (f"state {{ m: map<ipv4, list<u16>> {ENDS} }}", ""),
        "Put both keys into one: `map<(…, u8), u16>`, with the outer key in place of `…`.",
        (f"state {{ m: map<(ipv4, u8), u16> {ENDS} }}", "m[(ipv4.src, 0)] = tcp.sport;"),
    ),
    "a table in a map": Case(
        "E0522",
        (f"state {{ m: map<ipv4, lpm<ipv4, u8>> {ENDS} }}", ""),
        "Declare it outside of `state`: `config NAME: lpm<ipv4, u8>;`.",
        ("config m: lpm<ipv4, u8>;", ""),
    ),
    "a list in state": Case(
        "E0522",
        ("state { m: list<u8>; }", ""),
        "Declare it outside of `state`: `config m: list<u8>;`.",
        ("config m: list<u8>;", ""),
    ),
    "an array in a map": Case(
        "E0206",
        (f"state {{ m: map<ipv4, array<u8>> {ENDS} }}", ""),
        "Declare `name: array<…>[n];` in `state`.",
        ("state { name: array<u8>[4]; }", "name[0] = 1;"),
    ),
    "adding to a set of config": Case(
        "E0320",
        ("config allowed: set<ipv4>;", "allowed.add(ipv4.src);"),
        f"Only the operator changes config; what packets change is state: `state {{ allowed: set<ipv4> {ENDS} }}`.",
        (f"state {{ allowed: set<ipv4> {ENDS} }}", "allowed.add(ipv4.src);"),
    ),
    "adding to a list of config": Case(
        "E0320",
        ("config seen: list<ipv4>;", "seen.append(ipv4.src);"),
        f"Only the operator changes config; what packets change is state: `state {{ seen: set<ipv4> {ENDS} }}`.",
        (f"state {{ seen: set<ipv4> {ENDS} }}", "seen.add(ipv4.src);"),
    ),
    "an entry of a map of config": Case(
        "E0605",
        ("config names: map<ipv4, u16>;", "names[ipv4.src] = 3;"),
        f"Only the operator changes config; what packets change is state: `state {{ names: map<ipv4, u16> {ENDS} }}`.",
        (f"state {{ names: map<ipv4, u16> {ENDS} }}", "names[ipv4.src] = 3;"),
    ),
    "removing from config": Case(
        "E0509",
        ("config names: map<ipv4, u16>;", "remove names[ipv4.src];"),
        f"Only the operator changes config; what packets change is state: `state {{ names: map<ipv4, u16> {ENDS} }}`.",
        (f"state {{ names: map<ipv4, u16> {ENDS} }}", "remove names[ipv4.src];"),
    ),
    "a table of config": Case(
        "E0605",
        ("", "routes[ipv4.src] = 3;"),
        "Only the operator changes lpm tables; what packets add can be in a `map` or `set` of `state`.",
        (f"state {{ learned: map<ipv4, u8> {ENDS} }}", "learned[ipv4.src] = 3;"),
    ),
    "a number of config": Case(
        "E0320",
        ("config limit: u8;", "limit.add(3);"),
        "Only the operator changes config; what packets change is state: `state { limit: u8; }`.",
        ("state { limit: u8; }", "limit += 3;"),
    ),
    "membership as a method": Case(
        "E0320",
        ("config allowed: set<ipv4>;", 'require allowed.contains(ipv4.src) else drop "no";'),
        "Test with `k in allowed`.",
        ("config allowed: set<ipv4>;", 'require ipv4.src in allowed else drop "no";'),
    ),
    "a lookup as a method": Case(
        "E0320",
        ("config names: map<ipv4, u16>;", "let n = names.get(ipv4.src);"),
        "Look up with `let v = names[k] else …;`.",
        ("config names: map<ipv4, u16>;", 'let v = names[ipv4.src] else drop "no";'),
    ),
    **{
        f"{word} of {declared.split('<')[0]}": Case(
            "E0503",
            (f"state {{ x: {declared} }}", f"x.{word}(1);"),
            mend,
            (f"state {{ x: {declared} }}", right),
        )
        for declared, word, mend, right in (
            (f"map<u16, u16> {ENDS}", "get", "Look up with `let v = x[k] else …;`.", 'let v = x[1] else drop "no";'),
            (f"map<u16, u16> {ENDS}", "insert", "Write `x[k] = v;`.", "x[1] = 2;"),
            (f"map<u16, u16> {ENDS}", "delete", "Write `remove x[k];`.", "remove x[1];"),
            (f"set<u16> {ENDS}", "find", "Test with `k in x`.", 'require 1 in x else drop "no";'),
            (f"set<u16> {ENDS}", "insert", "Write `x.add(k);`.", "x.add(1);"),
            (f"set<u16> {ENDS}", "erase", "Write `remove x[k];`.", "remove x[1];"),
            ("array<u16>[4];", "at", "Read `x[i]`.", 'require x[1] == 2 else drop "no";'),
            ("array<u16>[4];", "push", "Write `x[i] = v;`.", "x[1] = 2;"),
            ("array<u16>[4];", "size", "Write `x.len`.", 'require x.len == 4 else drop "no";'),
            (
                "pool<u16> { from 1..4; }",
                "get",
                "Write `let v = x.take() else …;`.",
                'let v = x.take() else drop "no";',
            ),
        )
    },
    "a kind of state that is nearly right": Case(
        "E0204",
        ("state { x: tokenbucket(1Mbps, 10KB); }", ""),
        "Did you mean `token_bucket`?",
        ("state { x: token_bucket(1Mbps, 10KB); }", 'require x.take(len) else drop "rate";'),
    ),
    "two schedules": Case(
        "E0203",
        ("schedule { fifo; } schedule { class flow; }", ""),
        "Move the clauses of this one into the first.",
        ("schedule { fifo; class flow; }", ""),
    ),
    "two schedules with a clause in common": Case(
        "E0203",
        ("schedule { fifo; class flow; } schedule { class flow; fifo; }", ""),
        "Move the clauses of this one into the first, but keep only one `class`, `fifo`.",
        ("schedule { fifo; class flow; }", ""),
    ),
    "two schedules with two policies": Case(
        "E0203",
        ("schedule { fifo; } schedule { drr 2; serve 10Gbps; buffer 1MB; when full drop; }", ""),
        "Remove one: `fifo` and `drr` are two policies, and a schedule has one.",
        ("schedule { fifo; }", ""),
    ),
}


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def errors(diagnose: Diagnose, declared: str = "", body: str = "", outside: str = "") -> list[Diagnostic]:
    text = NF.replace("OUTSIDE", outside).replace("DECLARED", declared).replace("BODY", body)
    Path("spec.nf").write_text(text, encoding="utf-8")
    return [d for d in diagnose(Path("spec.nf"))[0] if not d.warning]


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_mend_mends(case: Case, diagnose: Diagnose) -> None:
    (found,) = errors(diagnose, *case.wrong)
    assert (found.code, found.mend) == (case.code, case.mend)
    assert errors(diagnose, *case.right) == []


BLOCK = "block counter { param step: u8 = 1; state { n: u8; } action count() { n += step; } }"


@pytest.mark.parametrize("use", ["use counter;", "use counter as c { step: 2 };"])
def test_a_block_of_the_same_file(use: str, diagnose: Diagnose) -> None:
    (found,) = errors(diagnose, use, "", BLOCK)
    mend = "Blocks are used from files of their own: move `counter` into `counter.nf`, beside this file."
    assert (found.code, found.mend) == ("E0201", mend)
    Path("counter.nf").write_text(BLOCK + "\n", encoding="utf-8")
    assert errors(diagnose, use, "c.count();" if " as " in use else "counter.count();") == []


def test_a_struct_of_the_same_file(diagnose: Diagnose) -> None:
    (found,) = errors(diagnose, outside="use Pair;")
    assert (found.code, found.mend) == ("E0201", "Remove it: this file declares `Pair`, and all of it may use that.")
    assert errors(diagnose, "state { p: Pair; }", "p.a = 1;") == []
