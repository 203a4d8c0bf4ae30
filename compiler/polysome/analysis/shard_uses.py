"""Which entries of which state a packet uses: every use with its key as a function of the packet as it arrived.

Handlers are followed statement by statement, with what locals and fields hold; each use knows the conditions on the
packet under which it happens.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from polysome.analysis.effects import text
from polysome.analysis.shard_keys import (
    SCHEDULE,
    Context,
    Guard,
    Use,
    found_entry,
    key_through,
    key_type,
    never_written,
    normal_of,
)
from polysome.analysis.symbolic import Env, entry_key, hole, known, leaves, part, resolve, simple
from polysome.ir import program as ir
from polysome.ir.classes import split
from polysome.ir.reads import children
from polysome.ir.walk import walk
from polysome.syntax.spans import Span


@lru_cache(maxsize=4)
def contexts(program: ir.Program) -> tuple[Context, ...]:
    """Every handler for each of its ports, the ends of each map's entries, and timers."""
    found = []
    passing = program.contract.passing if program.contract else program.parser.all_classes
    for handler in program.packet_handlers:
        for port in handler.ports:
            walker = _Walk(program, Env(port=port), passing)
            walker.body(handler.body)
            walker.lacking()
            names = tuple(walker.names.items())
            found.append(Context(port, None, tuple(walker.uses), handler.span, names=names))
    for decl in program.state.values():
        if isinstance(decl, ir.MapDecl) and not decl.per_core:
            found.append(_end(program, decl))
    for name, end in program.end_handlers.items():
        if program.state[name].per_core:
            found.append(_handler_without_packet(program, end.body, end.span, None))
    for timer in program.timers:
        emits = next((node.span for node in walk(timer.body) if isinstance(node, ir.Emit)), None)
        found.append(_handler_without_packet(program, timer.body, timer.span, emits))
    return tuple(found)


def _end(program: ir.Program, decl: ir.MapDecl) -> Context:
    """An entry that ends: itself, and what its `on end` uses."""
    key = entry_key(decl.span, decl.key)
    walker = _Walk(program, Env(), program.parser.all_classes)
    walker.use(decl.name, decl.span, key)
    handler = program.end_handlers.get(decl.name)
    if handler is not None:
        walker.env.slots[handler.slots[0]] = key
        walker.body(handler.body)
    return Context(None, decl.name, tuple(walker.uses), decl.span if handler is None else handler.span)


def _handler_without_packet(program: ir.Program, body: ir.Body, span: Span, emits: Span | None) -> Context:
    walker = _Walk(program, Env(), program.parser.all_classes)
    walker.body(body)
    return Context(None, None, tuple(walker.uses), span, emits)


