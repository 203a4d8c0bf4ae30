"""The functions of properties: aggregates, windows, ends of entries, checksums, runs (LANGUAGE.md L12.8 to L12.13)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from polysome.ir import program as ir
from polysome.ir import properties as pr
from polysome.ir import types as t
from polysome.semantics import calls, property_functions, property_paths, property_runs, state_access
from polysome.semantics.property_context import PropertyContext
from polysome.semantics.property_usage import USAGE
from polysome.semantics.scope import NfScope
from polysome.semantics.typed import plain
from polysome.syntax import ast
from polysome.syntax.diagnostics import one_of


def call(x: PropertyContext, node: ast.Call) -> ir.Expr | None:
    """A function that only properties have; None for those of the language. E0320 if there is none of the name."""
    assert isinstance(node.callee, ast.Name)
    name = node.callee.text
    decl = x.scope.names.values.get(name)
    if isinstance(decl, ast.FnDecl):
        return property_functions.call(x, decl, node) if property_functions.about_packets(x.scope, decl) else None
    if name in FUNCTIONS:
        return FUNCTIONS[name](x, node)
    if name in calls.BUILTINS or name in x.scope.actions:
        return None
    fns = [n for n, d in x.scope.names.values.items() if isinstance(d, ast.FnDecl)]
    x.report.add(
        "E0320",
        f"there is no function `{name}`",
        node.callee.span,
        why="In a property, functions are `fn`s, builtins, and what section 12 of the manual adds.",
        mend=one_of(name, [*FUNCTIONS, *calls.BUILTINS, *fns]),
    )
    return x.wrong(node.span)


def _misused(x: PropertyContext, node: ast.Call) -> ir.Expr:
    assert isinstance(node.callee, ast.Name)
    usage, why = USAGE[node.callee.text]
    x.report.add(
        "E0908",
        f"`{node.callee.text}` is not written like this",
        node.span,
        why=why,
        mend=f"Write `{usage}`.",
    )
    return x.wrong(node.span)


def _plain(args: Sequence[ast.Argument]) -> bool:
    """Only values: no names, ranges, conditions, results."""
    return all(a.name is None and a.end is None and a.where is None and a.result is None for a in args)


# ---------------------------------------------------------------- aggregates


def _minmax(x: PropertyContext, node: ast.Call) -> ir.Expr | None:
    return None if len(node.args) == 2 and _plain(node.args) else _aggregate(x, node)


def _aggregate(x: PropertyContext, node: ast.Call) -> ir.Expr:
    assert isinstance(node.callee, ast.Name)
    op, arg = node.callee.text, node.args[0] if len(node.args) == 1 else None
    if arg is None or arg.name is not None or arg.end is not None or (arg.result is None) != (op == "count"):
        return _misused(x, node)
    if not isinstance(arg.value, ast.Binary) or arg.value.op != "in" or not isinstance(arg.value.left, ast.Name):
        return _misused(x, node)
    name = ast.Ident(arg.value.left.span, arg.value.left.text)
    domain, types = x.domain(arg.value.right, 1)
    x.locals.append({})
    slot = x.bind(name, types[0])
    where = x.expr(arg.where, t.BOOL) if arg.where is not None else None
    value = _aggregated(x, op, arg.result) if arg.result is not None else None
    x.locals.pop()
    type = t.U64 if value is None or op == "distinct" else value.type
    return pr.Aggregate(node.span, type, op, slot, name.text, domain, where, value)


def _aggregated(x: PropertyContext, op: str, node: ast.Expr) -> ir.Expr:
    """What is aggregated; sums of integers have at least 64 bits, so that they wrap late. E0909 if it cannot be."""
    value = plain(x.value(node))
    type = value.type
    if op == "sum" and isinstance(type, t.Bits):
        return ir.Cast(value.span, t.U64, value, False) if type.width < 64 else value
    summable = isinstance(type, t.Quantity) and type != t.TIME
    ordered = isinstance(type, (t.Bits, t.Quantity, t.Address))
    fits = {"sum": summable, "min": ordered, "max": ordered, "distinct": t.width(type) is not None or type == t.STR}
    if fits[op] or type == t.WRONG:
        return value
    x.report.add(
        "E0909",
        f"`{op}` is not defined for {type}",
        value.span,
        why="Integers and quantities can be added up; these, times and addresses have an order; `distinct` compares "
        "values of fixed size and text.",
        mend=_FITTING[op],
    )
    return x.wrong(node.span)


_ORDERED = "Use an integer, a quantity, a time or an address; `distinct` counts how many different values there are."
_FITTING = {
    "sum": "Use an integer or a quantity; `distinct` counts how many different values there are.",
    "min": _ORDERED,
    "max": _ORDERED,
    "distinct": "Use a value of fixed size, or text.",
}


# ---------------------------------------------------------------- windows


def _window(x: PropertyContext, arg: ast.Argument, type: t.Type = t.TIME) -> pr.Window | None:
    """`a..b` as an argument, or None if it is none."""
    if arg.name is not None or arg.end is None or arg.where is not None or arg.result is not None:
        return None
    return pr.Window(arg.span, x.expr(arg.value, type), x.expr(arg.end, type))


def _passed(x: PropertyContext, node: ast.Call) -> ir.Expr:
    assert isinstance(node.callee, ast.Name)
    if len(node.args) != 2 or node.args[0].end is not None or node.args[0].where is not None:
        return _misused(x, node)
    key = node.args[0]
    by = "flow" if key.name is None else key.name.text
    types = {"flow": _flow(x), "class": x.shared.order_class}
    type = types.get(by)
    window = _window(x, node.args[1])
    if type is None or window is None:
        return _misused(x, node)
    unit = node.callee.text
    result = t.BYTES if unit == "bytes" else t.U64
    return pr.Passed(node.span, result, unit, by, x.expr(key.value, type), window)


def _flow(x: PropertyContext) -> t.Type | None:
    """The type of the parser's `flow`, if it has that value."""
    values = x.shared.parser.values if x.shared.parser is not None else {}
    return values["flow"].value.type if "flow" in values else None


