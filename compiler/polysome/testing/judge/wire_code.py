"""What a property says of a packet's bytes (`p.in.…`), as Python: the interpreter's code, with headers that may lack.

In the generated code `p` is the parsed Packet, `d` its bytes, `o` the offsets of its headers, as in
`interp.expression_code`. Undefined is None.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from polysome.interp.expression_code import ExpressionCode
from polysome.ir import program as ir
from polysome.ir.walk import walk
from polysome.testing.judge.operators import Code, Operators


class WireCode(Operators):
    """Expressions over one packet."""

    def __init__(self, program: ir.Program, constants: dict[str, Any]) -> None:
        super().__init__(program, constants)
        self._loads = ExpressionCode(program)
        self._loads.arrival = True

    def value(self, e: ir.Expr) -> Code:
        match e:
            case ir.HeaderField(instance=i) | ir.RestBytes(instance=i):
                return Code(f"({self._loads.code(e)} if o[{i}] >= 0 else None)", True)
            case ir.PacketValue(name=name, for_class=for_class):
                return self._packet_value(name, for_class)
            case ir.PacketFrom(instance=i):
                return Code(f"({self._loads.code(e)} if o[{i}] >= 0 else None)", True)
            case ir.Valid() | ir.PacketLen() | ir.InPort() | ir.PayloadLen() | ir.PayloadBytes():
                return Code(self._loads.code(e), False)
            case _ if type(e).__name__ == "Frame":
                return Code("d[: p.end]", False)
            case _:
                return super().value(e)

    def _packet_value(self, name: str, for_class: bool) -> Code:
        call = f"value_{list(self.program.parser.values).index(name)}{'c' if for_class else ''}"
        if _value_may_trap(self.program, name, for_class):
            return Code(f"attempt({call}, p)", True)
        return Code(f"{call}(p)", False)


def may_trap(program: ir.Program, e: ir.Node) -> bool:
    """Can its evaluation end in a trap: a division, an index, or a function or value with one?"""
    for node in walk(e):
        match node:
            case ir.Binary(op="/" | "%", right=right) if not (isinstance(right, ir.Const) and right.value):
                return True
            case ir.ListIndex() | ir.Ratio():
                return True
            case ir.FnCall(fn=fn) if fn_may_trap(program, fn):
                return True
            case ir.PacketValue(name=name, for_class=for_class) if _value_may_trap(program, name, for_class):
                return True
    return False


@lru_cache(maxsize=1024)
def fn_may_trap(program: ir.Program, fn: str) -> bool:
    return may_trap(program, program.fns[fn].body)


@lru_cache(maxsize=1024)
def _value_may_trap(program: ir.Program, name: str, for_class: bool) -> bool:
    decl = program.parser.values[name]
    return may_trap(program, decl.for_class if for_class else decl.value)
