"""What a gress does, wherever its text stands: programs whose code is the same are walked once in a process."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from typing import Any

from polysome.p4 import program as pr
from polysome.p4.walk import expressions, statements, tables_of


@dataclass(frozen=True)
class Code:
    """Equal numbers mean equal code. `parser`: what it makes of a frame; `rest`: what becomes of it then."""

    parser: int
    rest: int


def code(program: pr.Program, gress: pr.Gress) -> Code:
    """O(size of the gress) the first time."""
    key = (id(program), id(gress))
    found = _CODES.get(key)
    if found is None:
        parser = _number((program.arch, gress.name, told(gress.parser)))
        body = (*gress.control, *gress.deparser)
        rest = (program.arch, gress.name, told(gress.control), told(gress.deparser), told(_named(program, body)))
        found = _CODES[key] = (program, gress, Code(parser, _number(rest)))
    return found[2]


# With both, whose numbers are their own while they live. A gress may stand in several programs: its actions do not.
_CODES: dict[tuple[int, int], tuple[pr.Program, pr.Gress, Code]] = {}


def _named(program: pr.Program, body: Iterable[pr.Stmt]) -> tuple[object, ...]:
    """What statements name: tables with their actions, register actions with their registers."""
    found: dict[str, object] = {}
    for s in statements(program, body):
        for name in tables_of(s):
            table = program.tables[name]
            found |= {name: table, **{action: program.actions[action] for action in table.actions}}
        for e in expressions(program, s):
            if isinstance(e, pr.Execute):
                action = program.register_actions[e.action]
                found |= {e.action: action, action.register: program.registers[action.register]}
    return tuple(sorted(found.items()))


def told(part: object) -> Hashable:
    """What a part of a program says, without where it stands."""
    if isinstance(part, tuple | list):
        return tuple(map(told, part))
    if is_dataclass(part) and not isinstance(part, type):
        return type(part).__name__, *(told(getattr(part, name)) for name in _fields(type(part)))
    assert isinstance(part, Hashable)
    return part


@cache
def _fields(of: type[Any]) -> tuple[str, ...]:
    return tuple(f.name for f in fields(of) if f.type != "Span")


def _number(of: Hashable) -> int:
    return _NUMBERS.setdefault(of, len(_NUMBERS))


_NUMBERS: dict[Hashable, int] = {}
