"""Chains that begin with a packet: `p.in.…`, `p.before.…`, `e.cause.…` (LANGUAGE.md L12.4)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from polysome.ir import program as ir
from polysome.ir import properties as pr
from polysome.semantics.property_context import PropertyContext
from polysome.syntax import ast

SIDES = ("in", "out")
TIMES = ("before", "after")


@dataclass(frozen=True)
class Path:
    """`packet.word.rest`; `rest` reads as if it began there. An emitted packet has no sides: `rest` has its word."""

    packet: ir.Expr
    word: ast.Ident
    rest: ast.Expr | None


def path_of(x: PropertyContext, node: ast.Expr) -> Path | None:
    """The node taken apart, if it is a chain that begins with a packet."""
    if not isinstance(node, (ast.Member, ast.Index, ast.Range)):
        return None
    packet = packet_of(x, node.base) if isinstance(node, ast.Member) else None
    if packet is not None and isinstance(node, ast.Member):
        first = ast.Name(node.name.span, node.name.text) if packet.type == pr.EMITTED else None
        return Path(packet, node.name, first)
    inner = path_of(x, node.base)
    if inner is None:
        return None
    if inner.rest is not None:
        return replace(inner, rest=replace(node, base=inner.rest))
    return replace(inner, rest=ast.Name(node.name.span, node.name.text)) if isinstance(node, ast.Member) else None


def packet_of(x: PropertyContext, node: ast.Expr) -> ir.Expr | None:
    """The packet that the node names: `p`, or `e.cause`."""
    if isinstance(node, ast.Name):
        for scope in reversed(x.locals):
            if node.text in scope:
                local = scope[node.text]
                return (
                    ir.Local(node.span, local.type, local.slot, node.text)
                    if isinstance(local.type, pr.Packet)
                    else None
                )
    if isinstance(node, ast.Member) and node.name.text == "cause":
        base = packet_of(x, node.base)
        if base is not None and base.type == pr.EMITTED:
            return pr.Attribute(node.span, pr.PACKET, base, "cause")
    return None


def root(node: ast.Expr) -> ast.Name | None:
    """The name that a chain of members, indexes and slices begins with."""
    while isinstance(node, (ast.Member, ast.Index, ast.Range)):
        node = node.base
    return node if isinstance(node, ast.Name) else None


def some_packet(x: PropertyContext) -> str:
    """The innermost name of a packet, for examples."""
    for scope in reversed(x.locals):
        for name, local in scope.items():
            if local.type == pr.PACKET:
                return name
    return "p"


def shown(path: Path) -> str:
    """As it is written, up to the word."""
    base = path.packet
    name = base.name if isinstance(base, ir.Local) else "e.cause"
    return f"{name}.{path.word.text}"
