"""Sent to the wrong port, or back; dropped instead of sent, sent instead of dropped."""

from __future__ import annotations

from collections.abc import Iterator

from polysome.syntax import ast
from polysome.testing.mutants.faults.base import Fault
from polysome.testing.mutants.written import Edits, Written, replaced

_MOST = 3  # ports that are tried


def find(written: Written) -> Iterator[Edits]:
    ports = written.program.ports[:_MOST]
    for node, _ in written.nodes:
        match node:
            case ast.Send(target=target):
                said = written.said(target)
                yield from (replaced(target, port) for port in (*ports, "in_port") if port != said)
                if isinstance(target, ast.Binary):
                    yield replaced(target, written.said(target.left))
                yield replaced(node, 'drop "fault"')
            case ast.Drop():
                yield from (replaced(node, f"send {port}") for port in ports)
            case ast.Bounce():
                yield replaced(node, 'drop "fault"')


FAULT = Fault("verdict", find)
