"""State and config declarations (LANGUAGE.md sections 7 and 8, STATE.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.ir.fold import NotConstant, Undefined, fold, zero
from polysome.kinds.state import STATE_KINDS, TABLE_KINDS
from polysome.semantics.clauses import Clauses
from polysome.semantics.context import Shared
from polysome.semantics.expressions import Expressions
from polysome.semantics.scope import NfScope
from polysome.semantics.type_resolver import state_only, unusable
from polysome.syntax import ast
from polysome.syntax.diagnostics import did_you_mean
from polysome.syntax.spans import Span

WHEN_FULL = {"drop": "drop", "evict oldest": "evict", "pass": "pass"}
_POLICY_WORDS = "`when full drop`, `when full evict oldest`, `when full pass`"


class StateBuilder:
    """Builds the state declarations of one scope. `capacities` overrides sizes by full name (tests shrink them)."""

    def __init__(self, shared: Shared, scope: NfScope, capacities: Mapping[str, int]) -> None:
        self.shared, self.scope, self.report = shared, scope, shared.report
        self.capacities = capacities
        self.x = Expressions(shared, scope, frozenset())

    # ------------------------------------------------------------ config

    def config(self, decl: ast.ConfigDecl) -> ir.ConfigDecl:
        """A config item; tables are empty by default."""
        type = self.x.types.resolve(decl.type)
        default: Any = None
        if decl.default is not None:
            default = self.x.constant(decl.default, type)
        elif isinstance(type, (t.ListOf, t.SetOf, t.Table)):
            default = ()
        own = TABLE_KINDS[type.kind].options if isinstance(type, t.Table) else ()
        clauses = Clauses(
            self.x, decl.clauses, [option.name for option in own], f"config `{decl.name.text}`", decl.name.span
        )
        return ir.ConfigDecl(self.scope.prefix + decl.name.text, type, default, decl.span, clauses.options(own))

    # ------------------------------------------------------------ state

    def state(self, decl: ast.StateDecl) -> ir.AnyState | None:
        """A state declaration, or None if its type is unusable (reported)."""
        name = self.scope.prefix + decl.name.text
        written = decl.type
        if isinstance(written, ast.TypeName):
            if written.name == "map" and len(written.args) == 2:
                return self._map(decl, name, written.args[0], written.args[1])
            if written.name == "set" and len(written.args) == 1:
                return self._map(decl, name, written.args[0], None)
            if written.name == "pool" and len(written.args) == 1:
                return self._pool(decl, name, written.args[0])
            if written.name == "array" and len(written.args) == 1:
                return self._array(decl, name, written)
            if written.name in STATE_KINDS:
                return self._kind(decl, name, written)
        return self._scalar(decl, name)

    def _type(self, node: ast.TypeExpr | int) -> t.Type:
        return t.WRONG if isinstance(node, int) else self.x.types.resolve(node)

    def _value_type(self, node: ast.TypeExpr | int) -> t.Type:
        """The type of values in state; WRONG, and reported, if they have no fixed size."""
        type = self._type(node)
        config = _config_part(type)
        if config is None or isinstance(node, int):
            return type
        self._no_state(config, node.span, _mend_nested(config))
        return t.WRONG

    def _no_state(self, type: t.Type, span: Span, mend: str) -> None:
        self.report.add(
            "E0522",
            f"{type} cannot be state",
            span,
            why="Lists, prefixes and tables are config: filled by the operator, read by the NF.",
            mend=mend,
        )

    def _map(
        self, decl: ast.StateDecl, name: str, key_node: ast.TypeExpr | int, value_node: ast.TypeExpr | int | None
    ) -> ir.MapDecl:
        key = self._key_type(key_node, decl)
        value = None if value_node is None else self._value_type(value_node)
        what = f"{'map' if value_node is not None else 'set'} `{decl.name.text}`"
        known = ("capacity", "idle", "age", "forever", "when full")
        clauses = Clauses(self.x, decl.clauses, known, what, decl.name.span)
        capacity = self.capacities.get(name, clauses.constant("capacity", "count"))
        if "capacity" not in clauses:
            clauses.missing(
                "capacity", "Memory is reserved before the first packet.", "Add for example `capacity 1M;`."
            )
        idle, age = self._timeout(clauses, "idle", key, value), self._timeout(clauses, "age", key, value)
        if idle is None and age is None and not {"forever", "idle", "age"} & set(clauses.by_name):
            clauses.missing(
                "idle",
                "Entries must end some time, or be said to live forever.",
                "Add `idle 30s;`, `age 1h;` or `forever;`.",
            )
        when_full = clauses.when_full(WHEN_FULL, required=True)
        clauses.none("forever")
        return ir.MapDecl(
            name, decl.span, decl.per_core, key, value, max(1, capacity or 1), idle, age, when_full or "drop", ()
        )

    def _key_type(self, node: ast.TypeExpr | int, decl: ast.StateDecl) -> t.Type:
        key = self._type(node)
        if t.width(key) is None and not unusable(key):
            self.report.add(
                "E0516",
                f"{key} cannot be a key",
                node.span if not isinstance(node, int) else decl.type.span,
                why="Keys have a fixed number of bits: integers, addresses, enums, structs and tuples of these.",
                mend="Use the parts that identify the entry.",
            )
            return t.WRONG
        return key

    def _timeout(self, clauses: Clauses, name: str, key: t.Type, value: t.Type | None) -> ir.Timeout | None:
        clause, written = clauses.by_name.get(name), clauses.one(name)
        if clause is None or written is None:
            return None
        x = Expressions(self.shared, self.scope, frozenset(("config",)))
        x.mask = 0
        key_slot = x.bind(ast.Ident(clause.span, "key"), key)
        value_slot = x.bind(ast.Ident(clause.span, "value"), value if value is not None else t.WRONG)
        expression = x.expr(written, t.DURATION)
        maximum = x.constant(clause.maximum, t.DURATION) if clause.maximum is not None else None
        constant = _constant(expression)
        if constant is not None and expression.type != t.WRONG:
            maximum = constant
            if maximum == 0:
                self.report.add(
                    "E0517",
                    f"`{name}` must be longer than nothing",
                    written.span,
                    why="An entry would end the instant it is made.",
                    mend="Give a duration above zero; for entries that never end by themselves, write `forever;`.",
                )
        elif maximum is None and expression.type != t.WRONG:
            self.report.add(
                "E0518",
                f"a computed `{name}` needs a `max`",
                clause.span,
                why="The bound sizes memory and timers before the first packet.",
                mend=f"Write `{name} … max 1h;`.",
            )
        return ir.Timeout(expression, maximum, key_slot, value_slot)

    def _pool(self, decl: ast.StateDecl, name: str, item_node: ast.TypeExpr | int) -> ir.PoolDecl:
        item = self._type(item_node)
        clauses = Clauses(self.x, decl.clauses, ("from", "per"), f"pool `{decl.name.text}`", decl.name.span)
        if "from" not in clauses:
            clauses.missing("from", "A pool hands out values from somewhere.", "Add `from addresses, 1024..65535;`.")
            return ir.PoolDecl(name, decl.span, decl.per_core, item, (), None)
        members = (
            tuple(f for _, f in item.fields)
            if isinstance(item, t.Struct)
            else item.items
            if isinstance(item, t.Tuple)
            else (item,)
        )
        args = clauses.by_name["from"].args
        if len(args) != len(members):
            self.report.add(
                "E0519",
                f"{item} has {len(members)} member{'s' if len(members) != 1 else ''}, but `from` names {len(args)}",
                clauses.by_name["from"].span,
                why="The pool's values are all combinations of one value for each member.",
                mend="Name a config list or a range for each member.",
            )
        axes = [self._axis(a, m) for a, m in zip(args, members, strict=False)]
        return ir.PoolDecl(name, decl.span, decl.per_core, item, tuple(a for a in axes if a), self._per(clauses))

    def _axis(self, arg: ast.ClauseArg, type: t.Type) -> str | tuple[int, int] | None:
        if arg.end is not None:
            low, high = self.x.constant(arg.value, type), self.x.constant(arg.end, type)
            return (low, high) if low is not None and high is not None else None
        decl = self.scope.config.get(arg.value.text) if isinstance(arg.value, ast.Name) else None
        if decl is not None and decl.type == t.ListOf(type):
            return decl.name
        self.report.add(
            "E0520",
            f"this is no source of {type} values",
            arg.span,
            why="A pool takes values from config lists of the member's type and ranges `low..high`, both included.",
            mend=self._mend_source(arg.value, type),
        )
        return None

    def _mend_source(self, node: ast.Expr, type: t.Type) -> str:
        if isinstance(node, ast.Name) and node.text in self.scope.config:
            return f"`{node.text}` is a {self.scope.config[node.text].type}; a list<{type}> is needed."
        hint = did_you_mean(node.text, self.scope.config) if isinstance(node, ast.Name) else ""
        return hint or f"Declare `config values: list<{type}>;` and name it, or write a range."

    def _per(self, clauses: Clauses) -> ir.Expr | None:
        written = clauses.one("per")
        if written is None:
            return None
        x = Expressions(self.shared, self.scope, frozenset(("packet",)))
        x.mask = 0  # checked where `take` is called
        return x.value(written)

    def _array(self, decl: ast.StateDecl, name: str, written: ast.TypeName) -> ir.ArrayDecl:
        item = self._value_type(written.args[0])
        size = self.x.constant(written.size, t.U64) if written.size is not None else None
        if written.size is None:
            self.report.add(
                "E0521",
                f"array `{decl.name.text}` has no size",
                decl.type.span,
                why="Memory is reserved before the first packet.",
                mend="Write for example `array<u64>[256]`.",
            )
        Clauses(self.x, decl.clauses, (), f"array `{decl.name.text}`", decl.name.span)
        initial = self.x.constant(decl.initial, item) if decl.initial is not None else zero(item)
        return ir.ArrayDecl(name, decl.span, decl.per_core, item, max(1, size or 1), initial)

    def _scalar(self, decl: ast.StateDecl, name: str) -> ir.ScalarDecl | None:
        if isinstance(decl.type, ast.TypeName) and decl.type.name in (*state_only(), "map", "set"):
            forms = {"map": "map<K, V>", "set": "set<K>", "pool": "pool<T>", "array": "array<T>[n]"}
            self.report.add(
                "E0207",
                f"`{decl.type.name}` has the wrong number of type parameters",
                decl.type.span,
                why="The parameters are the types of keys and values.",
                mend=f"Write `{forms.get(decl.type.name, decl.type.name + '<K>')}`.",
            )
            return None
        type = self.x.types.resolve(decl.type)
        config = type if isinstance(type, t.SetOf | t.Prefix) else _config_part(type)
        if config is not None:
            self._no_state(
                config, decl.type.span, f"Declare it outside of `state`: `config {decl.name.text}: {config};`."
            )
            return None
        Clauses(self.x, decl.clauses, (), f"`{decl.name.text}`", decl.name.span)
        initial = self.x.constant(decl.initial, type) if decl.initial is not None else zero(type)
        return ir.ScalarDecl(name, decl.span, decl.per_core, type, initial)

    def _kind(self, decl: ast.StateDecl, name: str, written: ast.TypeName) -> ir.KindDecl:
        kind = STATE_KINDS[written.name]
        params = tuple(self._key_type(a, decl) for a in written.args)
        if len(params) != len(kind.params):
            self.report.add(
                "E0207",
                f"`{kind.name}` takes {len(kind.params)} type parameter{'s' if len(kind.params) != 1 else ''}",
                decl.type.span,
                why="The parameters are the types of keys and values.",
                mend=f"Write `{kind.name}<{', '.join(kind.params)}>`.",
            )
        clauses = Clauses(
            self.x, decl.clauses, [o.name for o in kind.options], f"{kind.name} `{decl.name.text}`", decl.name.span
        )
        return ir.KindDecl(name, decl.span, decl.per_core, kind.name, params, clauses.options(kind.options))

    def index(self, decl: ast.IndexDecl) -> None:
        """Adds an index to its map, in the scope."""
        target = self.scope.state.get(decl.map.text)
        if not isinstance(target, ir.MapDecl) or target.value is None:
            self.report.add(
                "E0523",
                f"there is no map `{decl.map.text}`",
                decl.map.span,
                why="An index is a second way into the entries of a map declared before it.",
                mend=mend_map(decl.map.text, self.scope.state),
            )
            return
        x = Expressions(self.shared, self.scope, frozenset())
        key_slot = x.bind(ast.Ident(decl.span, "key"), target.key)
        value_slot = x.bind(ast.Ident(decl.span, "value"), target.value)
        key = _owned_values(x.value(decl.key), x)
        index = ir.IndexDecl(decl.name.text, key, key_slot, value_slot, decl.span)
        self.scope.state[decl.map.text] = replace(target, indexes=(*target.indexes, index))
        self.scope.indexes[decl.name.text] = (decl.map.text, index)


def _constant(e: ir.Expr) -> Any:
    """The value of a constant expression, else None."""
    try:
        return fold(e)
    except (NotConstant, Undefined):
        return None


def mend_map(word: str, state: Mapping[str, ir.AnyState]) -> str:
    """The map that was most likely meant."""
    maps = [n for n, d in state.items() if isinstance(d, ir.MapDecl)]
    return did_you_mean(word, maps) or "Declare it before, in `state`."


def _owned_values(e: ir.Expr, x: Expressions) -> ir.Expr:
    """Keys hold plain values: what is owned from a pool is read."""
    if isinstance(e.type, t.FromPool):
        return x.coerce(e, e.type.item)
    if isinstance(e, ir.Make) and isinstance(e.type, t.Tuple):
        items = tuple(_owned_values(i, x) for i in e.items)
        return replace(e, type=t.Tuple(tuple(i.type for i in items)), items=items)
    return e


def _mend_nested(type: t.Type) -> str:
    """What to declare instead of a table, a list or a set for each entry."""
    match type:
        case t.Table("map", key, value):
            instead = f"map<(…, {key}), {value}>"
        case t.SetOf(item):
            instead = f"set<(…, {item})>"
        case t.ListOf(item):
            instead = f"map<(…, u8), {item}>"
        case _:
            return f"Declare it outside of `state`: `config NAME: {type};`."
    return f"Put both keys into one: `{instead}`, with the outer key in place of `…`."


def _config_part(type: t.Type) -> t.Type | None:
    """What makes a type one that only config can have, if anything does."""
    match type:
        case t.SetOf(t.Port()):  # a bit for each port
            return None
        case t.ListOf() | t.Table() | t.SetOf():
            return type
        case t.Struct(fields=fields):
            return next((found for _, member in fields if (found := _config_part(member)) is not None), None)
        case t.Tuple(items=items):
            return next((found for item in items if (found := _config_part(item)) is not None), None)
    return None
