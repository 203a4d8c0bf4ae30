"""State and tables in expressions: reads, membership, lookups, methods, token buckets (LANGUAGE.md section 7)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.ir.classes import split
from polysome.ir.reads import children
from polysome.kinds.base import Method
from polysome.kinds.state import STATE_KINDS, TABLE_KINDS
from polysome.semantics import hints
from polysome.semantics.allowed import may, may_use_state, may_write
from polysome.semantics.arguments import arity, values_alone
from polysome.semantics.context import Context
from polysome.semantics.header_names import check_valid
from polysome.semantics.scope import NfScope
from polysome.semantics.type_resolver import unusable
from polysome.syntax import ast
from polysome.syntax.spans import Span


@dataclass(frozen=True)
class LookupTarget:
    """What `let v = … else` looks up: `kind` map, index, table or pool; `type` of what is found."""

    kind: str
    source: str
    key: ir.Expr | None
    type: t.Type
    index: str | None = None
    refresh: bool = True


def owner(x: Context, node: ast.Expr) -> tuple[NfScope, str] | None:
    """The scope and name if the node names state or an index, of the NF or of a block in it."""
    if isinstance(node, ast.Name):
        if any(node.text in scope for scope in x.locals):
            return None
        scope, name = x.scope, node.text
    elif isinstance(node, ast.Member) and isinstance(node.base, ast.Name) and node.base.text in x.scope.blocks:
        scope, name = x.scope.blocks[node.base.text], node.name.text
    else:
        return None
    return (scope, name) if name in scope.state or name in scope.indexes else None


def state_of(x: Context, node: ast.Expr) -> ir.AnyState | None:
    """The state that the node names, or None."""
    found = owner(x, node)
    return found[0].state.get(found[1]) if found else None


def bare(x: Context, scope: NfScope, name: str, span: Span) -> ir.Expr:
    """State named without index or method: only scalars are values."""
    decl = scope.state.get(name)
    if isinstance(decl, ir.ScalarDecl):
        return ir.StateRead(span, decl.type, decl.name) if may_use_state(x, span, name) else x.wrong(span)
    x.report.add(
        "E0502",
        f"`{name}` as a whole is not a value",
        span,
        why="Maps, sets, pools, arrays and sketches are read through an index or a method.",
        mend=f"Write for example {_uses(decl, name)}.",
    )
    return x.wrong(span)


def _uses(decl: ir.AnyState | None, name: str) -> str:
    """How state of this kind is used."""
    match decl:
        case ir.MapDecl(value=None):
            return f"`{name}.add(k);`, `k in {name}`, `remove {name}[k];`, `{name}.len`"
        case ir.PoolDecl():
            return f"`let v = {name}.take() else …;`, `{name}.len`"
        case ir.ArrayDecl():
            return f"`{name}[i]`"
        case ir.KindDecl():
            return ", ".join(f"`{name}.{m.name}(…)`" for m in STATE_KINDS[decl.kind].methods)
        case ir.MapDecl():
            return f"`let v = {name}[k] else …;`, `k in {name}`, `{name}.len`"
        case _:
            return f"`let e = {name}[k] else …;`"


def member(x: Context, node: ast.Member) -> ir.Expr | None:
    """`state.len`."""
    decl = state_of(x, node.base)
    if decl is None or isinstance(decl, ir.ScalarDecl):
        return None
    if node.name.text == "len" and not isinstance(decl, ir.KindDecl):
        usable = may_use_state(x, node.span, decl.name)
        if usable and isinstance(decl, ir.PoolDecl) and decl.per is not None:
            usable = _per_is_usable(x, decl, node.span, f"{decl.name}.len")
        return ir.StateLen(node.span, t.LITERAL, decl.name) if usable else x.wrong(node.span)
    known = ["len"] if not isinstance(decl, ir.KindDecl) else [f"{m.name}(…)" for m in STATE_KINDS[decl.kind].methods]
    x.report.add(
        "E0503",
        f"`{decl.name}` has no member `{node.name.text}`",
        node.name.span,
        why="State has the members and methods of its kind.",
        mend=hints.mend_method(node.name.text, decl, known),
    )
    return x.wrong(node.span)


def index(x: Context, node: ast.Index) -> ir.Expr | None:
    """`array[i]`; a map here is an error, for the entry may be absent."""
    decl = state_of(x, node.base)
    if isinstance(decl, ir.ArrayDecl):
        return ir.ArrayRead(node.span, decl.item, decl.name, x.integer(node.index))
    target = lookup(x, node)
    if target is None:
        return None
    return _absent(x, node, target)


def _absent(x: Context, node: ast.Expr, target: LookupTarget) -> ir.Expr:
    if unusable(target.type):
        return x.wrong(node.span)
    may_find_nothing(x, node.span, target, "Take it apart first: `let v = {} else …;`, or `if let v = {} {{ … }}`.")
    return x.wrong(node.span)


_NOTHING = {
    "pool": "All values of the pool may be taken; the program must say what happens then.",
    "table": "The table may have no row for this key; the program must say what happens then.",
}


def may_find_nothing(x: Context, span: Span, target: LookupTarget, mend: str) -> None:
    """E0501; `{}` in `mend` is the lookup as written."""
    ended = "The key may never have been stored, or its entry may have ended; the program must say what happens then."
    text = x.report.sources[span.file].text[span.start : span.end]
    shown = text if len(text) <= 40 and "\n" not in text else "…"
    if target.kind == "map" and isinstance(target.type, (t.Bits, t.Quantity)):
        mend += " To count or add up, write `{} += …;`."
    x.report.add(
        "E0501",
        "this lookup may find nothing",
        span,
        why=_NOTHING.get(target.kind, ended),
        mend=mend.replace("{}", shown).replace("{{", "{").replace("}}", "}"),
    )


def lookup(x: Context, node: ast.Expr) -> LookupTarget | None:
    """`map[k]`, `index[k]`, `table[k]` or `pool.take()`: something that may be absent; None for anything else."""
    if isinstance(node, ast.Call):
        return _pool_take(x, node) or _peek(x, node)
    if not isinstance(node, ast.Index):
        return None
    found = owner(x, node.base)
    if found is not None:
        scope, name = found
        if name in scope.indexes:
            map_name, decl = scope.indexes[name]
            target = scope.state[map_name]
            assert isinstance(target, ir.MapDecl) and target.value is not None
            key = x.expr(node.index, decl.key.type)
            return LookupTarget("index", target.name, key, t.Entry(target.key, target.value), decl.name)
        state = scope.state[name]
        if isinstance(state, ir.MapDecl) and state.value is not None:
            return LookupTarget("map", state.name, x.expr(node.index, state.key), state.value)
        return None
    return _table(x, node)


def _peek(x: Context, node: ast.Call) -> LookupTarget | None:
    """`map.peek(k)`, `index.peek(k)`: a lookup that does not refresh."""
    if not isinstance(node.callee, ast.Member) or node.callee.name.text != "peek" or len(node.args) != 1:
        return None
    if owner(x, node.callee.base) is None:
        return None
    target = lookup(x, ast.Index(node.span, node.callee.base, node.args[0].value))
    return None if target is None else replace(target, refresh=False)


def _table(x: Context, node: ast.Index) -> LookupTarget | None:
    base = node.base
    if not isinstance(base, ast.Name) or any(base.text in scope for scope in x.locals):
        return None
    decl = x.scope.config.get(base.text)
    if decl is None or not isinstance(decl.type, t.Table) or decl.type.hashed:
        return None
    key = x.expr(node.index, decl.type.key)
    row = t.Ref(decl.name, decl.type.value) if TABLE_KINDS[decl.type.kind].identity else decl.type.value
    return LookupTarget("table", decl.name, key, row)


def _pool_take(x: Context, node: ast.Call) -> LookupTarget | None:
    if not isinstance(node.callee, ast.Member) or node.callee.name.text != "take":
        return None
    decl = state_of(x, node.callee.base)
    if not isinstance(decl, ir.PoolDecl):
        return None
    arity(x, f"{decl.name}.take", len(node.args), (), node.span)
    if decl.per is not None and not _per_is_usable(x, decl, node.span, f"{decl.name}.take"):
        return None
    return LookupTarget("pool", decl.name, decl.per, t.FromPool(decl.name, decl.item))


def _per_is_usable(x: Context, decl: ir.PoolDecl, span: Span, what: str) -> bool:
    """`per` reads the packet, so the packet must be there, with those headers."""
    assert decl.per is not None and x.shared.parser is not None
    if not may(x, "packet", span, what):
        return False
    absent = next(_absent_headers(decl.per, x.mask, x.shared.parser), None)
    return absent is None or check_valid(x, (absent,), x.shared.parser.instances[absent].name, span)


def _absent_headers(e: ir.Expr, mask: int, parser: ir.Parser) -> Iterator[int]:
    """Headers that the expression reads although some class of `mask` lacks them."""
    match e:
        case ir.HeaderField(instance=i) | ir.RestBytes(instance=i) | ir.PacketFrom(instance=i):
            if mask & ~parser.having[i]:
                yield i
        case ir.Choose():
            yes, no = split(e.condition, mask, parser)
            yield from _absent_headers(e.condition, mask, parser)
            yield from _absent_headers(e.then, yes, parser)
            yield from _absent_headers(e.orelse, no, parser)
        case ir.Binary(op="and" | "or"):
            yes, no = split(e.left, mask, parser)
            yield from _absent_headers(e.left, mask, parser)
            yield from _absent_headers(e.right, yes if e.op == "and" else no, parser)
        case _:
            for child in children(e):
                yield from _absent_headers(child, mask, parser)


def contains(x: Context, node: ast.Binary) -> ir.Expr | None:
    """`k in m`, `k in index`, `x in bloom`."""
    found = owner(x, node.right)
    if found is None:
        return None
    scope, name = found
    if not may_use_state(x, node.span, name):
        return x.wrong(node.span)
    if name in scope.indexes:
        map_name, decl = scope.indexes[name]
        key = x.expr(node.left, decl.key.type)
        return ir.Contains(node.span, t.BOOL, scope.state[map_name].name, key, decl.name)
    state = scope.state[name]
    if isinstance(state, ir.MapDecl):
        return ir.Contains(node.span, t.BOOL, state.name, x.expr(node.left, state.key), None)
    if isinstance(state, ir.KindDecl) and (element := STATE_KINDS[state.kind].element) is not None:
        return ir.Contains(node.span, t.BOOL, state.name, x.expr(node.left, term(element, state)), None)
    x.report.add(
        "E0504",
        f"`in` is not defined for `{name}`",
        node.span,
        why="Maps, sets, indexes and Bloom filters answer whether they hold a key.",
        mend=f"Write `{name}.estimate(…) > 0`." if _estimates(state) else "Keep the keys in a `set` beside it.",
    )
    return x.wrong(node.span)


def _estimates(decl: ir.AnyState) -> bool:
    return isinstance(decl, ir.KindDecl) and any(m.name == "estimate" for m in STATE_KINDS[decl.kind].methods)


def method(x: Context, node: ast.Call) -> ir.Expr | None:
    """`state.method(…)`; None if the callee is no state or bucket."""
    assert isinstance(node.callee, ast.Member)
    name = node.callee.name.text
    decl = state_of(x, node.callee.base)
    if isinstance(decl, ir.KindDecl):
        return kind_method(x, decl, node)
    if isinstance(decl, ir.MapDecl) and decl.value is None and name == "add":
        if not arity(x, f"{decl.name}.add", len(node.args), ("key",), node.span):
            return x.wrong(node.span)
        key = x.expr(node.args[0].value, decl.key)
        return ir.MethodCall(node.span, t.Tuple(()), decl.name, "add", (key,))
    if isinstance(decl, ir.PoolDecl) and name == "take":
        target = _pool_take(x, node)
        return _absent(x, node, target) if target else x.wrong(node.span)
    if name == "peek" and (target := _peek(x, node)) is not None:
        return _absent(x, node, target)
    if name in ("has", "take"):
        found = place(x, node.callee.base)
        if found is not None:
            where, type = found
            if isinstance(type, t.Bucket):
                return bucket_op(x, node, where, type, name == "take")
            if type == t.WRONG:
                return x.wrong(node.span)
    if decl is not None and not isinstance(decl, ir.ScalarDecl):
        x.report.add(
            "E0503",
            f"`{decl.name}` has no member `{name}`",
            node.callee.name.span,
            why="State has the members and methods of its kind.",
            mend=hints.mend_method(name, decl, _methods(decl)),
        )
        return x.wrong(node.span)
    return None


def _methods(decl: ir.AnyState) -> list[str]:
    if isinstance(decl, ir.KindDecl):
        return [m.name for m in STATE_KINDS[decl.kind].methods]
    if isinstance(decl, ir.PoolDecl):
        return ["take", "len"]
    return ["add", "len"] if isinstance(decl, ir.MapDecl) and decl.value is None else ["len"]


def term(text: str, decl: ir.KindDecl) -> t.Type:
    """A type term of a kind's signature as a type."""
    kind = STATE_KINDS[decl.kind]
    if text in kind.params:
        return decl.params[kind.params.index(text)]
    return {"u64": t.U64, "bool": t.BOOL, "bytes": t.BYTES, "duration": t.DURATION, "count": t.U64}[text]


