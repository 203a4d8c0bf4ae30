"""The counters of the switch's program: sums, and warnings of what only an attacker or a fault makes."""

from __future__ import annotations

import time

from polysome_controller import control_pb2 as pb
from polysome_controller import program
from polysome_controller.context import Context
from polysome_controller.switch import Switch

QUIET = 5.0  # seconds between two warnings of a kind


class EventWatch:
    def __init__(self, context: Context, switch: Switch) -> None:
        self.totals: dict[str, int] = {}  # "ingress.parked": packets
        self._context = context
        self._switch = switch
        self._run = 0
        self._told: dict[str, tuple[float, int]] = {}  # when a kind was warned of last, and its count then

    async def look(self) -> None:
        run = self._switch.boot
        if not run:
            return
        config = self._context.config
        totals = await self._sums("ingress", program.INGRESS_EVENTS, list(config.ingress_events))
        totals.update(await self._sums("egress", program.EGRESS_EVENTS, list(config.egress_events)))
        if run != self._switch.boot:
            return  # some of them are another run's
        self.totals = totals = self._context.store.count("events", run, totals)
        if run != self._run:  # what was counted before is no news
            self._run = run
            self._told = {kind: (-QUIET, totals.get(f"ingress.{kind}", 0)) for kind in program.FORGED}
        self._warn(time.monotonic())

    def messages(self) -> list[pb.Counter]:
        return [pb.Counter(name=name, value=value) for name, value in self.totals.items()]

    async def _sums(self, gress: str, counter: str, names: list[str]) -> dict[str, int]:
        """Kind by kind: a hardware switch is slow to read, and what matters more comes in between."""
        size, sums = 1 << self._context.config.queue_pair_bits, dict[str, int]()
        for i, name in enumerate(names):
            sums[f"{gress}.{name}"] = sum((await self._switch.driver.read_counters(counter, i * size, size)).packets)
        return sums

    def _warn(self, now: float) -> None:
        for kind, (when, count) in self._told.items():
            total = self.totals.get(f"ingress.{kind}", 0)
            if total > count and now >= when + QUIET:
                text = f"refused {total - count} frames, counted as {kind}: forged, or of a part that does not work"
                self._context.journal.warning("switch", text)
                self._told[kind] = now, total
