"""Handlers of the typed program, executed for all packets at once.

There are no paths: every statement runs under the condition that it is reached, what it writes is chosen by that
condition, and ways that part meet again. So a handler costs time in proportion to its length.
"""

from __future__ import annotations

from typing import Any

from polysome import smt
from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.ir.fold import NotConstant, Undefined, fold
from polysome.ir.walk import walk
from polysome.symbolic.values import (
    FALSE,
    TRUE,
    Rows,
    Term,
    anything,
    bits,
    choose,
    conj,
    disj,
    neg,
)
from polysome.testing.coverage.symbolic.evaluate import Evaluator
from polysome.testing.coverage.symbolic.packet import AnyPacket

UNROLLED = 64  # rounds of a loop that are executed one by one


class Executor(Evaluator):
    """Executes bodies; `put` and `remove` also run what the map's declaration says (timeouts, indexes, `on end`).

    `place` tells the statement that is executed from its copies, where actions are inlined; `sent`: when a packet is.
    """

    packet: AnyPacket
    place = 0
    sent: list[Term]

    def packet_handlers(self) -> None:
        """All packet handlers, each under the condition that it gets the packet; then what the schedule computes."""
        program, packet = self.program, self.packet
        contract = program.contract
        passing = TRUE if contract is None else packet.passing(contract.passing)
        at_handler = [disj(*(packet.in_port == port for port in h.ports)) for h in program.packet_handlers]
        if contract is not None and (first := self.points.first(contract)) is not None:
            self.guard = disj(*at_handler)
            self.happens(first, neg(passing))
        for handler, port in zip(program.packet_handlers, at_handler, strict=True):
            self.locals, self.edits = {}, {}
            self.sent = []
            self.handler(handler, conj(port, passing))
            self.guard = disj(*self.sent)
            for arg in program.schedule.args:
                self.value(arg)
            self.traps.clear()

    def handler(self, handler: ir.PacketHandler | ir.EndHandler | ir.Timer, guard: Term) -> None:
        first = self.points.first(handler)
        self.guard = guard
        if first is not None:
            self.happens(first)
        self.body(handler.body, guard)

    def body(self, body: ir.Body, guard: Term) -> Term:
        """Runs the statements under `guard`; the condition under which what follows is reached."""
        for s in body:
            if smt.is_false(guard):
                break
            self.guard, self.place = guard, id(s)
            self.happens(self.points.line(s))
            traps, self.traps = self.traps, []
            guard = self.statement(s, guard)
            guard = conj(guard, neg(disj(*self.traps)))
            self.traps = traps
        return guard

    def statement(self, s: ir.Statement, guard: Term) -> Term:
        match s:
            case ir.SetLocal(slot=slot, value=v):
                self._set(slot, self.value(v))
            case ir.Evaluate(value=v):
                self.value(v)
            case ir.If(condition=c, then=then, orelse=orelse):
                condition = self.decided(self.points.first(s), self.value(c))
                return self._branches(condition, then, orelse, guard)
            case ir.Lookup():
                return self._lookup(s, guard)
            case ir.ForRange():
                return self._for_range(s, guard)
            case ir.ForEach():
                return self._for_each(s, guard)
            case ir.MapPut():
                self._map_put(s)
            case ir.MapRemove(state=m, key=k):
                self._remove(m, self.value(k))
            case ir.StateWrite(state=state, index=i, value=v):
                index = None if i is None else self.value(i)
                value = self.value(v)
                if index is not None:
                    self.trap(self._beyond(state, index))
                self.world.write(conj(guard, neg(disj(*self.traps))), state, index, value)
            case ir.FieldWrite(instance=i, field=f, value=v):
                self.edits[i, f] = choose(guard, self.value(v), self.field(i, f))
            case ir.Send() | ir.Bounce() | ir.Drop():
                if isinstance(s, ir.Send):
                    self.value(s.target)
                if not isinstance(s, ir.Drop):
                    self.sent.append(conj(guard, neg(disj(*self.traps))))
                return FALSE
            case _:
                for node in _expressions(s):
                    self.value(node)
        return guard

    def _set(self, slot: int, value: Any) -> None:
        self.locals[slot] = choose(self.guard, value, self.locals[slot]) if slot in self.locals else value

    def _branches(self, condition: Term, then: ir.Body, orelse: ir.Body, guard: Term) -> Term:
        guard = conj(guard, neg(disj(*self.traps)))
        yes, no = conj(guard, condition), conj(guard, neg(condition))
        after_then, after_else = self.body(then, yes), self.body(orelse, no)
        if after_then is yes and after_else is no:
            return guard
        return disj(after_then, after_else)

    # ------------------------------------------------------------ lookups

    def _lookup(self, s: ir.Lookup, guard: Term) -> Term:
        key = self.value(s.key) if s.key is not None else None
        match s.kind:
            case "map":
                found, value = self.world.get(s.source, key)
            case "index":
                assert s.index is not None
                found, value = self.world.find(s.source, s.index, key)
            case "pool":
                found, value = self.world.take(s.source, key)
            case _:
                found, value = self.world.row(s.source, key)
        self._set(s.slot, value)
        found = self.decided(self.points.first(s), found)
        return self._branches(found, s.found, s.absent, guard)

    # ------------------------------------------------------------ loops

    def _for_range(self, s: ir.ForRange, guard: Term) -> Term:
        try:
            rounds = range(fold(s.low), fold(s.high))
        except (NotConstant, Undefined):
            rounds = range(UNROLLED + 1)
        if len(rounds) > UNROLLED:
            return self._any_rounds(s.body, (s.slot,), (t.U64,), guard)
        for i in rounds:
            self.locals[s.slot] = bits(i, 64)
            guard = self.body(s.body, guard)
        return guard

    def _for_each(self, s: ir.ForEach, guard: Term) -> Term:
        items = self.world.items(s.state) if s.state is not None else self._rows(s)
        first = self.points.first(s)
        if items is None:
            if first is not None:
                self.happens(first)
                self.happens(first + 1)
            return self._any_rounds(s.body, s.slots, None, guard)
        if first is not None:
            self.happens(first, disj(*(there for there, _ in items)))
            self.happens(first + 1, neg(disj(*(there for there, _ in items))))
        for there, values in items:
            self.locals |= dict(zip(s.slots, values, strict=False))
            before = conj(guard, there)
            after = self.body(s.body, before)
            guard = guard if after is before else disj(conj(guard, neg(there)), after)
        return guard

    def _rows(self, s: ir.ForEach) -> list[tuple[Term, tuple[Any, ...]]] | None:
        assert s.table is not None
        rows = self.value(s.table)
        if not isinstance(rows, Rows):
            return None
        return [(there, (value,) if key is None else (key, value)) for there, key, value in rows.rows]

    def _any_rounds(self, body: ir.Body, slots: tuple[int, ...], types: Any, guard: Term) -> Term:
        """Any round of a loop: what the body writes may hold anything before, and after."""
        self._forget(body, slots)
        self.body(body, guard)
        self._forget(body, slots)
        return guard

    def _forget(self, body: ir.Body, slots: tuple[int, ...]) -> None:
        for slot in slots:
            self.locals.pop(slot, None)
        for node in walk(body):
            match node:
                case ir.SetLocal(slot=slot) | ir.Lookup(slot=slot):
                    self.locals.pop(slot, None)
                case ir.FieldWrite(instance=i, field=f):
                    width = self.program.parser.instances[i].header.fields[f].width
                    self.edits[i, f] = anything(t.Bits(width))

    # ------------------------------------------------------------ maps

    def _map_put(self, s: ir.MapPut) -> None:
        key = self.value(s.key)
        decl = self.program.state[s.state]
        assert isinstance(decl, ir.MapDecl) and decl.value is not None
        if s.current is not None:
            self._set(s.current, self.present(s.state, key))
        self.put(s.state, key, self.value(s.value))

    def put(self, state: str, key: Any, value: Any) -> None:
        decl = self.program.state[state]
        assert isinstance(decl, ir.MapDecl)
        before, self.guard = self.guard, conj(self.guard, neg(disj(*self.traps)))
        full = self.world.full(state, key)
        if decl.when_full == "drop":
            self.trap(full)
            self.guard = conj(self.guard, neg(full))
        self._declared(decl, key, value)
        self.world.put(conj(self.guard, neg(full)) if decl.when_full == "pass" else self.guard, state, key, value)
        self.guard = before

    def _remove(self, state: str, key: Any) -> None:
        found, value = self.world.get(state, key)
        decl = self.program.state[state]
        assert isinstance(decl, ir.MapDecl)
        before = self.guard
        self.ended(decl, key, value, t.END.number("removed"), conj(self.guard, found))
        self.guard = before
        self.world.remove(self.guard, state, key)

    def ended(self, decl: ir.MapDecl, key: Any, value: Any, why: int | None, guard: Term) -> None:
        """Runs `on end` of the map, if there is one."""
        handler = self.program.end_handlers.get(decl.name)
        if handler is None or smt.is_false(guard):
            return
        assert why is not None
        saved, sent = (self.locals, self.traps), getattr(self, "sent", [])
        self.locals, self.traps, self.sent = {}, [], []
        plain = value.value if isinstance(decl.value, t.FromPool) and hasattr(value, "value") else value
        self.locals |= dict(zip(handler.slots, (key, plain, bits(why, t.width(t.END) or 2)), strict=True))
        self.handler(handler, guard)
        (self.locals, self.traps), self.sent = saved, sent

    def _declared(self, decl: ir.MapDecl, key: Any, value: Any) -> None:
        """The expressions of the declaration over a new entry."""
        for timeout in (decl.idle, decl.age):
            if timeout is not None:
                self._over(timeout.value, {timeout.key_slot: key, timeout.value_slot: value})
        for index in decl.indexes:
            self._over(index.key, {index.key_slot: key, index.value_slot: value})

    def _over(self, e: ir.Expr, slots: dict[int, Any]) -> Any:
        before, self.locals = self.locals, slots
        found = self.value(e)
        self.locals = before
        return found


def _expressions(s: ir.Statement) -> list[ir.Expr]:
    """The expressions of a statement that only makes packets."""
    match s:
        case ir.Push(fields=fields):
            return [v for _, v in fields]
        case ir.Truncate(size=size):
            return [size]
        case ir.Emit(headers=headers, payload=payload, target=target):
            values = [v for _, fields in headers for _, v in fields]
            return [*values, *([payload] if payload is not None else []), target]
        case _:
            return []
