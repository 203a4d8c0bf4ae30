"""Judging runs by the properties that a spec states itself (LANGUAGE.md section 12)."""

from __future__ import annotations

from polysome.ir import program as ir
from polysome.testing.execution import Property
from polysome.testing.judge.user import UserProperty

__all__ = ["UserProperty", "properties"]


def properties(program: ir.Program) -> tuple[Property, ...]:
    """One for each `property` of the program, those of its blocks included, in order."""
    return tuple(UserProperty(program, decl) for decl in program.properties)
