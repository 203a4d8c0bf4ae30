"""Options of state and schedule: `age` for `idle`, another policy when full, one that is not there."""

from __future__ import annotations

from collections.abc import Iterator

from polysome.syntax import ast
from polysome.testing.mutants.faults.base import Fault
from polysome.testing.mutants.written import Edits, Written, replaced

_POLICIES = ("drop", "evict oldest", "pass")
_TIMES = {"idle": "age", "age": "idle"}


def find(written: Written) -> Iterator[Edits]:
    for node, _ in written.nodes:
        match node:
            case ast.Clause(name=ast.Ident(text="when full"), words=words):
                said = " ".join(word.text for word in words)
                yield from (replaced(node, f"when full {other};") for other in _POLICIES if other != said)
            case ast.Clause(name=name):
                if name.text in _TIMES:
                    yield replaced(name, _TIMES[name.text])
                yield replaced(node, "")
            case ast.StateDecl(per_core=True):
                yield replaced(node, written.said(node).replace("per core ", "", 1))


FAULT = Fault("option", find)
