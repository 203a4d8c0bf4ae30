"""The wrong operator between numbers."""

from __future__ import annotations

from collections.abc import Iterator

from polysome.syntax import ast
from polysome.testing.mutants.faults.base import Fault
from polysome.testing.mutants.written import Edits, Written, between

OTHERS = {"+": "-", "-": "+", "*": "/", "/": "*", "%": "/", "<<": ">>", ">>": "<<", "&": "|", "|": "&", "^": "&"}


def find(written: Written) -> Iterator[Edits]:
    for node, _ in written.nodes:
        match node:
            case ast.Binary(op=op, left=left, right=right) if op in OTHERS:
                if (edits := between(written, left, right, op, OTHERS[op])) is not None:
                    yield edits
            case ast.Assign(op=op, target=target, value=value) if op != "=" and op[:-1] in OTHERS:
                for other in (f"{OTHERS[op[:-1]]}=", "="):
                    if (edits := between(written, target, value, op, other)) is not None:
                        yield edits


FAULT = Fault("arithmetic", find)
