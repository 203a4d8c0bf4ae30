"""What a spec computes from the key and the value of an entry: timeouts and keys of indexes, over plain values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from polysome.interp import support
from polysome.interp.expression_code import ExpressionCode
from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.ir.walk import walk
from polysome.kinds.hashing import encoder, key_of_seed, siphash

Formula = Callable[[Mapping[str, Any], Any, Any], Any]  # of config (as `Tables.current`), key, plain value


class _PlainCode(ExpressionCode):
    """Code for values that stand for themselves where the interpreter has rows or what was taken from a pool."""

    def code(self, e: ir.Expr) -> str:
        return self.code(e.value) if isinstance(e, ir.Deref) else super().code(e)


class Formulas:
    """Of one program."""

    def __init__(self, program: ir.Program) -> None:
        self._code = _PlainCode(program)
        key = key_of_seed(program.params["seed"][1])
        self._names: dict[str, Any] = {name: getattr(support, name) for name in dir(support) if name[0] != "_"}
        self._names |= {"hash64": lambda data: siphash(key, data), "encoders": _Encoders(), "CFG": {}}
        for fn in program.fns.values():
            if not any(isinstance(node, (ir.HeaderField, ir.Valid, ir.PacketValue)) for node in walk(fn.body)):
                self._names[f"fn_{fn.name}"] = self._function(fn.body, *fn.slots)

    def of(self, e: ir.Expr, key_slot: int, value_slot: int) -> Formula:
        """The expression as a function."""
        function = self._function(e, key_slot, value_slot)

        def formula(config: Mapping[str, Any], key: Any, value: Any) -> Any:
            self._names["CFG"] = config
            return function(key, value)

        return formula

    def _function(self, e: ir.Expr, *slots: int) -> Callable[..., Any]:
        source = f"lambda {', '.join(f's{slot}' for slot in slots)}: {self._code.code(e)}"
        self._names |= self._code.constants
        function: Callable[..., Any] = eval(source, self._names)
        return function


class _Encoders(dict[t.Type, Callable[[Any], bytes]]):
    def __missing__(self, type: t.Type) -> Callable[[Any], bytes]:
        found = self[type] = encoder(type)
        return found


@lru_cache(maxsize=64)
def formulas(program: ir.Program) -> Formulas:
    """Made once per program."""
    return Formulas(program)


@lru_cache(maxsize=256)
def timeout(program: ir.Program, name: str, which: str) -> int | Formula | None:
    """`idle` or `age` of a map as STATE.md has it (S1.5): a number of ns, at least 1, or a formula; None: never."""
    declared: ir.Timeout | None = getattr(program.state[name], which)
    if declared is None:
        return None
    if isinstance(declared.value, ir.Const):
        constant: int = declared.value.value
        return max(1, constant)
    formula = formulas(program).of(declared.value, declared.key_slot, declared.value_slot)
    most = declared.maximum
    if most is None:
        return lambda config, key, value: max(1, formula(config, key, value))
    return lambda config, key, value: max(1, min(most, formula(config, key, value)))


@lru_cache(maxsize=256)
def index_formulas(program: ir.Program, name: str) -> dict[str, Formula]:
    """How the keys of a map's indexes follow from its entries."""
    decl = program.state[name]
    assert isinstance(decl, ir.MapDecl)
    return {i.name: formulas(program).of(i.key, i.key_slot, i.value_slot) for i in decl.indexes}
