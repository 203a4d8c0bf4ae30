"""Which keys are computed before the handlers of a batch run, and that handlers use them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.testing.traffic.kit import written

from polysome.backends.nf_cpp.ahead import keys
from polysome.backends.nf_cpp.generate import generate
from polysome.ir import program as ir

SPEC = """
use net.l4;
nf ahead {{
  port left, right;
  state {{ seen: map<Flow, u64> {{ capacity 8; idle 1s; when full evict oldest; }} }}
  action note(f: Flow) {{ seen[f] = 1; }}
  on packet {{
    {body}
    send right;
  }}
}}
"""
TCP, UDP = "seen[flow] = 1;", "seen[flow.reversed] = 1;"
# Statements of a handler, and how many conditions each of its keys has.
BODIES = {
    "everybody's": (TCP, [0]),
    "of a branch": (f"if tcp {{ {TCP} }}", [1]),
    "of both branches": (f"if tcp {{ {TCP} }} else {{ {TCP} }}", [0]),
    "of one branch each": (f"if tcp {{ {TCP} }} else {{ {UDP} }}", [1, 1]),
    "of a branch, where it holds anyway": (f"if tcp {{ if tcp {{ {TCP} }} else {{ {UDP} }} }}", [1]),
    "of a branch, where it cannot hold": (f"if tcp {{ }} else {{ if tcp {{ {TCP} }} else {{ {UDP} }} }}", [1]),
    "of both, one of which asks again": (f"if tcp {{ if udp {{ {TCP} }} else {{ if tcp {{ {TCP} }} }} }}", [1]),
    "in a local that a branch sets": ("if tcp { note(flow); } else { note(flow.reversed); }", [1, 1]),
}


def program(folder: Path, body: str) -> ir.Program:
    found = written(folder, SPEC.format(body=body)).program
    assert isinstance(found, ir.Program)
    return found


@pytest.mark.parametrize("name", BODIES)
def test_a_key_is_computed_for_those_who_need_it(name: str, tmp_path: Path) -> None:
    body, conditions = BODIES[name]
    spec = program(tmp_path, body)
    (handler,) = spec.packet_handlers
    assert [len(key.guard) for key in keys(spec, handler, set())] == conditions


@pytest.mark.parametrize("name", [name for name in BODIES if "where it" not in name])  # no packet gets to the others
def test_the_handler_looks_up_no_other(name: str, tmp_path: Path) -> None:
    text = generate(program(tmp_path, BODIES[name][0]))
    (handler,) = re.findall(r"Verdict packet_from_\w+\(.*?\n    }\n", text, re.DOTALL)
    assert "sought(" not in handler and re.search(r"key = a\.seen_key_\d", handler)


ROWS = """
use net.l4;
nf rows {{
  port left, right;
  config marks: map<u16, u16>;
  state {{ seen: map<Flow, u64> {{ capacity 8; idle 1s; when full evict oldest; }} }}
  on packet {{
    {body}
    send right;
  }}
}}
"""
MARK, NOTE = "let m = marks[flow.sport] else 0;", "seen[flow] = m as u64;"
# Statements of a handler, and how many conditions each row has that is looked up ahead.
ROW_BODIES = {
    "everybody's": (f"{MARK} {NOTE}", [0]),
    "of a branch": (f"if tcp {{ {MARK} {NOTE} }}", [1]),
    "of those who stay": (f"if udp {{ send left; }} {MARK} {NOTE}", [1]),
    "of those who stay in a branch": (
        f"if tcp {{ if ipv4 {{ send left; }} {MARK} {NOTE} }} else {{ {MARK} {NOTE} }}",
        [2, 1],
    ),
    "of those whose flow is not known": (f"if flow in seen {{ send left; }} {MARK} {NOTE}", []),
    "of those whose flow is known": (f'let s = seen[flow] else drop "new"; {MARK} {NOTE}', []),
    "of those whom a row lets pass": (f'let o = marks[flow.dport] else drop "none"; {MARK} {NOTE}', [0]),
    "of state": ("let s = seen[flow] else 0; let m = marks[s as u16] else 0;" + NOTE, []),
}


@pytest.mark.parametrize("name", ROW_BODIES)
def test_a_row_is_looked_up_ahead_for_those_who_surely_need_it(name: str, tmp_path: Path) -> None:
    body, conditions = ROW_BODIES[name]
    spec = written(tmp_path, ROWS.format(body=body)).program
    (handler,) = spec.packet_handlers
    found = [key for key in keys(spec, handler, set()) if key.config]
    assert [len(key.guard) for key in found] == conditions
    (text,) = re.findall(r"Verdict packet_from_\w+\(.*?\n    }\n", generate(spec), re.DOTALL)
    lookups = body.count("marks[")
    assert len(re.findall(r"= a\.marks_row_\d", text)) == len(found)
    assert len(re.findall(r"marks\.get\(", text)) == lookups - len(found)
