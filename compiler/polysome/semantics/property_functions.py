"""Functions over packets: typed anew at each use, for the packets that they are asked about (LANGUAGE.md L12.15)."""

from __future__ import annotations

from dataclasses import replace

from polysome.ir import program as ir
from polysome.ir import properties as pr
from polysome.semantics.arguments import arity, values_alone
from polysome.semantics.functions import calls_itself, check_value
from polysome.semantics.property_context import PropertyContext
from polysome.semantics.property_paths import packet_of, some_packet
from polysome.semantics.scope import Local, NfScope
from polysome.semantics.type_resolver import is_packet
from polysome.syntax import ast


def about_packets(scope: NfScope, decl: ast.FnDecl) -> bool:
    """Does the function have parameters that are packets, and not of a type of the spec's own that has this name?"""
    return "packet" not in scope.names.types and any(is_packet(param.type) for param in decl.params)


def call(x: PropertyContext, decl: ast.FnDecl, node: ast.Call) -> ir.Expr:
    """The function's body, with the packets of the call where it names its own. No recursion: E0324."""
    name, params = decl.name.text, [p.name.text for p in decl.params]
    if name in x.within:
        calls_itself(x, decl, node.span)
        return x.wrong(node.span)
    if not values_alone(x, name, node.args):
        return x.wrong(node.span)
    if not arity(x, name, len(node.args), params, node.span, decl.name.span) or not check_value(x, decl):
        return x.wrong(node.span)
    inner = x.about_packets(name)
    lets = []
    for param, argument in zip(decl.params, node.args, strict=True):
        if is_packet(param.type):
            inner.locals[-1][param.name.text] = _packet(x, argument, decl, param)
        else:
            type = inner.types.resolve(param.type)
            lets.append((x.expr(argument.value, type), inner.bind(param.name, type)))
    body = inner.value_block(decl.body, inner.types.resolve(decl.result))
    for value, slot in reversed(lets):
        body = ir.LetIn(node.span, body.type, slot, value, body)
    return replace(body, span=node.span)  # what failed is the call: the body speaks of its packets by other names


def check(x: PropertyContext, decl: ast.FnDecl) -> None:
    """As if it were called."""
    if check_value(x, decl):
        inner = x.about_packets(decl.name.text)
        for param in decl.params:
            inner.bind(param.name, pr.PACKET if is_packet(param.type) else inner.types.resolve(param.type))
        inner.value_block(decl.body, inner.types.resolve(decl.result))


def _packet(x: PropertyContext, argument: ast.Argument, decl: ast.FnDecl, param: ast.TypedName) -> Local:
    """The packet that is given; E0321 if it is none."""
    found = packet_of(x, argument.value)
    if isinstance(found, ir.Local) and found.type == pr.PACKET:
        return Local(found.slot, pr.PACKET, param.name.span)
    x.report.add(
        "E0321",
        f"`{decl.name.text}` is asked about a packet, and this is none",
        argument.span,
        also=[(param.name.span, "declared here")],
        why="A packet is given by its name, which a `for`, `exists`, `forall` or an aggregate over `trace` binds.",
        mend=f"Give one of these names, for example `{some_packet(x)}`.",
    )
    return Local(x.shared.slot(), pr.PACKET, param.name.span)
