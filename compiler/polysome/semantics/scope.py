"""What names mean: files, then the NF (or an instance of a block) with its ports, params, config, state and actions."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.semantics.modules import Module
from polysome.syntax import ast
from polysome.syntax.diagnostics import Report
from polysome.syntax.spans import Span

Plain = ast.StructDecl | ast.EnumDecl | ast.ConstDecl | ast.FnDecl


@dataclass
class Names:
    """Declarations by name space (LANGUAGE.md L1.6): types, headers, values (consts and fns), parsers, blocks."""

    types: dict[str, ast.StructDecl | ast.EnumDecl] = field(default_factory=dict)
    headers: dict[str, ast.HeaderDecl] = field(default_factory=dict)
    values: dict[str, ast.ConstDecl | ast.FnDecl] = field(default_factory=dict)
    parsers: dict[str, ast.ParserDecl] = field(default_factory=dict)
    nfs: dict[str, ast.NfDecl] = field(default_factory=dict)
    hooks: list[ast.Hook] = field(default_factory=list)

    def declare(self, item: Any, report: Report) -> None:
        """Add a declaration to its name space; E0203 if the name is taken there."""
        space: dict[str, Any]
        match item:
            case ast.StructDecl() | ast.EnumDecl():
                space = self.types
            case ast.HeaderDecl():
                space = self.headers
            case ast.ConstDecl() | ast.FnDecl():
                space = self.values
            case ast.ParserDecl():
                space = self.parsers
            case ast.NfDecl():
                space = self.nfs
            case ast.Hook():
                self.hooks.append(item)
                return
            case _:
                return
        if item.name.text in space:
            duplicate(report, item.name, space[item.name.text].name.span)
        else:
            space[item.name.text] = item


def duplicate(report: Report, name: ast.Ident, first: Span) -> None:
    report.add(
        "E0203",
        f"`{name.text}` is declared twice",
        name.span,
        also=[(first, "first declared here")],
        why="One name means one thing in each name space (types, headers, values).",
        mend="Rename one of them.",
    )


def module_names(module: Module, report: Report) -> Names:
    """All that is visible in a file: its own declarations and those of what it uses."""
    names = Names()
    for m in module.visible:
        for item in m.ast.items:
            if isinstance(item, ast.NfDecl) and m is not module and not item.block:
                continue
            names.declare(item, report)
    return names


@dataclass
class Local:
    slot: int
    type: t.Type
    span: Span


@dataclass
class NfScope:
    """An NF, or an instance of a block inside it: then `prefix` is `alias.` and state is named `alias.state`."""

    names: Names
    prefix: str = ""
    ports: dict[str, int] = field(default_factory=dict)
    params: dict[str, tuple[t.Type, Any, Span]] = field(default_factory=dict)
    config: dict[str, ir.ConfigDecl] = field(default_factory=dict)
    state: dict[str, ir.AnyState] = field(default_factory=dict)
    indexes: dict[str, tuple[str, ir.IndexDecl]] = field(default_factory=dict)
    actions: dict[str, ast.ActionDecl] = field(default_factory=dict)
    blocks: dict[str, NfScope] = field(default_factory=dict)
    declared: dict[str, Span] = field(default_factory=dict)
    named_types: dict[str, t.Type] = field(default_factory=dict)  # structs and enums that were resolved

    def claim(self, name: ast.Ident, report: Report) -> bool:
        """Reserve a value name of the NF; False and E0203 if it is taken."""
        if name.text in self.declared:
            duplicate(report, name, self.declared[name.text])
            return False
        self.declared[name.text] = name.span
        return True

    def value_names(self) -> list[str]:
        """Every value name, for did-you-mean."""
        return [*self.declared, *self.names.values]


def mentioned(node: object) -> set[str]:
    """Every bare name in an expression."""
    if isinstance(node, ast.Name):
        return {node.text}
    if isinstance(node, tuple):
        return {name for part in node for name in mentioned(part)}
    if is_dataclass(node) and not isinstance(node, Span):
        return {name for f in fields(node) for name in mentioned(getattr(node, f.name))}
    return set()


def by_need(params: list[ast.ParamDecl]) -> list[ast.ParamDecl]:
    """Each param after those that its default needs (L1.1); as declared otherwise."""
    rest, found = list(params), []
    while rest:
        waiting = {p.name.text for p in rest}
        ready = next((p for p in rest if not waiting & mentioned(p.default)), rest[0])
        rest.remove(ready)
        found.append(ready)
    return found
