"""Expressions over state: lookups, sizes, methods, token buckets (LANGUAGE.md section 7, STATE.md)."""

from __future__ import annotations

from collections.abc import Callable

from polysome.backends.nf_cpp.expression_code import PlainExpressions
from polysome.backends.nf_cpp.names import identifier
from polysome.backends.nf_cpp.sizes import native_of
from polysome.backends.nf_cpp.types_code import members
from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.ir.fold import zero
from polysome.ir.value_places import owned_places, owns


class Expressions(PlainExpressions):
    """Translates all expressions of one function."""

    def stateful(self, e: ir.Expr) -> str:
        match e:
            case ir.StateRead(state=s):
                return self.state(s)
            case ir.ArrayRead(state=s, index=i):
                return self.checked(s, i, e, lambda at: f"{self.state(s)}[{at}]")
            case ir.Contains():
                return self._contains(e)
            case ir.StateLen(state=s):
                return self._sized(self._state_len(self.program.state[s]), e.type)
            case ir.MethodCall():
                return self._method(e)
            case ir.BucketOp():
                return self.bucket(e)
            case _:
                return super().stateful(e)

    def state(self, name: str) -> str:
        return f"state.{identifier(name)}"

    def checked(self, state: str, index: ir.Expr, node: ir.Node, build: Callable[[str], str]) -> str:
        """`build` over an index that is inside the array."""
        at = self.temp("at")
        stop = self.guard(f"{at} >= {self.state(state)}.size()", self.reason(f"index past the end of {state}", node))
        return f"({{ const uint64_t {at} = {self.code(index)}; {stop} {build(at)}; }})"

    def _contains(self, e: ir.Contains) -> str:
        decl = self.program.state[e.state]
        if not isinstance(decl, ir.MapDecl):
            return f"{self.state(e.state)}.contains({self._kind_key(decl, e.key)})"
        find = "find" if e.index is None else f"find_index<{self.index_number(decl, e.index)}>"
        return f"({{ {self.key(e.state, e.index, e.key)} {self.state(e.state)}.{find}(key) != absent; }})"

    def index_number(self, decl: ir.MapDecl, name: str) -> int:
        return [i.name for i in decl.indexes].index(name)

    def key(self, state: str, index: str | None, e: ir.Expr) -> str:
        """The declaration of `key`, as the map takes it."""
        text = self.code(e)
        name = self.state(state)
        decl = self.program.state[state]
        assert isinstance(decl, ir.MapDecl)
        ahead = self.ahead_key(state, index, e)
        if ahead is not None:
            return f"const auto& key = a.{ahead};"
        self.shared.types.setdefault(e.type)
        sought = "sought" if index is None else f"index_sought<{self.index_number(decl, index)}>"
        return f"const auto key = {name}.{sought}(pack({text}));"

    def ahead_key(self, state: str, index: str | None, e: ir.Expr) -> str | None:
        """The member of Ahead that holds this key already, if there is one."""
        return None

    def key_hash(self, e: ir.Expr) -> str:
        """What sketches use for a key."""
        ahead = self.ahead_key("", None, e)
        if ahead is not None:
            return f"a.{ahead}.hash"
        return self.hashed([(e.type, self.code(e))])

    def _state_len(self, decl: ir.AnyState) -> str:
        name = self.state(decl.name)
        if isinstance(decl, ir.PoolDecl):
            return f"{name}.available({self.code(decl.per) if decl.per is not None else 'None{}'})"
        return f"{name}.size()"

    def _method(self, e: ir.MethodCall) -> str:
        decl = self.program.state[e.state]
        if isinstance(decl, ir.MapDecl):
            return self.put(e.state, e.args[0], "None{}", e)
        assert isinstance(decl, ir.KindDecl)
        name = f"{self.state(e.state)}.{e.method}"
        if not e.args:
            return f"{name}()"
        key = self._kind_key(decl, e.args[0])
        self.shared.types.setdefault(e.args[0].type)
        more = [self.code(a) for a in e.args[1:]]
        return f"{name}({', '.join([key, *more])})"

    def _kind_key(self, decl: ir.AnyState, key: ir.Expr) -> str:
        """A key as the class of the kind takes it."""
        assert isinstance(decl, ir.KindDecl)
        native = native_of(decl.kind)
        if not native.keeps_keys:
            return self.key_hash(key)
        ahead = self.ahead_key(decl.name, None, key)
        if ahead is not None:
            return f"a.{ahead}"
        self.shared.types.setdefault(key.type)
        words = f"pack({self.code(key)})"
        return f"{self.state(decl.name)}.sought({words})" if native.prefetched else words

    def put(self, state: str, key: ir.Expr, value: str, node: ir.Node) -> str:
        """Stores a value, or ends the handler with the reason why not."""
        return f"({{ {self.key(state, None, key)} {self.stored(state, key, value)}{self.store(state, value, node)} }})"

    def stored(self, state: str, key: ir.Expr, value: str) -> str:
        """Whatever is to be done before `store`."""
        return ""

    def store(self, state: str, value: str, node: ir.Node, at: str = "") -> str:
        """`put` of `value` under `key`; `at` is what `find` gave, if nothing was written since."""
        decl = self.program.state[state]
        assert isinstance(decl, ir.MapDecl)
        place = self.program.place(node.span)
        reasons = [
            self.reason(f"{state} full ({place})"),
            self.reason(f"on end of {state} nested too deep ({place})"),
            self.reason(f"value not taken from {self._pool(decl)} ({place})") if self._pool(decl) else self.reason(""),
            *(self.reason(f"index {i.name} of {state} taken ({place})") for i in decl.indexes),
        ]
        why = self.temp("why")
        call = f"{self.state(state)}.put({', '.join([at, 'key', value] if at else ['key', value])})"
        return f"if (const uint16_t {why} = why_not({call}, {{{', '.join(reasons)}}})) [[unlikely]] {self.trap(why)}"

    def _pool(self, decl: ir.MapDecl) -> str | None:
        found = owned_places(decl.value) if decl.value is not None else []
        return found[0][1] if found else None

    # ------------------------------------------------------------ token buckets

    def bucket(self, e: ir.BucketOp) -> str:
        place, scale = e.place, 10**9 if e.rate.type == t.PACKETRATE else 8 * 10**9
        names = [self.temp(n) for n in ("amount", "rate", "burst")]
        operands = [
            f"const uint64_t {n} = {self.code(x)};" for n, x in zip(names, (e.amount, e.rate, e.burst), strict=True)
        ]
        call = "bucket_take" if e.take else "bucket_has"
        args = f"clock.now, {', '.join(names)}, {scale}u"
        decl = self.program.state[place.state]
        match decl:
            case ir.ScalarDecl(type=kind):
                held = self.path(kind, place.path, self.state(place.state))
                return f"({{ {' '.join(operands)} {call}({held}, {args}); }})"
            case ir.ArrayDecl(item=kind):
                assert place.key is not None
                at = self.temp("at")
                stop = self.guard(
                    f"{at} >= {self.state(place.state)}.size()",
                    self.reason(f"index past the end of {place.state}", e),
                )
                held = self.path(kind, place.path, f"{self.state(place.state)}[{at}]")
                first = f"const uint64_t {at} = {self.code(place.key)};"
                return f"({{ {first} {' '.join(operands)} {stop} {call}({held}, {args}); }})"
            case ir.MapDecl(value=kind):
                assert place.key is not None and kind is not None
                whole, at = self.temp("entry"), self.temp("at")
                held = self.path(kind, place.path, whole)
                lines = [self.key(place.state, None, place.key), *operands, self.present(place.state, whole, at, e)]
                if not e.take:
                    return f"({{ {' '.join(lines)} {call}({held}, {args}); }})"
                taken, state = self.temp("taken"), self.state(place.state)
                there = self.path(kind, place.path, f"{state}.revised({at})")
                lines += [
                    f"bool {taken};",
                    f"if ({state}.plain && {at} != absent) [[likely]] {taken} = {call}({there}, {args});",
                    f"else {{ {taken} = {call}({held}, {args}); {self.store(place.state, whole, e, at)} }} {taken};",
                ]
                return f"({{ {' '.join(lines)} }})"
            case _:
                raise AssertionError(decl)

    def path(self, type: t.Type, path: tuple[int, ...], text: str) -> str:
        """The member of `text` down a path."""
        for i in path:
            text, type = members(type, text)[i]
        return text

    def present(self, state: str, name: str, at: str, node: ir.Node) -> str:
        """Declares `name` as the value under `key`, or the initial value of an entry that is not there (L7.3), and `at`
        as where it is."""
        decl = self.program.state[state]
        assert isinstance(decl, ir.MapDecl) and decl.value is not None
        value = self.shared.cpp(decl.value)
        find = f"const auto {at} = {self.state(state)}.find(key);"
        if owns(decl.value):
            stop = self.guard(f"{at} == absent", self.reason(f"absent entry of {state}", node))
            return f"{find} {stop} {value} {name} = {self.state(state)}.value({at});"
        initial = self.constant(zero(decl.value), decl.value)
        return f"{find} {value} {name} = {at} != absent ? {self.state(state)}.value({at}) : {initial};"
