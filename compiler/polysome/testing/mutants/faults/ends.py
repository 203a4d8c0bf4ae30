"""Source for destination, this flow for the one back, one field of a struct for another of the same type."""

from __future__ import annotations

from collections.abc import Iterator

from polysome.syntax import ast
from polysome.testing.mutants.faults.base import Fault
from polysome.testing.mutants.written import Edit, Edits, Written, replaced

_PAIRS = (("src", "dst"), ("sport", "dport"), ("source", "destination"))
OTHER_END = {a: b for pair in _PAIRS for a, b in (pair, pair[::-1])}
_WAYS = ("reversed", "canonical")


def find(written: Written) -> Iterator[Edits]:
    beside = _same_type(written)
    for node, above in written.nodes:
        match node:
            case ast.Member(base=base, name=name):
                if name.text in _WAYS:
                    yield replaced(node, written.said(base))
                for other in {OTHER_END.get(name.text), beside.get(name.text)} - {None}:
                    yield replaced(name, str(other))
            case ast.Name(text="flow") if not _has_way(node, above):
                yield replaced(node, "flow.reversed")
            case ast.StructExpr(fields=inits):
                yield from _exchanged(written, inits, beside)


def _has_way(node: ast.Node, above: tuple[ast.Node, ...]) -> bool:
    return isinstance(above[-1], ast.Member) and above[-1].base is node


def _exchanged(written: Written, inits: tuple[ast.FieldInit, ...], beside: dict[str, str]) -> Iterator[Edits]:
    """The values of two fields that are easily confused."""
    by_name = {i.name.text: i for i in inits}
    for one in inits:
        for other in {OTHER_END.get(one.name.text), beside.get(one.name.text)} & by_name.keys():
            a, b = one.value, by_name[str(other)].value
            if a.span.start < b.span.start:
                yield (
                    Edit(a.span.start, a.span.end, written.said(b)),
                    Edit(b.span.start, b.span.end, written.said(a)),
                )


def _same_type(written: Written) -> dict[str, str]:
    """Fields of the file's own structs: the next one of the same type."""
    found: dict[str, str] = {}
    own = [n for n, _ in written.nodes if isinstance(n, ast.StructDecl)]
    for struct in own:
        for field in struct.fields:
            alike = [f.name.text for f in struct.fields if written.said(f.type) == written.said(field.type)]
            beside = alike[(alike.index(field.name.text) + 1) % len(alike)]
            if beside not in (field.name.text, OTHER_END.get(field.name.text)):
                found[field.name.text] = beside
    return found


FAULT = Fault("wrong end or field", find)