@dataclass
class _Walk:
    """Collects the uses of one handler. `env`, `mask` and `guards` say what is known where the walk is."""

    program: ir.Program
    env: Env
    mask: int
    guards: tuple[Guard, ...] = ()
    uses: list[Use] = field(default_factory=list)
    names: dict[ir.Expr, str] = field(default_factory=dict)
    slots: dict[int, str] = field(default_factory=dict)

    # ------------------------------------------------------------ uses

    def use(
        self,
        state: str,
        span: Span,
        key: ir.Expr | None,
        keyed: bool = True,
        through: str | None = None,
        said: str = "",
    ) -> None:
        """A use of the entry that `key` names, as it is resolved."""
        if state != SCHEDULE and (self.program.state[state].per_core or state in never_written(self.program)):
            return
        parts: tuple[ir.Expr | None, ...] = ()
        type = key_type(self.program, state)
        if type is not None and keyed:
            found = [None if key is None else part(key, path) for path, _, _ in leaves(type)]
            parts = tuple(None if e is None else self._known(e) for e in found)
        self.uses.append(Use(state, span, parts, self.guards, self.mask, keyed, through, said))

    def _entry_use(self, state: str, span: Span, key: ir.Expr | None, index: str | None = None) -> None:
        """A use of the entry that an expression of the spec names, or of state that has no entries."""
        if key is None:
            self.use(state, span, None)
            return
        resolved = resolve(key, self.env)
        if index is not None:
            resolved = key_through(self.program, state, index, resolved)
        self.use(state, span, resolved, through=index, said=text(self.program, key.span))

    def _known(self, e: ir.Expr) -> ir.Expr | None:
        """The expression, if need be with functions inlined, that may not look at all of their arguments."""
        inlined = normal_of(self.program).inlined(e)
        if known(e) and not isinstance(inlined, ir.Const):
            return e
        return inlined if known(inlined) else None

    def lacking(self) -> None:
        """What the packets use that the handler does not see: only the schedule."""
        contract = self.program.contract
        if contract is not None and contract.passing != self.program.parser.all_classes:
            self.guards, self.mask = (), self.program.parser.all_classes & ~contract.passing
            self.body((contract.orelse,))

    # ------------------------------------------------------------ statements

    def body(self, body: ir.Body) -> bool:
        """Walk the statements; does a path get to the end?"""
        return all(self._statement(s) for s in body)

    def _statement(self, s: ir.Statement) -> bool:
        for e in children(s):
            self.expression(e)
        match s:
            case ir.SetLocal(slot=slot, name=name, value=value):
                self.slots[slot] = name
                self._named(slot, resolve(value, self.env))
            case ir.FieldWrite(instance=i, field=f, value=value):
                self.env.fields[i, f] = resolve(value, self.env)
            case ir.If():
                return self._if(s)
            case ir.Lookup():
                return self._lookup(s)
            case ir.ForRange() | ir.ForEach():
                self._loop(s)
            case ir.MapPut(state=state, key=key) | ir.MapRemove(state=state, key=key):
                self._entry_use(state, s.span, key)
            case ir.StateWrite(state=state, index=index):
                self._entry_use(state, s.span, index)
            case ir.Send() | ir.Bounce():
                self._scheduled()
                return False
            case ir.Drop():
                return False
        return True

    def _scheduled(self) -> None:
        """What the policy keeps for the packet's class; a plain fifo keeps nothing."""
        schedule = self.program.schedule
        for e in schedule.args:
            self.expression(e)
        if not schedule.plain:
            self.use(SCHEDULE, schedule.span, resolve(schedule.cls, Env(self.env.port)))

    def _if(self, s: ir.If) -> bool:
        condition = resolve(s.condition, self.env)
        yes, no = split(condition, self.mask, self.program.parser)
        usable = known(condition)
        then = self._branch(s.then, yes, list(self._guards(condition, True)) if usable else [])
        orelse = self._branch(s.orelse, no, list(self._guards(condition, False)) if usable else [])
        return self._join(then, orelse, condition if usable else None)

    def _guards(self, condition: ir.Expr, holds: bool) -> Iterator[Guard]:
        """What is sure where the condition came out so: itself, of `a and b` both, of `not (a or b)` neither."""
        if isinstance(condition, ir.Unary) and condition.op == "not":
            yield from self._guards(condition.operand, not holds)
            return
        yield Guard(normal_of(self.program).of(condition, self.program.parser.all_classes), condition, holds)
        if isinstance(condition, ir.Binary) and condition.op == ("and" if holds else "or"):
            yield from self._guards(condition.left, holds)
            yield from self._guards(condition.right, holds)

    def _branch(self, body: ir.Body, mask: int, guards: Iterable[Guard]) -> _Walk | None:
        """The walk behind a branch; None if nothing gets there."""
        inner = self._inner(mask, guards)
        return inner if mask and inner.body(body) else None

    def _inner(self, mask: int, guards: Iterable[Guard]) -> _Walk:
        all_guards = (*self.guards, *guards)
        return _Walk(self.program, self.env.copy(), mask, all_guards, self.uses, self.names, self.slots)

    def _named(self, slot: int, value: ir.Expr) -> None:
        self.env.slots[slot] = value
        if slot in self.slots and isinstance(value, (ir.Choose, ir.Binary, ir.Hash)):
            self.names.setdefault(value, self.slots[slot])

    def _join(self, a: _Walk | None, b: _Walk | None, condition: ir.Expr | None) -> bool:
        """Go on behind two branches."""
        if a is None or b is None:
            one = a or b
            if one is not None:
                self.env, self.mask, self.guards = one.env, one.mask, one.guards
            return one is not None
        self.mask = a.mask | b.mask
        for slot in a.env.slots.keys() | b.env.slots.keys():
            self._named(slot, _either(a.env.slots.get(slot), b.env.slots.get(slot), condition))
        for at in a.env.fields.keys() | b.env.fields.keys():
            first, second = a.env.fields.get(at), b.env.fields.get(at)
            written = first or second
            assert written is not None
            before = ir.HeaderField(written.span, written.type, *at)
            self.env.fields[at] = _either(first or before, second or before, condition)
        return True

    def _lookup(self, s: ir.Lookup) -> bool:
        found, absent = self.env.copy(), self.env
        found.slots.pop(s.slot, None)
        if s.kind == "index":
            assert s.key is not None and s.index is not None
            key = key_through(self.program, s.source, s.index, resolve(s.key, self.env))
            found.slots[s.slot] = found_entry(self.program, s.source, key)
        if s.kind != "table":
            self._entry_use(s.source, s.span, s.key, s.index if s.kind == "index" else None)
        self.env = found
        one = self._branch(s.found, self.mask, ())
        self.env = absent
        return self._join(one, self._branch(s.absent, self.mask, ()), None)

    def _loop(self, s: ir.ForRange | ir.ForEach) -> None:
        """What the body changes is not known in it, nor behind it."""
        if isinstance(s, ir.ForEach) and s.state is not None:
            self.use(s.state, s.span, None, keyed=False)
        changed = [*(s.slots if isinstance(s, ir.ForEach) else (s.slot,))]
        changed += [n.slot for n in walk(s.body) if isinstance(n, (ir.SetLocal, ir.Lookup))]
        for slot in changed:
            self.env.slots.pop(slot, None)
        for node in walk(s.body):
            if isinstance(node, ir.FieldWrite):
                self.env.fields[node.instance, node.field] = hole(node.value)
        self._branch(s.body, self.mask, ())

    # ------------------------------------------------------------ expressions

    def expression(self, e: ir.Expr) -> None:
        """The uses in an expression; of `and`, `or` and `if` under the conditions that they make."""
        match e:
            case ir.LetIn(slot=slot, value=value, body=body):
                self.expression(value)
                self.env.slots[slot] = resolve(value, self.env)
                self.expression(body)
                return
            case ir.Binary(op="and" | "or", left=left, right=right):
                self.expression(left)
                self._under(left, e.op == "and", right)
                return
            case ir.Choose(condition=condition, then=then, orelse=orelse):
                self.expression(condition)
                self._under(condition, True, then)
                self._under(condition, False, orelse)
                return
        for child in children(e):
            self.expression(child)
        self._operation(e)

    def _under(self, condition: ir.Expr, holds: bool, e: ir.Expr) -> None:
        resolved = resolve(condition, self.env)
        mask = split(resolved, self.mask, self.program.parser)[0 if holds else 1]
        guards = self._guards(resolved, holds) if known(resolved) else ()
        if mask:
            self._inner(mask, guards).expression(e)

    def _operation(self, e: ir.Expr) -> None:
        match e:
            case ir.StateRead(state=state):
                self.use(state, e.span, None)
            case ir.StateLen(state=state):
                decl = self.program.state[state]
                per = decl.per if isinstance(decl, ir.PoolDecl) else None
                self.use(state, e.span, None if per is None else resolve(per, self.env), keyed=per is not None)
            case ir.ArrayRead(state=state, index=index):
                self._entry_use(state, e.span, index)
            case ir.Contains(state=state, key=key, index=name):
                self._entry_use(state, e.span, key, name)
            case ir.MethodCall(state=state, args=args):
                self._entry_use(state, e.span, args[0] if args else None)
            case ir.BucketOp(place=place):
                self._entry_use(place.state, e.span, place.key)


def _either(a: ir.Expr | None, b: ir.Expr | None, condition: ir.Expr | None) -> ir.Expr:
    """What a variable holds behind two branches."""
    one = a or b
    assert one is not None
    if a is None or b is None:
        return hole(one)
    if a == b:
        return a
    if condition is None:
        return hole(one)
    return simple(ir.Choose(one.span, one.type, condition, a, b))
