"""Runs of small specs for the tests of properties: the catalogue's NFs, and traces made by hand or at random."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from tests.semantics.rules.packets import ethernet, icmp, ipv4, ipv6, tcp, udp, vlan

from polysome.engines import ENGINES
from polysome.engines.trace import Arrival, Change, Trace
from polysome.ir import types as t
from polysome.ir.fold import zero
from polysome.testing.execution import Execution, Judgement, execute
from polysome.testing.judge import UserProperty, properties
from polysome.testing.spec import Spec, load

CATALOGUE = Path(__file__).parents[2] / "language" / "properties"
INTERP = ENGINES["interp"]
S, MS = 10**9, 10**6

__all__ = ["ethernet", "icmp", "ipv4", "ipv6", "tcp", "udp", "vlan"]


@cache
def spec(text: str) -> Spec:
    """A spec from its text, checked once; in a folder by its content, so that parsed files are cached."""
    name = hashlib.sha256(text.encode()).hexdigest()[:16]
    path = Path(tempfile.gettempdir()) / f"polysome-judge-{os.getuid()}" / name / "spec.nf"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        scratch = path.with_suffix(f".{os.getpid()}")
        scratch.write_text(text, encoding="utf-8")
        scratch.replace(path)
    return load(path)


@cache
def catalogue(name: str) -> Spec:
    return load(CATALOGUE / f"{name}.nf")


def run(
    spec: Spec,
    arrivals: Sequence[tuple[int, str, bytes]],
    config: Mapping[str, Any] | None = None,
    changes: Sequence[tuple[int, Mapping[str, Any]]] = (),
) -> Execution:
    """(time, name of the port, frame); config that is not given is empty, or its default."""
    program = spec.program
    values = {c.name: (config or {}).get(c.name, default(c.type, c.default)) for c in program.config.values()}
    packets = tuple(Arrival(program.ports.index(port), time, data) for time, port, data in arrivals)
    return execute(spec, Trace(values, packets, tuple(Change(at, new) for at, new in changes)), INTERP)


def default(type: t.Type, value: Any) -> Any:
    """What a config item is that nobody gave."""
    match type:
        case t.Table("map"):
            return {}
        case t.SetOf():
            return frozenset()
        case t.Table() | t.ListOf():
            return ()
        case _:
            return zero(type) if value is None else value


def judged(execution: Execution, name: str) -> Judgement:
    """What the property of that name says."""
    (found,) = (p for p in properties(execution.spec.program) if p.name == name)
    assert isinstance(found, UserProperty)
    return found.judge(execution)
