"""Assignments: to locals, header fields, scalars, arrays and map entries, whole or in part (LANGUAGE.md L5.2, L7.3)."""

from __future__ import annotations

from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.ir.value_places import members
from polysome.semantics import calls, hints, names, operators, state_access
from polysome.semantics.allowed import may, may_use_state, may_write
from polysome.semantics.context import Context
from polysome.semantics.header_names import check_field, check_valid, first_name, flatten, members_of
from polysome.semantics.typed import plain
from polysome.syntax import ast
from polysome.syntax.spans import Span


def store(x: Context, node: ast.Assign, value: ast.Expr | ir.Expr) -> list[ir.Statement]:
    """`target op= value`; of a value that is typed already, as it is."""
    target = node.target
    if isinstance(target, ast.Name) and any(target.text in scope for scope in x.locals):
        return _store_local(x, node, target, value)
    header = _header_target(x, target)
    if header is not None:
        return _store_field(x, node, header, value)
    place = state_access.place(x, target)
    if place is not None:
        if not may_write(x, node.span, "=") or not may_use_state(x, target.span, place[0].state):
            return []
        return _store_place(x, node, place[0], place[1], value)
    if not isinstance(value, ir.Expr):
        x.typed(value, None)
    return _no_target(x, target)


def _no_target(x: Context, target: ast.Expr) -> list[ir.Statement]:
    if _config_entry(x, target) is not None or x.typed(target, None).type != t.WRONG:
        text = x.report.sources[target.span.file].text[target.span.start : target.span.end]
        x.report.add(
            "E0605",
            f"`{text}` cannot be assigned to" if len(text) <= 40 else "this cannot be assigned to",
            target.span,
            why="Locals, header fields, scalars of state, array elements and map entries can be written, nothing else.",
            mend=_mend_target(x, target),
        )
    return []


def _config_entry(x: Context, target: ast.Expr) -> ir.ConfigDecl | None:
    """The config of which the target is an entry: reading it would be another matter."""
    named = isinstance(target, ast.Index) and isinstance(target.base, ast.Name)
    return calls.config_item(x, first_name(target) or "") if named else None


def _mend_target(x: Context, target: ast.Expr) -> str:
    root = first_name(target) or ""
    if (item := _config_entry(x, target)) is not None:
        return hints.mend_config(root, item.type)
    if any(root in scope for scope in x.locals):
        return (
            "A local is changed as a whole: `x = …;`. If a lookup bound it, write to the entry itself: `m[k].f = …;`."
        )
    if root in x.scope.params or root in x.scope.config or root in x.scope.names.values:
        return "It is the same for every packet; what changes is declared in `state`."
    if isinstance(target, ast.BitSlice):
        return "Write the whole, with these bits in it: for example `x = (x & 0xf0) | 5;`."
    if isinstance(target, ast.Range):
        return "Bytes of the payload and of `rest` fields are only read; other fields are written as a whole."
    if isinstance(target, ast.Name) and members_of(x, root) is not None:
        return f"Write to its fields: `{root}.… = …;`; `push` and `pop` add and remove headers."
    if root == "flow" or root in names.PACKET_WORDS or root == "now":
        return "It describes the packet as it arrived; write the fields of a header, for example `ipv4.src = …`."
    return "Write to a local, a field of a header, or state."


def _value(x: Context, node: ast.Assign, current: ir.Expr, type: t.Type, value: ast.Expr | ir.Expr) -> ir.Expr:
    """The value to store: as given, or `current op value`."""
    if isinstance(value, ir.Expr):
        return x.coerce(value, type)
    if node.op == "=":
        return x.expr(value, type)
    op = node.op[:-1]
    right = plain(x.typed(value, type))
    current, right = operators.unify(x, plain(current), right)
    if t.WRONG in (current.type, right.type):
        return x.wrong(node.span)
    fake = ast.Binary(node.span, op, node.target, value)
    return x.coerce(operators.arithmetic(x, fake, current, right), type)


def _store_local(x: Context, node: ast.Assign, target: ast.Name, value: ast.Expr | ir.Expr) -> list[ir.Statement]:
    local = next(scope[target.text] for scope in reversed(x.locals) if target.text in scope)
    current = ir.Local(target.span, local.type, local.slot, target.text)
    return [ir.SetLocal(node.span, local.slot, target.text, _value(x, node, current, local.type, value))]


def _header_target(x: Context, target: ast.Expr) -> tuple[tuple[int, ...], str, ast.Ident] | None:
    """The instances, their name and the field if the target is `header.field`."""
    if not isinstance(target, ast.Member):
        return None
    base = flatten(target.base)
    if base is None:
        return None
    root = base.split(".")[0].split("[")[0]
    if any(root in scope for scope in x.locals):
        return None
    instances = members_of(x, base)
    return None if instances is None else (instances, base, target.name)


