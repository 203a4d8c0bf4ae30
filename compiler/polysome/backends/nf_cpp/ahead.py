"""Keys that can be computed before the handler runs, so that what their lookups touch is in the cache by then.

For each packet handler: the keys of lookups on the handler's main line (what every packet meets that is not sent or
dropped before) that depend on the packet and on constants alone. A batch computes and prefetches them for all of its
packets first; decisions are made afterwards, in order of arrival, so a batch means what its packets mean one by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from polysome.backends.nf_cpp.same_text import canonical_text
from polysome.backends.nf_cpp.sizes import native_of
from polysome.ir import program as ir
from polysome.ir.reads import children
from polysome.ir.walk import walk

Guard = tuple[tuple[ir.Expr, bool], ...]


Identity = tuple[str, str | None, str]


@dataclass(frozen=True)
class AheadKey:
    """The key of a lookup in `state` (through `index`), as an expression over the packet as it arrived.

    Only packets that meet all of `guard` (condition, whether it is true) need it. Of a `sketch`, its hash is needed; of
    a table of `config`, the row, as config does not change within a batch.
    """

    state: str
    index: str | None
    key: ir.Expr
    guard: Guard
    sketch: bool = False
    config: bool = False

    @property
    def identity(self) -> Identity:
        """Equal for keys that are the same wherever they stand."""
        return self.state, self.index, canonical_text(self.key, {})

    @property
    def value(self) -> Identity:
        """Equal for what is computed once: the hash of a key, whichever sketch it is for."""
        return ("", *self.identity[1:]) if self.sketch else self.identity

    @property
    def table(self) -> tuple[str, str | None]:
        """Keys of one table may be in one place, one after the other."""
        return self.state, self.index

    def excludes(self, other: AheadKey) -> bool:
        """Does no packet need both keys?"""
        return any((text, not yes) in other.conditions for text, yes in self.conditions)

    @property
    def conditions(self) -> tuple[tuple[str, bool], ...]:
        return tuple((canonical_text(e, {}), yes) for e, yes in self.guard)


def keys(program: ir.Program, handler: ir.PacketHandler, written: set[tuple[int, int]]) -> list[AheadKey]:
    """The keys that are computed ahead for packets of a handler, without repetitions in order of use."""
    walk = MainLine(program, written)
    return _once(walk.body(handler.body, ()))


def _once(found: Iterable[AheadKey]) -> list[AheadKey]:
    """Without keys that are there already for every packet that needs them."""
    kept: list[AheadKey] = []
    for one in found:
        there = (k for k in kept if k.identity == one.identity)
        if not any(set(k.conditions) <= set(one.conditions) for k in there):
            kept.append(one)
    return kept


def ends(body: ir.Body) -> bool:
    """Does every path through a body end in a verdict?"""
    if not body:
        return False
    match body[-1]:
        case ir.Send() | ir.Bounce() | ir.Drop():
            return True
        case ir.If(then=a, orelse=b) | ir.Lookup(found=a, absent=b):
            return ends(a) and ends(b)
    return False


def _may_end(body: ir.Body) -> bool:
    return any(isinstance(node, ir.Send | ir.Bounce | ir.Drop) for node in walk(body))


class MainLine:
    """Follows the main line with the locals whose values are known ahead."""

    def __init__(self, program: ir.Program, written: set[tuple[int, int]]) -> None:
        self.program, self.written = program, written
        self.known: dict[int, ir.Expr] = {}
        self.ever: dict[int, ir.Expr] = {}  # the same, wherever that was
        # Rows of config are looked up only for packets that surely ask for them, as that costs more than a key.
        self.sure = True  # has no packet left for a reason that is not known ahead?
        self.stayed: Guard = ()  # what holds for those that have not left

    def body(self, body: ir.Body, guard: Guard) -> Iterator[AheadKey]:
        for s in body:
            match s:
                case ir.SetLocal(slot=slot, value=v):
                    yield from self.inside(v, guard)
                    pure = self.pure(v)
                    if pure is not None:
                        self.known[slot] = self.ever[slot] = pure
                    else:
                        self.known.pop(slot, None)
                case ir.Lookup(kind="map" | "index", source=state, index=index, key=key) if key is not None:
                    pure = self.pure(key)
                    if pure is not None:
                        yield AheadKey(state, index, pure, guard)
                    self.sure = self.sure and not _may_end((*s.found, *s.absent))
                case ir.Lookup(kind=kind, source=table, key=key):
                    pure = self.pure(key) if kind == "table" and key is not None and self.sure else None
                    if pure is not None:
                        yield AheadKey(table, None, pure, (*self.stayed, *guard), config=True)
                    self.sure = self.sure and not _may_end((*s.found, *s.absent))
                case ir.MapPut(state=state, key=key):
                    pure = self.pure(key)
                    if pure is not None:
                        yield AheadKey(state, None, pure, guard)
                case ir.Evaluate(value=v):
                    yield from self.inside(v, guard)
                case ir.If(condition=c, then=a, orelse=b):
                    yield from self.inside(c, guard)
                    if ends(a) != ends(b):
                        self._leave(c, ends(b))
                        yield from self.body(b if ends(a) else a, guard)
                    else:
                        yield from self.branches(s, guard)
                        self.sure = self.sure and not _may_end((*a, *b))

    def _leave(self, condition: ir.Expr, stays: bool) -> None:
        """Packets have left, but for those of which `condition` is `stays`."""
        pure = self.pure(condition)
        if pure is None:
            self.sure = False
        else:
            self.stayed = (*self.stayed, (pure, stays))

    def branches(self, s: ir.If, guard: Guard) -> Iterator[AheadKey]:
        """Keys that both branches need are needed before; the others by packets that go that way."""
        condition = self.pure(s.condition)
        if condition is None:
            return
        text = canonical_text(condition, {})
        for known, yes in guard:
            if canonical_text(known, {}) == text:
                yield from self.body(s.then if yes else s.orelse, guard)
                return
        before, stayed, sure = dict(self.known), self.stayed, self.sure
        ways: list[list[AheadKey]] = []
        after: list[dict[int, ir.Expr]] = []
        for yes, body in ((True, s.then), (False, s.orelse)):
            self.known, self.stayed, self.sure = dict(before), stayed, sure
            ways.append(_once(self.body(body, (*guard, (condition, yes)))))
            after.append(self.known)
        self.stayed, self.sure = stayed, sure
        # What a branch set is not known behind it.
        self.known = {slot: e for slot, e in before.items() if all(k.get(slot) is e for k in after)}
        own = len(guard) + 1
        needed = [{k.identity for k in way if len(k.guard) == own} for way in ways]
        both = needed[0] & needed[1]
        for one in (*ways[0], *ways[1]):
            yield replace(one, guard=guard) if one.identity in both else one

    def inside(self, e: ir.Expr, guard: Guard) -> Iterator[AheadKey]:
        """Tests and buckets of maps inside an expression."""
        match e:
            case ir.Contains(state=state, key=key, index=index) if isinstance(self.program.state[state], ir.MapDecl):
                pure = self.pure(key)
                if pure is not None:
                    yield AheadKey(state, index, pure, guard)
            case ir.MethodCall(state=state, args=(key, *_)) | ir.Contains(state=state, key=key):
                decl, pure = self.program.state[state], self.pure(key)
                if isinstance(decl, ir.KindDecl) and pure is not None:
                    native = native_of(decl.kind)
                    if native.prefetched or not native.keeps_keys:
                        yield AheadKey(state, None, pure, guard, sketch=not native.keeps_keys)
            case ir.BucketOp(place=ir.Place(state=state, kind=_, key=key)) if key is not None:
                pure = self.pure(key)
                if pure is not None and isinstance(self.program.state[state], ir.MapDecl):
                    yield AheadKey(state, None, pure, guard)
            case ir.Unary(operand=x):
                yield from self.inside(x, guard)
            case ir.Binary(op="and" | "or", left=a):
                yield from self.inside(a, guard)
            case ir.Binary(left=a, right=b):
                yield from self.inside(a, guard)
                yield from self.inside(b, guard)

    def pure(self, e: Any) -> Any:
        """`e` with known locals replaced; None if it depends on state, time or what the handler does."""
        match e:
            case ir.Local(slot=slot):
                return self.known.get(slot)
            case ir.HeaderField(instance=i, field=n) if (i, n) in self.written:
                return None
            case ir.Binary(op="/" | "%", right=right) if not (isinstance(right, ir.Const) and right.value):
                return None
            case (
                ir.StateRead()
                | ir.ArrayRead()
                | ir.Contains()
                | ir.StateLen()
                | ir.MethodCall()
                | ir.BucketOp()
                | ir.ListIndex()
                | ir.Now()
                | ir.Ratio()
                | ir.LetIn()
                | ir.Config()
                | ir.FnCall()
            ) if not (isinstance(e, ir.FnCall) and self._plain(e)):
                return None
        changes = {}
        for f in fields(e):
            value = getattr(e, f.name)
            if isinstance(value, ir.Expr):
                inner = self.pure(value)
                if inner is None:
                    return None
                changes[f.name] = inner
            elif isinstance(value, tuple) and any(isinstance(v, ir.Expr) for v in value):
                items = [self.pure(v) for v in value]
                if any(i is None for i in items):
                    return None
                changes[f.name] = tuple(items)
        if not is_dataclass(e) or isinstance(e, type):
            return None
        return replace(e, **changes) if changes else e

    def _plain(self, e: ir.FnCall) -> bool:
        """A function whose body is total and depends on its arguments alone."""
        return not _acts(self.program.fns[e.fn].body, self.program)


def _acts(e: ir.Expr, program: ir.Program) -> bool:
    match e:
        case ir.Binary(op="/" | "%", right=right) if not (isinstance(right, ir.Const) and right.value):
            return True
        case ir.ListIndex() | ir.Config() | ir.Now() | ir.Ratio():
            return True
        case ir.FnCall(fn=fn) if _acts(program.fns[fn].body, program):
            return True
    return any(_acts(c, program) for c in children(e))
