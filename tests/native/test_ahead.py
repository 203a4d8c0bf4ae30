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
