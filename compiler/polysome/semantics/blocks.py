"""Blocks in use (LANGUAGE.md L1.9 to L1.11): what their ports and params are, and their properties in the NF.

An instance of a block is a scope of its own, prefix `alias.`; what it is given is typed where it is used.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from polysome.ir import program as ir
from polysome.ir import properties as pr
from polysome.ir import types as t
from polysome.ir.fold import NotConstant, Undefined, fold
from polysome.semantics.context import Shared
from polysome.semantics.expressions import Expressions
from polysome.semantics.properties import properties
from polysome.semantics.property_expressions import PropertyExpressions
from polysome.semantics.property_functions import about_packets, check
from polysome.semantics.scope import NfScope
from polysome.syntax import ast
from polysome.syntax.diagnostics import Diagnostic, Report, did_you_mean, listed
from polysome.syntax.spans import Span


@dataclass(frozen=True)
class Given:
    """What an instance of `block` is made from: the scope and the line that use it, and the values in its braces."""

    block: ast.NfDecl
    outer: NfScope
    use: ast.Use

    def value(self, name: str) -> ast.Expr | None:
        return next((a.value for a in self.use.args if a.name.text == name), None)

    def known(self) -> set[str]:
        """What can be given: the block's params and ports."""
        params = {i.name.text for i in self.block.items if isinstance(i, ast.ParamDecl)}
        return params | {n.text for i in self.block.items if isinstance(i, ast.PortDecl) for n in i.names}

    def unknown(self) -> list[ast.FieldInit]:
        return [a for a in self.use.args if a.name.text not in self.known()]


def no_part_of_a_block(report: Report, decl: ast.NfDecl) -> None:
    """E0225 for what only an NF has."""
    for item in decl.items:
        word = _OF_AN_NF.get(type(item))
        if word is not None:
            report.add(
                "E0225",
                f"a block has no `{word}`",
                Span(item.span.file, item.span.start, item.span.start + len(word)),
                why="What happens to a packet is decided in one place, the NF; a block is a part that it calls.",
                mend="Move it into the NF; in the block, write an `action` that the NF calls.",
            )


_OF_AN_NF = {ast.OnPacket: "on packet", ast.Relevant: "relevant", ast.Schedule: "schedule", ast.Traffic: "traffic"}


def bind_ports(shared: Shared, scope: NfScope, given: Given, idents: Iterable[ast.Ident]) -> None:
    """Each port of the block is the one given, else the user's of the same name; E0218 for those that are neither."""
    missing = []
    x = Expressions(shared, given.outer, frozenset())
    for ident in idents:
        if not scope.claim(ident, shared.report):
            continue
        value = given.value(ident.text)
        if value is None and ident.text in given.outer.ports:
            scope.ports[ident.text] = given.outer.ports[ident.text]
        elif value is None:
            missing.append(ident)
        else:
            port = constant(x, x.expr(value, t.PORT))
            if port is not None:
                scope.ports[ident.text] = port
    if len(missing) > len(given.unknown()):  # else their names are most likely misspelt: one cause
        _unbound(shared.report, scope, given, missing)


def _unbound(report: Report, scope: NfScope, given: Given, missing: list[ast.Ident]) -> None:
    names, ports = [i.text for i in missing], list(given.outer.ports)
    report.add(
        "E0218",
        f"`{given.use.path}` has {'a port' if len(names) == 1 else 'ports'} {listed(names)}, and the NF has not",
        given.use.span,
        also=[(missing[0].span, "declared here")],
        why="A port of a block is one of the NF's: the one given in the braces, else the one of the same name.",
        mend=f"The NF has {listed(ports)}. Say which is which, for example `{_line(report, scope, given, names)}`."
        if ports
        else f"Declare them in the NF: `port {', '.join(names)};`.",
    )


def _line(report: Report, scope: NfScope, given: Given, missing: list[str]) -> str:
    """The `use` with a port for everything that is missing, those first that no other port of the block is."""
    ports = given.outer.ports
    free = [p for p in ports if ports[p] not in scope.ports.values()] or list(ports)
    text = report.sources[given.use.span.file].text
    args = [text[a.name.span.start : a.value.span.end] for a in given.use.args]
    args += [f"{name}: {free[i % len(free)]}" for i, name in enumerate(missing)]
    alias = f" as {given.use.alias.text}" if given.use.alias is not None else ""
    return f"use {given.use.path}{alias} {{ {', '.join(args)} }};"


def param_value(shared: Shared, given: Given, decl: ast.ParamDecl, type: t.Type) -> ir.Expr | None:
    """What the braces give; else, for a param without default, the user's own param of this name and type."""
    value = given.value(decl.name.text)
    if value is not None:
        return Expressions(shared, given.outer, frozenset()).expr(value, type)
    own = given.outer.params.get(decl.name.text) if decl.default is None else None
    return None if own is None or own[0] != type or own[1] is None else ir.Const(given.use.span, type, own[1])


def check_given(report: Report, given: Given) -> None:
    """E0220 for what is given and not there, E0309 for what is given twice."""
    for arg in given.unknown():
        report.add(
            "E0220",
            f"the block has no param or port `{arg.name.text}`",
            arg.name.span,
            why="Only what the block declares with `param` and `port` can be given.",
            mend=did_you_mean(arg.name.text, given.known()) or "Remove it.",
        )
    first: dict[str, Span] = {}
    for arg in given.use.args:
        if arg.name.text in first:
            report.add(
                "E0309",
                f"`{arg.name.text}` is set twice",
                arg.name.span,
                also=[(first[arg.name.text], "first set to this")],
                why="A param or port of a block has one value.",
                mend="Remove one of them.",
            )
        first.setdefault(arg.name.text, arg.value.span)


def constant(x: Expressions, e: ir.Expr) -> Any:
    """The value that is given; E0303 if it is not known yet, None for what was reported."""
    if e.type == t.WRONG:
        return None
    try:
        return fold(e)
    except (NotConstant, Undefined):
        x.report.add(
            "E0303",
            "this must be known when the NF is compiled",
            e.span,
            why="Params and ports are fixed before the first packet.",
            mend="Use literals, `const`s, `param`s and ports.",
        )
        return None


# ---------------------------------------------------------------- properties


def block_properties(shared: Shared, scope: NfScope, decl: ast.NfDecl, use: ast.Use) -> tuple[pr.Property, ...]:
    """The properties of an instance. What they name, the NF must have: else E0224, once, at `use`, a line of the NF."""
    report, shared.report = shared.report, Report(shared.report.sources)
    found = properties(shared, scope, decl)
    for item in decl.items:
        if isinstance(item, ast.FnDecl) and about_packets(scope, item):
            check(PropertyExpressions(shared, scope), item)
    misfits, shared.report = shared.report.errors, report
    if misfits:
        _misfit(report, use, misfits[0])
    return found


def _misfit(report: Report, use: ast.Use, first: Diagnostic) -> None:
    report.add(
        "E0224",
        f"`{use.path}` does not fit this NF: {first.message}",
        use.span,
        also=[(first.span, "needed here")] if first.span is not None else [],
        why="Properties of a block are read with the parser, the state and the schedule of the NF that uses it.",
        mend="Let the NF's parser have what the block names (that of `net.l4` has most), or do not use the block.",
    )