def kind_method(x: Context, decl: ir.KindDecl, node: ast.Call) -> ir.Expr:
    assert isinstance(node.callee, ast.Member)
    name = node.callee.name.text
    methods = {m.name: m for m in STATE_KINDS[decl.kind].methods}
    found: Method | None = methods.get(name)
    if found is None:
        x.report.add(
            "E0503",
            f"`{decl.name}` has no member `{name}`",
            node.callee.name.span,
            why="State has the members and methods of its kind.",
            mend=hints.mend_method(name, decl, methods),
        )
        return x.wrong(node.span)
    if not may_use_state(x, node.span, decl.name) or (
        found.writes and not may_write(x, node.span, f"{decl.name}.{name}")
    ):
        return x.wrong(node.span)
    terms = found.params
    shown = tuple("key" if p in STATE_KINDS[decl.kind].params else p for p in terms)
    full = f"{decl.name}.{name}"
    if not values_alone(x, full, node.args) or not arity(
        x, full, len(node.args), shown, node.span, optional=found.optional_params
    ):
        return x.wrong(node.span)
    args = [x.expr(a.value, term(p, decl)) for a, p in zip(node.args, terms, strict=False)]
    args += [ir.Const(node.span, term(p, decl), 1) for p in terms[len(args) :]]
    result = term(found.result, decl) if found.result else t.Tuple(())
    return ir.MethodCall(node.span, result, decl.name, name, tuple(args))


