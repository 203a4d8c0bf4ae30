"""Frames that the NF sends, one for each path, and answers to them: what boundary packets are made from."""

from __future__ import annotations

import random

from polysome.config.tables import Tables
from polysome.interp.code import code_of
from polysome.interp.machine import Machine
from polysome.testing.spec import Spec
from polysome.testing.traffic import later
from polysome.testing.traffic.boundaries.model import mislead
from polysome.testing.traffic.choices import Choices
from polysome.testing.traffic.frames import Frame, dissect, encode
from polysome.testing.traffic.fresh import free_choices, fresh
from polysome.testing.traffic.routes import Route
from polysome.testing.traffic.values import EPOCH
from polysome.testing.traffic.world import World

Base = tuple[int, Frame]  # the port where it arrives

_TRIALS = 10  # frames tried for a path until the NF sends one
_CHOICES = 120  # bytes that decide a frame
STEP = 10**6  # ns between two packets


class Bases:
    """An interpreter sees all that are tried, so that answers belong to something. The same for the same spec."""

    def __init__(self, spec: Spec) -> None:
        self.program = spec.program
        self.world = World(spec.program, Choices(b""), spec.config)
        self.ports = sorted({port for handler in self.program.packet_handlers for port in handler.ports}) or [0]
        self._sink = _Sink()
        self._machine = Machine(
            self.program, Tables(self.program, self.world.config), self._sink, code_of(self.program)
        )
        self._tried = 0

    def of(self, wanted: Route, every: bool) -> tuple[Base, ...]:
        """A frame that the NF sends, and, if `every`, one for each other port where there is one: an answer, or one of
        its own. If the NF sends none, one that it does not.
        """
        found: dict[int, Frame] = {}
        for port in self.ports if every else self.ports[:1]:
            tried = [self._fresh(port, wanted, trial) for trial in range(_TRIALS)]
            sent = next((one for one in tried if self._sends(port, one, wanted)), None)
            if sent is None:
                continue
            found.setdefault(port, sent)
            if every:
                for other, frame in self._answers(wanted):
                    found.setdefault(other, frame)
        return tuple(found.items()) or ((self.ports[0], self._fresh(self.ports[0], wanted, 0)),)

    def _fresh(self, port: int, wanted: Route, trial: int) -> Frame:
        """A frame; the first trial is the simplest one."""
        choices = Choices(random.Random(f"{wanted.number} {trial}").randbytes(_CHOICES) if trial else b"")
        others = [p for p in self.ports if p != port]
        frame = fresh(self.program, choices, self.world, port, others[0] if others else port, wanted)
        self._make_plain(frame, wanted)
        mislead(self.program, frame)
        return frame

    def _make_plain(self, frame: Frame, wanted: Route) -> None:
        """No options and no fragment, as far as the path allows."""
        for layer in frame.layers:
            shape = layer.shape
            if shape.rests is not None:
                layer.rest = bytes(shape.rests[0])
            for f in free_choices(self.program)[shape.number]:
                drawn = layer.values[f]
                if f in shape.rules or drawn == shape.base[f]:
                    continue
                layer.values[f] = shape.base[f]
                if tuple(self._machine.parse(0, encode(self.program, frame)).path) != wanted.path:
                    layer.values[f] = drawn

    def _answers(self, wanted: Route) -> list[Base]:
        """To what has just left, if the NF sends them."""
        found = []
        for port, data in list(self._sink.left):
            frame = later.answer(self.program, Choices(b""), dissect(self.program, self._machine.parse(port, data)))
            if frame.path == wanted.path and self._sends(port, frame, wanted):
                found.append((port, frame))
        return found

    def _sends(self, port: int, frame: Frame, wanted: Route) -> bool:
        self._tried += 1
        self._sink.left.clear()
        data = encode(self.program, frame)
        dropped = sum(self._machine.counters.dropped.values())
        self._machine.arrive(port, EPOCH + STEP * self._tried, data)
        if sum(self._machine.counters.dropped.values()) > dropped:
            return False
        return tuple(self._machine.parse(port, data).path) == wanted.path


class _Sink:
    """What has left since it was last cleared: ports and bytes."""

    def __init__(self) -> None:
        self.left: list[tuple[int, bytes]] = []

    def leave(self, port: int, time: int, data: bytes, order: int) -> None:
        self.left.append((port, data))

    def emitted(self, port: int, time: int, data: bytes) -> None: ...
