"""A spec with one fault in it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from typing import Any

from polysome.ir import program as ir
from polysome.syntax.diagnostics import SpecError
from polysome.testing.mutants.faults import every
from polysome.testing.mutants.written import Edits, Written, edited, files
from polysome.testing.spec import Spec, load

_NO_MEANING = {"span", "sources", "file", "doc", "properties", "source"}


@dataclass(frozen=True, eq=False)
class Mutant:
    """`number` counts from 1 among all that a spec has. `edits` go into the text of `written`."""

    number: int
    fault: str
    written: Written
    edits: Edits

    @property
    def text(self) -> str:
        """The file with the fault in it; every line stays on its line."""
        return edited(self.written.text, self.edits)

    @property
    def line(self) -> int:
        """The line of the fault, from 1."""
        return self._line(min(e.start for e in self.edits))

    @property
    def changed(self) -> tuple[tuple[int, str, str], ...]:
        """The lines that differ: number, as it was, as it is."""
        old, new = self.written.text.split("\n"), self.text.split("\n")
        return tuple((n, a, b) for n, (a, b) in enumerate(zip(old, new, strict=False), 1) if a != b)

    def _line(self, offset: int) -> int:
        return self.written.text.count("\n", 0, offset) + 1

    def lines(self) -> set[tuple[str, int]]:
        """(file, line) of every edit."""
        return {(self.written.name, self._line(e.start)) for e in self.edits}


def mutants(spec: Spec) -> list[Mutant]:
    """All ways to make a fault in a spec, in the order of its lines; some do not compile, or change nothing."""
    found = [
        (written, edits, fault.name)
        for written in files(spec.path, spec.program)
        for fault in every()
        for edits in fault.find(written)
        if edited(written.text, edits) != written.text
    ]
    found = list({(w.path, edits): (w, edits, fault) for w, edits, fault in found}.values())
    found.sort(key=lambda f: (str(f[0].path), f[1][0].start, f[2], f[1][0].end, f[1][0].new))
    return [Mutant(n, fault, written, edits) for n, (written, edits, fault) in enumerate(found, 1)]


def mutated(spec: Spec, mutant: Mutant) -> Spec | None:
    """The spec with the fault; None if it does not compile: then there is nothing to notice."""
    try:
        found = load(spec.path, spec.params, texts={mutant.written.path: mutant.text})
    except (SpecError, RecursionError):
        return None
    return Spec(found.path, found.program, spec.params, spec.config)


def fingerprint(program: ir.Program) -> bytes:
    """The same for programs that mean the same because they are written alike, wherever their words stand."""
    digest = hashlib.blake2b(digest_size=16)
    for part in _told(program):
        digest.update(part.encode())
    return digest.digest()


def _told(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield f"{key!r}:"
            yield from _told(item)
    elif isinstance(value, (tuple, list)):
        yield f"({len(value)}"
        for item in value:
            yield from _told(item)
    elif is_dataclass(value) and not isinstance(value, (type, Enum)):
        yield type(value).__name__
        for field in fields(value):
            if field.name not in _NO_MEANING:
                yield from _told(getattr(value, field.name))
    elif isinstance(value, (set, frozenset)):
        yield repr(sorted(map(repr, value)))
    else:
        yield f"{value!r};"