def _within(x: PropertyContext, node: ast.Call) -> ir.Expr:
    if len(node.args) != 2 or not _plain(node.args[:1]):
        return _misused(x, node)
    value = x.value(node.args[0].value)
    window = _window(x, node.args[1], value.type)
    if window is None:
        return _misused(x, node)
    if not isinstance(value.type, (t.Bits, t.Quantity, t.Address, t.Wrong)):
        x.report.add(
            "E0909",
            f"`within` is not defined for {value.type}",
            value.span,
            why="A window has a beginning and an end, so its values need an order.",
            mend="Use a time, a quantity, an integer or an address.",
        )
    after = ir.Binary(node.span, t.BOOL, "<=", window.low, value)
    return ir.Binary(node.span, t.BOOL, "and", after, ir.Binary(node.span, t.BOOL, "<", value, window.high))


def _no_gap(x: PropertyContext, node: ast.Call) -> ir.Expr:
    type = _flow(x)
    if type is None or len(node.args) not in (2, 3) or not _plain(node.args[:2]):
        return _misused(x, node)
    window = _window(x, node.args[2]) if len(node.args) == 3 else None
    if len(node.args) == 3 and window is None:
        return _misused(x, node)
    flow, longest = x.expr(node.args[0].value, type), x.expr(node.args[1].value, t.DURATION)
    return pr.NoGap(node.span, t.BOOL, flow, longest, window)


# ---------------------------------------------------------------- ends of entries


def _ended(x: PropertyContext, node: ast.Call) -> ir.Expr:
    """`ended(m[k], End.idle, a..b)`; each argument may be left out, but not all of them."""
    assert isinstance(node.callee, ast.Name)
    rest = list(node.args)
    key = rest.pop(0).value if rest and _plain(rest[:1]) and not _says_how(rest[0].value) else None
    why = t.END.number("evicted") if node.callee.text == "evicted" else None
    if node.callee.text == "ended" and rest and _plain(rest[:1]):
        why = x.constant(rest.pop(0).value, t.END)
    window = _window(x, rest[0]) if rest else None
    if len(rest) > 1 or not node.args or (rest and window is None):
        return _misused(x, node)
    if key is None:
        assert x.shared.root is not None
        maps = tuple(d.name for d in _maps(x.shared.root))
        return pr.Ended(node.span, t.BOOL, maps, None, why, window)
    found = _entry(x, key) or _key(x, key)
    return x.wrong(node.span) if found is None else pr.Ended(node.span, t.BOOL, found[0], found[1], why, window)


