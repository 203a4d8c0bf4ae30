"""Register actions: the element before is free, or what a caller gives; both ways of a condition become one term."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from polysome import smt
from polysome.p4 import program as pr
from polysome.p4.types import Composite, Type
from polysome.p4.walk import expressions, statements
from polysome.prove.p4.expressions import Value, as_term, evaluate, simplified
from polysome.prove.p4.store import Access, Key, Store


class Elements(Protocol):
    """What registers hold; those are equal that hold the same."""

    def __hash__(self) -> int: ...

    def of(self, register: str, index: Value) -> Mapping[str, Value] | None:
        """By field; None: anything."""


def fields_of(register: pr.Register) -> tuple[tuple[str, Type], ...]:
    """Names and types of an element's fields; a plain value is the field ""."""
    element = register.element
    return element.fields if isinstance(element, Composite) else (("", element),)


def execute(program: pr.Program, e: pr.Execute, index: Value, store: Store, elements: Elements | None) -> Value:
    """Runs the action, adds the access to the store, and yields `rv`; what a body leaves open is free."""
    action = program.register_actions[e.action]
    register = program.registers[action.register]
    given = elements.of(register.name, index) if elements is not None else None
    old = dict(given) if given is not None else _free(register, store)
    left = store.symbol(f"{e.action}.rv", 1) if action.rv is None else 0
    new, result = _run(action, old, store, left, exact=True)
    wrapped = _run(action, old, store, left, exact=False) if _compares_sums(program, action) else (new, result)
    store.accesses = (*store.accesses, Access(e.action, register.name, index, old, new, result, *wrapped))
    return result


def _run(
    action: pr.RegisterAction, old: Mapping[str, Value], store: Store, left: Value, exact: bool
) -> tuple[dict[str, Value], Value]:
    """The element behind the action, and what it yields; `left`: if that is nothing."""
    run = _Body(store, {_key(action, field): value for field, value in old.items()}, exact)
    run.block(action.body)
    new = {field: run.written[_key(action, field)] for field in old}
    return new, run.value(action.rv) if action.rv is not None else left


def _compares_sums(program: pr.Program, action: pr.RegisterAction) -> bool:
    """May it depend on the chip what it does?"""
    found = _COMPARES.get(id(action))
    if found is None:
        every = [e for s in statements(program, action.body) for e in expressions(program, s)]
        orders = [e for e in every if isinstance(e, pr.Binary) and e.op in ("<", "<=", ">", ">=")]
        sums = any(isinstance(side, pr.Binary) for e in orders for side in (e.left, e.right))
        found = _COMPARES[id(action)] = (action, sums)
    return found[1]


_COMPARES: dict[int, tuple[pr.RegisterAction, bool]] = {}  # with the action: its number is its own while it lives


def _free(register: pr.Register, store: Store) -> dict[str, Value]:
    return {
        field: store.symbol(f"{register.name}{'.' if field else ''}{field}", kind.width)
        for field, kind in fields_of(register)
        if hasattr(kind, "width")
    }


def _key(action: pr.RegisterAction, field: str) -> Key:
    return (*action.value.key, *([field] if field else []))


@dataclass
class _Body:
    """What the body has written: the element, `rv`, and its own variables; all else it reads from the packet."""

    store: Store
    written: dict[Key, Value]
    exact: bool

    def value(self, place: pr.Place) -> Value:
        found = self.written.get(place.key)
        return found if found is not None else self.store.value(place)

    def is_valid(self, header: pr.Place) -> bool:
        return self.store.is_valid(header.key)

    def extern(self, e: pr.Expr) -> Value:
        raise AssertionError(e)

    def block(self, body: Iterable[pr.Stmt]) -> None:
        for s in body:
            match s:
                case pr.Assign(target=pr.Place() as target):
                    self.written[target.key] = evaluate(s.value, self, self.exact)
                case pr.If():
                    self._if(s)
                case pr.Declare():
                    self.written.pop(s.variable.key, None)
                case pr.Run():
                    self.block(s.body)
                case _:
                    raise AssertionError(s)

    def _if(self, s: pr.If) -> None:
        condition = evaluate(s.condition, self, self.exact)
        if isinstance(condition, int):
            self.block(s.yes if condition else s.no)
            return
        yes, no = (_Body(self.store, dict(self.written), self.exact) for _ in range(2))
        yes.block(s.yes)
        no.block(s.no)
        for place in targets((*s.yes, *s.no)):  # what only one way writes stays on the other as it was
            one, other = (as_term(on.value(place), place.type) for on in (yes, no))
            self.written[place.key] = simplified(smt.If(condition, one, other))


def targets(body: Iterable[pr.Stmt]) -> list[pr.Place]:
    """What statements may write, each once."""
    found: dict[Key, pr.Place] = {}
    for s in body:
        match s:
            case pr.Assign(target=pr.Place() as target):
                found[target.key] = target
            case pr.If() | pr.Run():
                found |= {p.key: p for p in targets((*s.yes, *s.no) if isinstance(s, pr.If) else s.body)}
            case _:
                pass
    return list(found.values())
