"""The reference interpreter: state, time and verdicts (LANGUAGE.md sections 2, 7 to 9, 11, 13).

`Machine.arrive` takes packets in order of the merged trace; everything that is due before happens first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, Protocol

from polysome.interp import support
from polysome.interp.apply import apply
from polysome.interp.code import Generated, generate
from polysome.interp.packet import Packet, read_bits, slice_bits
from polysome.interp.rebuild import make
from polysome.interp.state import States
from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.kinds.base import Trap
from polysome.kinds.hashing import encoder, key_of_seed, siphash
from polysome.kinds.policy import POLICIES
from polysome.kinds.policy.base import Item, Settings

NO_HANDLER = "no handler"
SHORT_FRAME = "short frame"
EMPTY_SET = "empty port set"


Headers = tuple[tuple[str, Mapping[int, int]], ...]  # of an emitted packet: types, and values of fields by number


class Sink(Protocol):
    """Where packets go. Times in ns; `order` is the number of the packet that arrived, counted from 0."""

    def leave(self, port: int, time: int, data: bytes, order: int) -> None: ...

    def emitted(self, port: int, time: int, data: bytes) -> None: ...


class Nowhere:
    """The sink of machines of which one wants something else to know."""

    def leave(self, port: int, time: int, data: bytes, order: int) -> None: ...

    def emitted(self, port: int, time: int, data: bytes) -> None: ...


class ConfigTables(Protocol):
    """The config as the program reads it now, by name; `replace` exchanges tables at one instant."""

    current: dict[str, Any]

    def replace(self, values: Mapping[str, Any]) -> None: ...


@dataclass
class Counters:
    """What happened: in = sent (at least one copy) + dropped + held; copies and emitted packets apart."""

    packets_in: int = 0
    sent: int = 0
    copies: int = 0
    emitted: int = 0
    dropped: dict[str, int] = field(default_factory=dict)

    def drop(self, reason: str) -> None:
        self.dropped[reason] = self.dropped.get(reason, 0) + 1


class Clock:
    """The machine's time in ns."""

    __slots__ = ("now",)

    def __init__(self) -> None:
        self.now = 0


@dataclass(slots=True)
class _Copies:
    """A packet on its way through the schedule: its bytes, and how many copies may still leave."""

    data: bytes
    order: int
    waiting: int
    sent: bool = False