def _says_how(node: ast.Expr) -> bool:
    return isinstance(node, ast.Member) and isinstance(node.base, ast.Name) and node.base.text == "End"


def _full(x: PropertyContext, node: ast.Call) -> ir.Expr:
    window = _window(x, node.args[0]) if node.args else None
    if len(node.args) > 1 or (node.args and window is None):
        return _misused(x, node)
    return pr.Full(node.span, t.BOOL, window)


def _entry(x: PropertyContext, node: ast.Expr) -> tuple[tuple[str, ...], ir.Expr] | None:
    """`m[k]`: the map and the key."""
    decl = state_access.state_of(x, node.base) if isinstance(node, ast.Index) else None
    if not isinstance(decl, ir.MapDecl) or not isinstance(node, ast.Index):
        return None
    return (decl.name,), x.expr(node.index, decl.key)


def _key(x: PropertyContext, node: ast.Expr) -> tuple[tuple[str, ...], ir.Expr] | None:
    """`k`: all maps with keys of this type. E0910 if there is none."""
    key = x.typed(node, None)
    if isinstance(key.type, t.FromPool):
        key = x.coerce(key, key.type.item)
    assert x.shared.root is not None
    maps = [d for d in _maps(x.shared.root) if _fits(key.type, d.key)]
    if key.type == t.WRONG:
        return None
    if len({d.key for d in maps}) != 1:
        x.report.add(
            "E0910",
            f"no map or set has keys of type {key.type}" if not maps else "it is not clear which map is meant",
            node.span,
            why="A key without a map stands for every map and set with keys of its type.",
            mend="Name the map: `m[k]`." if maps else "Name the map, with a key of its type: `m[k]`.",
        )
        return None
    return tuple(d.name for d in maps), x.coerce(key, maps[0].key)


def _maps(scope: NfScope) -> list[ir.MapDecl]:
    """The maps and sets of the NF and of the blocks in it."""
    own = [d for d in scope.state.values() if isinstance(d, ir.MapDecl)]
    return own + [d for block in scope.blocks.values() for d in _maps(block)]


def _fits(have: t.Type, want: t.Type) -> bool:
    """Is this the key's type, but for literals without a width?"""
    if isinstance(have, t.Tuple) and isinstance(want, t.Tuple) and len(have.items) == len(want.items):
        return all(map(_fits, have.items, want.items))
    return have == want or (isinstance(have, t.Literal) and isinstance(want, t.Bits))


# ---------------------------------------------------------------- checksums


def _checksums_valid(x: PropertyContext, node: ast.Call) -> ir.Expr:
    """Of one side; of a packet as a whole: a packet that came with right checksums leaves with right ones."""
    if len(node.args) != 1 or not _plain(node.args):
        return _misused(x, node)
    arg, span = node.args[0].value, node.span
    packet = property_paths.packet_of(x, arg)
    if packet is not None:
        after = pr.ChecksumsValid(span, t.BOOL, packet, "out")
        if packet.type == pr.EMITTED:
            return after
        wrong = ir.Unary(span, t.BOOL, "not", pr.ChecksumsValid(span, t.BOOL, packet, "in"))
        return ir.Binary(span, t.BOOL, "or", wrong, after)
    path = property_paths.path_of(x, arg)
    if path is None or path.rest is not None or path.word.text not in ("in", "out"):
        return _misused(x, node)
    return pr.ChecksumsValid(span, t.BOOL, path.packet, path.word.text)


FUNCTIONS: dict[str, Callable[[PropertyContext, ast.Call], ir.Expr | None]] = {
    "count": _aggregate,
    "sum": _aggregate,
    "min": _minmax,
    "max": _minmax,
    "distinct": _aggregate,
    "bytes": _passed,
    "packets": _passed,
    "within": _within,
    "no_gap": _no_gap,
    "evicted": _ended,
    "ended": _ended,
    "full": _full,
    "checksums_valid": _checksums_valid,
    "outputs": property_runs.outputs,
}