# ---------------------------------------------------------------- places and token buckets


def place(x: Context, node: ast.Expr) -> tuple[ir.Place, t.Type] | None:
    """A writable place in state: a scalar, `array[i]`, `map[k]`, then members; None if it is none."""
    if isinstance(node, ast.Member):
        inner = place(x, node.base)
        if inner is not None:
            where, type = inner
            if isinstance(type, t.Struct) and (i := type.index(node.name.text)) is not None:
                return ir.Place(node.span, where.state, where.kind, where.key, (*where.path, i)), type.fields[i][1]
            if isinstance(type, t.Tuple) and node.name.text.isdigit() and int(node.name.text) < len(type.items):
                i = int(node.name.text)
                return ir.Place(node.span, where.state, where.kind, where.key, (*where.path, i)), type.items[i]
            if state_of(x, node) is None:
                return None
    decl = state_of(x, node)
    if isinstance(decl, ir.ScalarDecl):
        return ir.Place(node.span, decl.name, "scalar", None, ()), decl.type
    if isinstance(node, ast.Index):
        decl = state_of(x, node.base)
        if isinstance(decl, ir.ArrayDecl):
            return ir.Place(node.span, decl.name, "array", x.integer(node.index), ()), decl.item
        if isinstance(decl, ir.MapDecl) and decl.value is not None:
            return ir.Place(node.span, decl.name, "map", x.expr(node.index, decl.key), ()), decl.value
    return None