def _store_field(
    x: Context, node: ast.Assign, header: tuple[tuple[int, ...], str, ast.Ident], value: ast.Expr | ir.Expr
) -> list[ir.Statement]:
    instances, text, name = header
    span = node.target.span
    if not may(x, "packet", span, text) or not check_field(x, instances, text, name):
        if not isinstance(value, ir.Expr):
            x.typed(value, None)
        return []
    check_valid(x, instances, text, span)
    assert x.shared.parser is not None
    parser = x.shared.parser
    possible = [i for i in instances if x.mask & parser.having[i]] or [instances[-1]]
    body: ir.Body = ()
    for i in reversed(possible):
        layout = parser.instances[i].header
        index = layout.index(name.text)
        assert index is not None
        field = layout.fields[index]
        if field.read_only:
            _read_only(x, field, span)
            return []
        current = ir.HeaderField(span, field.type, i, index)
        write = ir.FieldWrite(node.span, i, index, _value(x, node, current, field.type, value))
        body = (ir.If(node.span, ir.Valid(span, t.BOOL, i), (write,), body),) if body else (write,)
    return list(body)


def _read_only(x: Context, field: ir.Field, span: Span) -> None:
    kinds = {"length": field.length, "next": field.next, "checksum": field.checksum}
    kind = next((k for k, v in kinds.items() if v is not None), "rest")
    why = "`apply` sets lengths, next-header numbers and checksums when what they say changes."
    mend = "Write what it describes: the fields it covers, `push`, `pop` or `truncate`."
    if kind == "rest":
        why = "A header keeps its length, so that what follows stays in place."
        mend = "Write other fields, or `pop` the header and `push` a new one."
    x.report.add(
        "E0410",
        f"`{field.name}` is a {kind} field and cannot be written",
        span,
        also=[(field.span, "declared here")],
        why=why,
        mend=mend,
    )


def _store_place(
    x: Context, node: ast.Assign, place: ir.Place, type: t.Type, value: ast.Expr | ir.Expr
) -> list[ir.Statement]:
    decl = _state(x, place.state)
    if place.kind == "map":
        assert isinstance(decl, ir.MapDecl) and decl.value is not None and place.key is not None
        if not place.path and node.op == "=":
            return [ir.MapPut(node.span, decl.name, place.key, _value(x, node, x.wrong(node.span), type, value), None)]
        slot = x.shared.slot()
        current = ir.Local(node.span, decl.value, slot, "current")
        return [ir.MapPut(node.span, decl.name, place.key, _changed(x, node, current, place, type, value), slot)]
    current_all: ir.Expr
    if isinstance(decl, ir.ScalarDecl):
        current_all = ir.StateRead(node.span, decl.type, decl.name)
    else:
        assert isinstance(decl, ir.ArrayDecl) and place.key is not None
        current_all = ir.ArrayRead(node.span, decl.item, decl.name, place.key)
    return [ir.StateWrite(node.span, decl.name, place.key, _changed(x, node, current_all, place, type, value))]


def _state(x: Context, full: str) -> ir.AnyState:
    assert x.shared.root is not None
    for scope in (x.scope, x.shared.root, *x.shared.root.blocks.values()):
        for decl in scope.state.values():
            if decl.name == full:
                return decl
    raise KeyError(full)


def _changed(
    x: Context, node: ast.Assign, whole: ir.Expr, place: ir.Place, type: t.Type, value: ast.Expr | ir.Expr
) -> ir.Expr:
    """The whole value with the member at the place's path replaced."""
    part = whole
    for i in place.path:
        part = ir.Get(node.span, members(part.type)[i], part, i)
    return with_member(whole, place.path, _value(x, node, part, type, value))


def with_member(whole: ir.Expr, path: tuple[int, ...], value: ir.Expr) -> ir.Expr:
    """`whole` with the member at `path` replaced by `value`."""
    if not path:
        return value
    type = whole.type
    inside, items = members(type), []
    for i in range(len(inside)):
        part = ir.Get(whole.span, inside[i], whole, i)
        items.append(with_member(part, path[1:], value) if i == path[0] else part)
    return ir.Make(whole.span, type, tuple(items))


def remove(x: Context, node: ast.Remove) -> list[ir.Statement]:
    """`remove m[k];`"""
    if isinstance(node.target, ast.Index):
        decl = state_access.state_of(x, node.target.base)
        if isinstance(decl, ir.MapDecl):
            return [ir.MapRemove(node.span, decl.name, x.expr(node.target.index, decl.key))]
    x.report.add(
        "E0509",
        "`remove` takes an entry of a map or set",
        node.target.span,
        why="`remove m[k];` ends the entry; removing an absent key is nothing.",
        mend=_mend_remove(x, node.target),
    )
    return []


def _mend_remove(x: Context, target: ast.Expr) -> str:
    root = first_name(target) or ""
    item = calls.config_item(x, root)
    return "Write `remove m[k];`." if item is None else hints.mend_config(root, item.type)
