"""Typing of what a control declares: actions, tables, registers and the other externs."""

from __future__ import annotations

from polysome.p4 import ast
from polysome.p4 import program as pr
from polysome.p4.architecture import COUNTER_TYPES, EXTERNS, HASHES, METER_TYPES, NOT_READ
from polysome.p4.scope import ActionName, ControlInstance, Object, Scope, TableName
from polysome.p4.statements import Statements
from polysome.p4.types import Bits, Composite, Extern, Type
from polysome.syntax.spans import Span

REGISTER_WIDTHS = (1, 8, 16, 32)
DEFAULT_SIZE = 512  # of a table that says none
NO_ACTION = "NoAction"


class Objects(Statements):
    """Declares the locals of a control in its scope."""

    def local(self, item: ast.Local, scope: Scope) -> tuple[pr.Stmt, ...]:
        """What stands before the `apply`; variables with a value are statements that run first."""
        match item:
            case ast.Variable():
                return self.statement(item, scope)
            case ast.Action():
                self._action(item, scope)
            case ast.Table():
                self._table(item, scope)
            case ast.Instance():
                self._instance(item, scope)
        return ()

    def full(self, name: ast.Ident, annotations: tuple[ast.Annotation, ...]) -> str:
        """The name by which a driver knows something."""
        given = next((a.body for a in annotations if a.name == "name"), name.text)
        return given.removeprefix(".") if given.startswith(".") else f"{self.prefix}.{given}"

    # ------------------------------------------------------------ actions

    def _action(self, item: ast.Action, scope: Scope) -> None:
        name = self.full(item.name, item.annotations)
        inner, params = Scope(scope), []
        for p in item.params:
            kind = self.type(p.type, scope)
            if kind is None:
                return
            place = pr.Place(f"${name}", (p.name.text,), kind, p.span)
            self.world.declare(inner, p.name, place)
            params.append(place)
        body = self.block_of(item.body, inner)
        self.world.actions[name] = pr.Action(name, tuple(params), body, item.span)
        self.world.declare(scope, item.name, ActionName(name, item, scope))

    # ------------------------------------------------------------ tables

    def _table(self, item: ast.Table, scope: Scope) -> None:
        name = self.full(item.name, item.annotations)
        keys = tuple(k for k in (self._key(k, scope) for k in item.keys) if k is not None)
        actions = self._actions_of(item, scope)
        properties = {p.name.text: p for p in item.properties}
        self._unknown_properties(properties)
        size = self._size(properties.get("size"), item, scope)
        default, constant = pr.ActionCall(NO_ACTION, ()), False
        if "default_action" in properties:
            p = properties["default_action"]
            call = self._action_value(p.value, actions, scope)
            default, constant = call or default, p.constant
        if default.action == NO_ACTION and NO_ACTION not in actions.values():
            actions = {**actions, NO_ACTION: NO_ACTION}
        entries = tuple(e for e in (self._entry(e, keys, actions, scope) for e in item.entries) if e is not None)
        names = tuple(actions.values())
        fixed = bool(item.entries)
        self.world.tables[name] = pr.Table(name, keys, names, size, default, constant, entries, fixed, item.name.span)
        self.world.declare(scope, item.name, TableName(name))

    def _key(self, k: ast.Key, scope: Scope) -> pr.Key | None:
        value = self.value(k.value, scope)
        if k.kind.text not in ("exact", "ternary", "lpm"):
            self.world.outside(f"a key that matches `{k.kind.text}`", k.kind.span, "Use exact, ternary or lpm.")
            return None
        if value is None:
            return None
        if not isinstance(value, pr.Valid) and not (isinstance(value.type, Bits) and value.type.width <= 128):
            self.world.wrong_type("a key is a field of at most 128 bits", k.value.span, "Name one, or several.")
            return None
        given = next((a.body for a in k.annotations if a.name == "name"), None)
        source = self.world.report.sources[k.span.file].text[k.value.span.start : k.value.span.end]
        return pr.Key(value, k.kind.text, given or "".join(source.split()), k.span)

    def _actions_of(self, item: ast.Table, scope: Scope) -> dict[str, str]:
        """Full names by the names in the text."""
        found: dict[str, str] = {}
        for a in item.actions:
            meaning = scope.find(a.text)
            if a.text == NO_ACTION:
                found[NO_ACTION] = NO_ACTION
            elif not isinstance(meaning, ActionName):
                known = [n for n in scope.visible() if isinstance(scope.find(n), ActionName)]
                self.world.unknown("action", a.text, a.span, [*known, NO_ACTION])
            elif any(p.direction for p in meaning.action.params):
                self.world.wrong_type(
                    f"`{a.text}` has a parameter with a direction, and no value for it",
                    a.span,
                    "An action of a table has parameters without direction: entries give their values.",
                )
            else:
                found[a.text] = meaning.name
        return found

    def _unknown_properties(self, properties: dict[str, ast.Property]) -> None:
        for name, p in properties.items():
            if name not in ("size", "default_action"):
                self.world.outside(
                    f"the table property `{name}`", p.name.span, "A table has key, actions, size, default_action,"
                    " const entries."
                )  # fmt: skip

    def _size(self, p: ast.Property | None, item: ast.Table, scope: Scope) -> int:
        if p is None:
            return max(len(item.entries), 1) if item.entries else DEFAULT_SIZE
        size = self.constant(p.value, scope)
        if size is not None and size < max(1, len(item.entries)):
            self.world.wrong_type(
                f"a size of {size}", p.value.span, "A table has room for its entries, and for one at least."
            )
        return size or DEFAULT_SIZE

    def _action_value(self, e: ast.Expr, actions: dict[str, str], scope: Scope) -> pr.ActionCall | None:
        """`act(1, 2)` or `act`: one of the table's actions with constants."""
        callee = e.callee if isinstance(e, ast.Call) else e
        args = e.args if isinstance(e, ast.Call) else ()
        if not isinstance(callee, ast.Name):
            self.world.wrong_type("an action is needed here", e.span, "Write `ACTION(1, 2)`.")
            return None
        if callee.name == NO_ACTION and not args:
            return pr.ActionCall(NO_ACTION, ())
        if callee.name not in actions:
            self.world.unknown("action of this table", callee.name, callee.span, list(actions))
            return None
        params = self.world.actions[actions[callee.name]].params
        if len(args) != len(params):
            self.world.wrong_type(
                f"`{callee.name}` takes {len(params)} values, and {len(args)} are given", e.span, "Give one for each."
            )
            return None
        values = [self.constant(a, scope, p.type) for a, p in zip(args, params, strict=True)]
        if any(v is None for v in values):
            return None
        return pr.ActionCall(actions[callee.name], tuple(v for v in values if v is not None))

    def _entry(self, e: ast.Entry, keys: tuple[pr.Key, ...], actions: dict[str, str], scope: Scope) -> pr.Entry | None:
        call = self._action_value(e.action, actions, scope)
        matched = self.keyset(e.keys, tuple(k.value.type for k in keys), e.span, scope)
        if matched is None or call is None:
            return None
        for (_, mask), key, written in zip(matched, keys, e.keys, strict=True):
            full = (1 << _bits(key.value.type)) - 1
            if key.kind == "exact" and mask != full:
                self.world.wrong_type(
                    "an exact key has one value",
                    written.span,
                    "Write the value, or make it ternary.",
                    "A mask needs a TCAM.",
                )
                return None
            if key.kind == "lpm" and full & ~mask & (full & ~mask) + 1:
                self.world.wrong_type("the mask is no prefix", written.span, "Set only its highest bits.")
                return None
        return pr.Entry(matched, call)

    def keyset(
        self, given: tuple[ast.KeyValue, ...], types: tuple[Type, ...], span: Span, scope: Scope
    ) -> tuple[tuple[int, int], ...] | None:
        """Values and masks of a keyset; a lone `default` or `_` matches everything."""
        if len(given) == 1 and given[0].value is None:
            return ((0, 0),) * len(types)
        if len(given) != len(types):
            self.world.wrong_type(
                f"{len(given)} values where {len(types)} are matched",
                span,
                "Give one for each; `_` matches all.",
                "An entry or case matches all of the keys.",
            )
            return None
        found = [self._key_value(k, t, scope) for k, t in zip(given, types, strict=True)]
        return tuple(f for f in found if f is not None) if None not in found else None

    def _key_value(self, k: ast.KeyValue, of: Type, scope: Scope) -> tuple[int, int] | None:
        if k.value is None:
            return (0, 0)
        full = (1 << _bits(of)) - 1
        value = self.constant(k.value, scope, of)
        mask = self.constant(k.mask, scope, of) if k.mask is not None else full
        return (value & mask, mask) if value is not None and mask is not None else None

    # ------------------------------------------------------------ externs and controls

    def _instance(self, item: ast.Instance, scope: Scope) -> None:
        if not isinstance(item.type, ast.NamedType):
            self.world.wrong_type("this is no extern", item.type.span, "Name an extern or a control.")
            return
        kind, name = item.type.name.text, self.full(item.name, item.annotations)
        if kind in NOT_READ:
            self.world.outside(f"the extern {kind}", item.type.span, NOT_READ[kind])
        elif kind in self.world.controls:
            self.world.declare(scope, item.name, ControlInstance(name, self.world.controls[kind]))
        elif kind not in EXTERNS or kind.startswith("packet"):
            self.world.unknown("extern or control", kind, item.type.span, [*EXTERNS, *self.world.controls])
        else:
            self._extern(item, kind, name, scope)

    def _extern(self, item: ast.Instance, kind: str, name: str, scope: Scope) -> None:
        assert isinstance(item.type, ast.NamedType)
        if len(item.type.args) != EXTERNS[kind]:
            self.world.wrong_type(
                f"{kind} has {EXTERNS[kind]} type arguments, not {len(item.type.args)}",
                item.type.span,
                "Compare with TNA.",
            )
            return
        types = tuple(self.type(t, scope) for t in item.type.args)
        if any(t is None for t in types):
            return
        of = Extern(kind, tuple(t for t in types if t is not None))
        args = self._constructed(item, of, name, scope)
        if args is not None:
            self.world.declare(scope, item.name, Object(name, of, args))

    def _constructed(self, item: ast.Instance, of: Extern, name: str, scope: Scope) -> tuple[object, ...] | None:
        """Makes the object in the program; its constructor's arguments, where calls need them."""
        match of.name:
            case "Register":
                return self._register(item, of, name, scope)
            case "RegisterAction":
                return self._register_action(item, of, name, scope)
            case "Hash":
                return self._hash(item, of, scope)
            case "Counter":
                return self._counter(item, of, name, scope)
            case "Meter":
                return self._meter(item, of, name, scope)
            case "Mirror" if item.args:
                self.world.outside(
                    "a mirror whose type is given to its constructor",
                    item.span,
                    "Write `Mirror() mirror;`, and emit under `if (dprsr.mirror_type == N)`.",
                )
                return None
            case _:
                return self._count_args(item, 0)

    def _count_args(self, item: ast.Instance, *wanted: int) -> tuple[()] | None:
        if len(item.args) in wanted:
            return ()
        self.world.wrong_type(
            f"{len(item.args)} arguments where {' or '.join(map(str, wanted))} are needed",
            item.span,
            "Compare with TNA.",
        )
        return None

    def _register(self, item: ast.Instance, of: Extern, name: str, scope: Scope) -> tuple[object, ...] | None:
        element, index = of.args
        if self._count_args(item, 1, 2) is None:
            return None
        size = self.constant(item.args[0], scope, Bits(32))
        initial = self._initial(item.args[1], element, scope) if len(item.args) == 2 else (0, 0)
        if size is None or initial is None:
            return None
        kinds = [t for _, t in element.fields] if isinstance(element, Composite) and not element.header else []
        pair = kinds in ([Bits(32)] * 2, [Bits(32, signed=True)] * 2)
        plain = isinstance(element, Bits) and element.width in REGISTER_WIDTHS
        if not (pair or plain) or not isinstance(element, Bits | Composite) or not isinstance(index, Bits):
            self.world.outside(
                f"a register of `{element}` by `{index}`",
                item.type.span,
                "A register holds 1, 8, 16 or 32 bits or a struct of two values of 32 bits, both with a sign or both "
                "without, and its index is bits.",
            )
            return None
        self.world.registers[name] = pr.Register(name, element, index, size, initial, item.name.span)
        return ()

    def _initial(self, e: ast.Expr, element: Type, scope: Scope) -> tuple[int, ...] | None:
        if isinstance(element, Composite) and isinstance(e, ast.ListOf) and len(e.items) == len(element.fields):
            found = [self.constant(i, scope, t) for i, (_, t) in zip(e.items, element.fields, strict=True)]
            return tuple(f for f in found if f is not None) if None not in found else None
        value = self.constant(e, scope, element)
        return (value,) if value is not None else None

    def _register_action(self, item: ast.Instance, of: Extern, name: str, scope: Scope) -> tuple[object, ...] | None:
        if self._count_args(item, 1) is None:
            return None
        found = self.meaning(item.args[0], scope)
        if not isinstance(found, Object) or found.type.name != "Register":
            if found is not None:
                self.world.wrong_type("a RegisterAction needs a Register", item.args[0].span, "Name a Register.")
            return None
        if found.type.args != of.args[:2]:
            self.world.wrong_type(
                f"`{of}` of a `{found.type}`", item.type.span, "Element and index are those of the register."
            )
            return None
        apply = next((m for m in item.methods if m.name.text == "apply"), None)
        if apply is None or not 1 <= len(apply.params) <= 2:
            self.world.wrong_type(
                "a RegisterAction has one method, `apply`",
                item.span,
                "Write `= { void apply(inout T value, out U rv) { … } }`.",
            )
            return None
        return self._register_method(apply, of, name, found.name, scope)

    def _register_method(
        self, apply: ast.Method, of: Extern, name: str, register: str, scope: Scope
    ) -> tuple[object, ...] | None:
        inner, places = Scope(scope), []
        for p, wanted, direction in zip(apply.params, (of.args[0], of.args[2]), ("inout", "out"), strict=False):
            kind = self.type(p.type, scope)
            if kind is None:
                return None
            if kind != wanted or p.direction != direction:
                self.world.wrong_type(
                    f"`{p.name.text}` is `{p.direction} {kind}`", p.span, f"Declare it as `{direction} {wanted}`."
                )
                return None
            place = pr.Place(f"${name}", ("value" if direction == "inout" else "rv",), kind, p.span)
            self.world.declare(inner, p.name, place)
            places.append(place)
        body = self.block_of(apply.body, inner)
        rv = places[1] if len(places) > 1 else None
        self.world.register_actions[name] = pr.RegisterAction(
            name, register, of.args[2], places[0], rv, body, apply.span
        )
        return ()

    def _hash(self, item: ast.Instance, of: Extern, scope: Scope) -> tuple[object, ...] | None:
        if len(item.args) != 1:
            self.world.outside("a hash with a polynomial of its own", item.span, "Use CRC8, CRC16, CRC32 or IDENTITY.")
            return None
        algorithm = self.constant(item.args[0], scope)
        if algorithm is None:
            return None
        name = tuple(HASHES)[algorithm]
        bits, (result,) = HASHES[name], of.args
        if not isinstance(result, Bits) or (bits is not None and result.width > bits):
            self.world.wrong_type(
                f"{name} yields {bits} bits, not `{result}`", item.type.span, "Take fewer bits, or another hash."
            )
            return None
        return (name,)

    def _counter(self, item: ast.Instance, of: Extern, name: str, scope: Scope) -> tuple[object, ...] | None:
        if self._count_args(item, 2) is None:
            return None
        size = self.constant(item.args[0], scope, Bits(32))
        kind = self.constant(item.args[-1], scope)
        if size is None or kind is None:
            return None
        if not isinstance(of.args[0], Bits) or of.args[0].width > 64 or kind >= len(COUNTER_TYPES):
            self.world.wrong_type(f"a counter of `{of.args[0]}`", item.type.span, "A counter has at most 64 bits.")
            return None
        self.world.counters[name] = pr.Counter(name, of.args[0].width, size, COUNTER_TYPES[kind], item.name.span)
        return ()

    def _meter(self, item: ast.Instance, of: Extern, name: str, scope: Scope) -> tuple[object, ...] | None:
        if self._count_args(item, 2) is None:
            return None
        size, kind = self.constant(item.args[0], scope, Bits(32)), self.constant(item.args[1], scope)
        if size is None or kind is None:
            return None
        self.world.meters[name] = pr.Meter(name, size, METER_TYPES[kind] == "BYTES", item.name.span)
        return ()


def _bits(of: Type) -> int:
    return of.width if isinstance(of, Bits) else 1