def bucket_op(x: Context, node: ast.Call, where: ir.Place, type: t.Bucket, take: bool) -> ir.Expr:
    named = {a.name.text: a for a in node.args if a.name is not None}
    plain = [a for a in node.args if a.name is None]
    name = "take" if take else "has"
    if not arity(x, name, len(plain), ("n",), node.span):
        return x.wrong(node.span)
    rate, burst = type.rate, type.burst
    if "rate" in named and "burst" in named:
        rate, burst = x.bucket_args(named["rate"].value, named["burst"].value)
    if (
        not isinstance(rate, ir.Expr)
        or not isinstance(burst, ir.Expr)
        or set(named) - {"rate", "burst"}
        or len(named) == 1
    ):
        x.report.add(
            "E0506",
            f"`{name}` needs the bucket's rate and burst",
            node.span,
            why="The declaration `token_bucket` leaves both to each use; `token_bucket(rate, burst)` would fix them.",
            mend=f"Write `{name}(n, rate: …, burst: …)`.",
        )
        return x.wrong(node.span)
    if not may_use_state(x, node.span, where.state) or (take and not may_write(x, node.span, "take")):
        return x.wrong(node.span)
    amount = x.expr(plain[0].value, t.U64 if rate.type == t.PACKETRATE else t.BYTES)
    return ir.BucketOp(node.span, t.BOOL, where, take, amount, rate, burst)
