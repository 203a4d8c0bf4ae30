"""The typed program to one Python module: source text, and the functions in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType
from typing import Any

from polysome.interp.compiled import compiled
from polysome.interp.parse_code import parser_code
from polysome.interp.statement_code import StatementCode
from polysome.ir import program as ir
from polysome.ir.walk import written_fields


@dataclass(frozen=True)
class Generated:
    """Python source, compiled, and the values that its constants K<n> stand for."""

    source: str
    code: CodeType
    constants: dict[str, Any]


def generate(program: ir.Program, code: Callable[[ir.Program], StatementCode] = StatementCode) -> Generated:
    """The module: functions of the spec, values, parser nodes, state, handlers, and what the schedule needs.

    `code` translates statements and expressions.
    """
    c = code(program)
    bodies = [h.body for h in program.packet_handlers]
    c.written = written_fields(bodies)
    for fn in program.fns.values():
        c.expression_function(f"fn_{fn.name}", ", ".join(f"s{s}" for s in fn.slots), fn.body, uses_packet=False)
    parser_code(c)
    _values(c)
    _state_functions(c)
    for handler in program.end_handlers.values():
        name = f"end_{safe_name(handler.map)}"
        c.function(name, ", ".join(f"s{s}" for s in handler.slots), handler.body, uses_packet=False)
    for i, timer in enumerate(program.timers):
        c.function(f"every_{i}", "", timer.body, uses_packet=False)
    for i, packet_handler in enumerate(program.packet_handlers):
        c.function(f"packet_{i}", "p", packet_handler.body, uses_packet=True)
    _contract(c)
    c.arrival = True
    c.expression_function("order_class", "p", program.schedule.cls, uses_packet=True)
    c.arrival = False
    c.put("def policy_args(p):")
    c.put("    d = p.data; o = p.offset")
    c.put("    return (" + "".join(c.code(a) + ", " for a in program.schedule.args) + ")")
    source = "\n".join(c.lines) + "\n"
    return Generated(source, compiled(source, program.name), c.constants)


def _values(c: StatementCode) -> None:
    """Parser values, computed once per packet from what arrived."""
    c.arrival = True
    count = len(c.program.parser.values)
    for name, value in c.program.parser.values.items():
        n = c.value_numbers[name]
        for suffix, slot, e in (("", n, value.value), ("c", n + count, value.for_class)):
            c.put(f"def value_{n}{suffix}(p):  # {name}")
            c.put(f"    v = p.memo[{slot}]")
            c.put("    if v is None:")
            c.put("        d = p.data; o = p.offset")
            c.put(f"        v = p.memo[{slot}] = {c.code(e)}")
            c.put("    return v")
            c.put("")
    c.arrival = False


def _state_functions(c: StatementCode) -> None:
    for decl in c.program.state.values():
        if not isinstance(decl, ir.MapDecl):
            if isinstance(decl, ir.PoolDecl) and decl.per is not None:
                c.expression_function(f"per_{safe_name(decl.name)}", "p", decl.per, uses_packet=True)
            continue
        for kind, timeout in (("idle", decl.idle), ("age", decl.age)):
            if timeout is not None and not isinstance(timeout.value, ir.Const):
                params = f"s{timeout.key_slot}, s{timeout.value_slot}"
                c.put(f"def {kind}_{safe_name(decl.name)}({params}):")
                c.put(f"    return min({c.code(timeout.value)}, {timeout.maximum})")
                c.put("")
        for index in decl.indexes:
            params = f"s{index.key_slot}, s{index.value_slot}"
            c.expression_function(f"index_{safe_name(decl.name)}_{index.name}", params, index.key, uses_packet=False)


def _contract(c: StatementCode) -> None:
    """`passes(path)` and the verdict on packets that lack a demanded header."""
    contract = c.program.contract
    if contract is None:
        return
    parser = c.program.parser
    passing = frozenset(path for i, path in enumerate(parser.classes) if contract.passing >> i & 1)
    c.put(f"PASSING = {c.constant(passing)}")
    c.function("lacking", "p", (contract.orelse,), uses_packet=True)


def safe_name(name: str) -> str:
    """A state's name as part of a Python name."""
    return name.replace(".", "__")


@lru_cache(maxsize=256)
def code_of(program: ir.Program) -> Generated:
    """What `generate` gives, made once per program."""
    return generate(program)