class Machine:
    """Runs one program on one trace."""

    states_type: ClassVar[type[States]] = States
    scalars_type: ClassVar[type[dict[str, Any]]] = dict

    def __init__(
        self, program: ir.Program, config: ConfigTables, sink: Sink, generated: Generated | None = None
    ) -> None:
        self.program = program
        self.config = config
        self.sink = sink
        self.counters = Counters()
        self.clock = Clock()
        self.started: int | None = None
        self._fired = [0] * len(program.timers)
        self._changes: list[tuple[int, Mapping[str, Any]]] = []
        self._pending: dict[int, _Copies] = {}
        seed = key_of_seed(program.params["seed"][1])
        self._hash64: Callable[[bytes], int] = lambda data: siphash(seed, data)
        self.scalars: dict[str, Any] = self.scalars_type()
        self._functions = self._load(generated or generate(program))
        self.states = self.states_type(program, self)
        kind = POLICIES[program.schedule.policy]
        self._policy = kind.make(Settings(**program.schedule.options), self._leave, self._drop_item)  # type: ignore[arg-type]
        self._handlers: dict[int, Callable[[Packet], Any]] = {
            port: self._functions[f"packet_{i}"] for i, h in enumerate(program.packet_handlers) for port in h.ports
        }
        self._passing = self._functions.get("PASSING")
        self._idle_policy = program.schedule.plain

    def _load(self, generated: Generated) -> dict[str, Any]:
        """The generated module's namespace, with what it may call."""
        values: dict[str, Any] = {name: getattr(support, name) for name in dir(support) if not name.startswith("_")}
        values |= generated.constants
        values |= {
            "STATE": {},
            "CFG": self.config.current,
            "scalars": self.scalars,
            "clock": self.clock,
            "from_bytes": int.from_bytes,
            "read_bits": read_bits,
            "slice_bits": slice_bits,
            "hash64": self._hash64,
            "encoders": _Encoders(),
            "emit": self._emit,
        }
        exec(generated.code, values)
        return values

    @property
    def functions(self) -> dict[str, Any]:
        """The generated functions by name, and the globals they share."""
        return self._functions

    def hash64(self, data: bytes) -> int:
        """SipHash-2-4 keyed by `param seed`."""
        return self._hash64(data)

    # ------------------------------------------------------------ time

    def change_at(self, time: int, values: Mapping[str, Any]) -> None:
        """A config change at `time`; changes are given in order of time."""
        self._changes.append((time, values))

    def arrive(self, port: int, time: int, data: bytes) -> None:
        """A packet; first everything that is due at or before its time."""
        now = max(self.clock.now, time)
        if self.started is None:
            self.started = now
        self._until(now)
        self.clock.now = now
        self._packet(port, data)

    def advance(self, time: int) -> None:
        """Time moves on to `time`, if that is later: everything due at or before it happens."""
        self._until(time)
        self.clock.now = max(self.clock.now, time)

    def finish(self) -> None:
        """The end of the trace: what is due at the last packet's time still happens."""
        self._until(self.clock.now)

    @property
    def held(self) -> int:
        """Packets in the schedule of which no copy has left."""
        return sum(1 for c in self._pending.values() if not c.sent)

    def _until(self, now: int) -> None:
        """Everything due at or before `now`, in order of time and, at one instant, of L2.3."""
        while True:
            due, kind, index = self.next_event(now)
            if due is None:
                return
            self.clock.now = max(self.clock.now, due)
            match kind:
                case 0:
                    self._guarded(partial(self.states.expire_one, index))
                case 1:
                    self._policy.run_due()
                case 2:
                    self._fired[index] += 1
                    self._guarded(self._functions[f"every_{index}"])
                case _:
                    self._replace(self._changes.pop(0)[1])

    def next_event(self, by: int) -> tuple[int | None, int, int]:
        """(time, kind, number) of what comes next, at or before `by`: expiries, releases, timers, config changes."""
        best, kind, index = by + 1, -1, 0
        ends = self.states.next_due(by)
        if ends is not None:
            best, kind, index = ends[0], 0, ends[1]
        release = self._policy.next_due()
        if release is not None and release < best:
            best, kind = release, 1
        if self.started is not None:
            for i, timer in enumerate(self.program.timers):
                at = self.started + (self._fired[i] + 1) * timer.period
                if at < best:
                    best, kind, index = at, 2, i
        if self._changes and self._changes[0][0] < best:
            best, kind = self._changes[0][0], 3
        return (None, -1, 0) if kind < 0 else (best, kind, index)

    def _guarded(self, run: Callable[[], Any]) -> None:
        """A handler without a packet: a trap just ends it."""
        try:
            run()
        except Trap:
            pass
        finally:
            self.states.settle()

    def _replace(self, values: Mapping[str, Any]) -> None:
        self.config.replace(values)
        self.states.reload()

    # ------------------------------------------------------------ packets

    def _packet(self, port: int, data: bytes) -> None:
        self.counters.packets_in += 1
        handler = self._handlers.get(port)
        if handler is None:
            self._drop(self.counters.packets_in - 1, NO_HANDLER)
            return
        p = self.parse(port, data)
        verdict = self._decide(p, handler)
        if isinstance(verdict, str):
            self._drop(p.order, verdict)
        elif p.short:
            self._drop(p.order, SHORT_FRAME)
        else:
            self._schedule(p, verdict)

    def _decide(self, p: Packet, handler: Callable[[Packet], Any]) -> Any:
        """The verdict: a port, a set of ports, or the reason of a drop."""
        try:
            if self._passing is not None and tuple(p.path) not in self._passing:
                return self._functions["lacking"](p)
            return handler(p)
        except Trap as trap:
            return trap.reason
        finally:
            self.states.settle()

    def _drop(self, order: int, reason: str) -> None:
        """No copy of packet `order` leaves."""
        self.counters.drop(reason)

    def parse(self, port: int, data: bytes) -> Packet:
        """The packet with its headers found."""
        parser = self.program.parser
        p = Packet(data, port, self.clock.now, len(parser.instances), 2 * len(parser.values))
        p.order = self.counters.packets_in - 1
        nodes = self._functions["NODES"]
        node = 0
        while node >= 0:
            node = nodes[node](p)
        p.payload = p.pos
        return p

    def flow(self, data: bytes) -> tuple[int, ...] | None:
        """The five-tuple of a packet as the parser's value `flow` has it; None without one, or if it is all zeros."""
        value = self.program.parser.values.get("flow")
        type = value.value.type if value is not None else None
        if not isinstance(type, t.Struct) or [n for n, _ in type.fields[:4]] != ["src", "dst", "sport", "dport"]:
            return None
        number = list(self.program.parser.values).index("flow")
        found: tuple[int, ...] = self._functions[f"value_{number}"](self.parse(0, data))
        return found if any(found[:2]) else None

    def _schedule(self, p: Packet, verdict: int | frozenset[int]) -> None:
        """Hand the packet, once for each port, to the schedule."""
        ports: Iterable[int] = (verdict,) if isinstance(verdict, int) else sorted(verdict)
        data = self._apply(p)
        if verdict == frozenset():
            self._drop(p.order, EMPTY_SET)
            return
        if self._idle_policy:
            for port in ports:
                self.counters.copies += 1
                self.sink.leave(port, self.clock.now, data, p.order)
            self.counters.sent += 1
            return
        try:
            args = self._functions["policy_args"](p)
        except Trap as trap:
            self._drop(p.order, trap.reason)
            return
        cls = self._functions["order_class"](p)
        ports = tuple(ports)
        copies = self._pending[p.order] = _Copies(data, p.order, len(ports))
        size = max(len(data), 14)
        for port in ports:
            self._policy.offer(Item(copies, port, size, cls, p.order, args), self.clock.now)

    def _apply(self, p: Packet) -> bytes:
        """The packet as it leaves."""
        return apply(self.program, p)

    def _leave(self, item: Item, time: int) -> None:
        copies: _Copies = item.packet
        self.counters.copies += 1
        if not copies.sent:
            copies.sent = True
            self.counters.sent += 1
        self.sink.leave(item.port, time, copies.data, copies.order)
        self._one_less(copies)

    def _drop_item(self, item: Item, reason: str) -> None:
        copies: _Copies = item.packet
        self._one_less(copies)
        if copies.waiting == 0 and not copies.sent:
            self._drop(copies.order, reason)

    def _one_less(self, copies: _Copies) -> None:
        copies.waiting -= 1
        if copies.waiting == 0:
            del self._pending[copies.order]

    def _emit(self, headers: Headers, payload: bytes, port: int) -> None:
        self.counters.emitted += 1
        self.sink.emitted(port, self.clock.now, make(self.program, headers, payload))


class _Encoders(dict[t.Type, Callable[[Any], bytes]]):
    """Canonical-bytes encoders by type, made at first use."""

    def __missing__(self, type: t.Type) -> Callable[[Any], bytes]:
        found = self[type] = encoder(type)
        return found
