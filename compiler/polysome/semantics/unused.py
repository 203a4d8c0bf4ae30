"""Declarations that nothing uses are checked too, for whatever is wrong in them; they are no part of the program."""

from __future__ import annotations

from polysome.semantics.context import Shared
from polysome.semantics.expressions import Expressions
from polysome.semantics.functions import function
from polysome.semantics.modules import Module
from polysome.semantics.property_expressions import PropertyExpressions
from polysome.semantics.property_functions import about_packets, check
from polysome.semantics.scope import NfScope
from polysome.semantics.statements import Statements
from polysome.syntax import ast


def check_unused(shared: Shared, module: Module, scopes: list[tuple[NfScope, ast.NfDecl]]) -> None:
    """Types, consts, functions and actions of the file and of the blocks in its NF; what was used before is known."""
    used = set(shared.fns)
    own = [i for i in module.ast.items if not isinstance(i, ast.NfDecl)]
    for scope, decl in scopes:
        x = Expressions(shared, scope, frozenset())
        for item in (*decl.items, *own):
            match item:
                case ast.StructDecl() | ast.EnumDecl() if scope.names.types.get(item.name.text) is item:
                    x.types.named(item.name.text)
                case ast.ConstDecl() if scope.names.values.get(item.name.text) is item:
                    x.typed(ast.Name(item.name.span, item.name.text), None)
                case ast.FnDecl() if about_packets(scope, item):
                    if scope is shared.root:  # that of a block fits the NF or not, as its properties do
                        check(PropertyExpressions(shared, scope), item)
                case ast.FnDecl() if scope.names.values.get(item.name.text) is item:
                    function(x, item, item.name.span)
                case ast.ActionDecl() if scope.actions.get(item.name.text) is item:
                    _action(shared, scope, item)
        own = []
    for name in set(shared.fns) - used:
        del shared.fns[name]


def _action(shared: Shared, scope: NfScope, decl: ast.ActionDecl) -> None:
    """As if it were called where every header is there."""
    x = Statements(shared, scope, packet=True)
    x.mask = 0
    x.open_action(scope.prefix + decl.name.text)
    for p in decl.params:
        x.bind(p.name, x.types.resolve(p.type))
    x.block(decl.body)
