"""Properties (LANGUAGE.md section 12): names and types of quantified statements over the trace."""

from __future__ import annotations

from typing import Any

from polysome.semantics.expressions import Shared
from polysome.semantics.scope import NfScope
from polysome.syntax import ast


def properties(shared: Shared, scope: NfScope, decls: list[ast.Property]) -> tuple[Any, ...]:
    """The typed properties of the NF."""
    return ()
