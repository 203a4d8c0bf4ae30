"""Packets of the controller's own, parked, read back and compared (rule 14): queue pairs are proved by them before they
have traffic, and looked after by them while they have it.

The controller stands at a port of the switch itself. A probe names its queue pair by its source MAC. Its fields frame
comes back here, is answered with edits that change nothing, and the whole packet must come back as it was sent; or it
goes to an NF server, whose answer changes nothing but the fields that it may write.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Coroutine, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from polysome_controller import control_pb2 as pb
from polysome_controller.context import Context
from polysome_controller.layout import mac_number
from polysome_controller.packet_socket import PacketSocket
from polysome_controller.probe_frames import (
    SOURCE,
    edits_of,
    packet_of,
    queue_pair,
    tagged,
    wrong_fields,
    wrong_packet,
)
from polysome_controller.switch import Switch

AT_ONCE = 32  # queue pairs: the switch keeps no more than one packet of each
MOST_CUT = 3  # rounds of an NF server that proofs end, or keep from beginning; for the next one they wait
UNREAD = 16  # frames about one queue pair
APART = 0.002  # seconds between two that nobody waits for


class Fault(Exception):
    """A probe did not come back as it was sent. `stage`: "sent", "fields" or "packet"; `found`: what came, in words;
    empty: nothing."""

    def __init__(self, probe: pb.Probe, stage: str, found: str = "") -> None:
        super().__init__(found)
        self.probe = probe
        self.stage = stage
        self.found = found


@dataclass
class _Waiting:
    """For the next frames about a queue pair."""

    packet: bool  # the packet itself, or a frame of the NF's about it
    frames: asyncio.Queue[bytes] = field(default_factory=lambda: asyncio.Queue(UNREAD))


class Prover:
    """Proofs go before: a round through an NF server ends when one begins. But a server that is proved in vain for ever
    hides nothing of the others: it is so for a few rounds only. `patience`: seconds until a frame counts as lost."""

    def __init__(self, context: Context, switch: Switch) -> None:
        self._config = context.config.bring_up
        self._switch_mac = mac_number(context.config.switch_mac).to_bytes(6, "big")
        self._patience = context.deadline
        self._tables = context.tables
        self._switch = switch
        self._socket: PacketSocket | None = None
        self._waiting: dict[int, _Waiting] = {}
        self._proofs = 0  # under way
        self._round: asyncio.Task[None] | None = None
        self._cut: Counter[int] = Counter()  # rounds since the last whole one, by NF server
        self._due = False  # a round is waiting for proofs to end, or under way, and not to be cut
        self._turns = asyncio.Condition()
        self._leading = asyncio.Lock()
        self._leads: tuple[int, int | None] = 0, None  # in which run of the switch, to which NF server fields frames go
        self._room = asyncio.Semaphore(AT_ONCE)

    async def prove(self, pairs: Iterable[int]) -> dict[int, Fault]:
        """The first fault of each queue pair that has one. Refused if no probe can be sent at all, SwitchAway if the
        switch cannot be told where their fields go."""
        self._open()
        async with self._turns:
            await self._turns.wait_for(lambda: not self._due)
            self._proofs += 1
        try:
            if self._round is not None:
                self._round.cancel()
            await self._lead(None)
            pairs = list(pairs)
            faults = await asyncio.gather(*(self._fault(pair) for pair in pairs))
            return {pair: fault for pair, fault in zip(pairs, faults, strict=True) if fault is not None}
        finally:
            self._proofs -= 1
            async with self._turns:
                self._turns.notify_all()

    async def through(self, nf: int, pairs: Sequence[int], probe: pb.Probe, over: float) -> dict[int, int]:
        """One probe for each queue pair, decided about by an NF server: ns that it took, 0 if it is lost. They are sent
        one after the other over so many seconds, and a loop that is late sends them later, not at once. Those that a
        proof came before are missing. Refused and SwitchAway as in `prove`."""
        self._open()
        took: dict[int, int] = {}
        try:
            if self._cut[nf] >= MOST_CUT:
                self._due = True
                async with self._turns:
                    await self._turns.wait_for(lambda: not self._proofs)
            self._cut[nf] += 1
            if not self._proofs:
                await self._lead(nf)
            if not self._proofs:
                await self._until_cut(nf, self._spread(pairs, probe, over / max(1, len(pairs)), took))
        finally:
            if self._due:
                self._due = False
                async with self._turns:
                    self._turns.notify_all()
        return took

    async def _until_cut(self, nf: int, round_: Coroutine[Any, Any, None]) -> None:
        """A round, unless a proof ends it."""
        self._round = asyncio.ensure_future(round_)
        try:
            await self._round
            self._cut[nf] = 0
        except asyncio.CancelledError:
            if _is_cancelled():
                raise
        finally:
            self._round = None

    async def poke(self, nf: int, pairs: Iterable[int], probe: pb.Probe) -> list[int]:
        """A probe for each, whose answer nobody waits for: the switch itself takes silent queue pairs down. The fields
        go to that NF server, or to another one whose round it is, as any answer has them read back. Returns those that
        were asked before a proof came between; raises as `through`."""
        self._open()
        asked: list[int] = []
        if not self._proofs and self._round is None:
            await self._lead(nf)
        for pair in pairs:
            if self._proofs or self._leads[1] is None:
                break
            assert self._socket is not None
            self._socket.send(packet_of(probe, pair))
            asked.append(pair)
            await asyncio.sleep(APART)
        return asked

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()

    def _open(self) -> None:
        if self._socket is None:
            self._socket = PacketSocket(self._config.interface, self._take)

    async def _lead(self, nf: int | None) -> None:
        """Fields frames to an NF server; None: to the controller."""
        async with self._leading:
            wanted = self._switch.boot, nf
            if self._leads == wanted:
                return
            self._leads = 0, None  # not known, should this end here
            ways = sorted({probe.way for probe in self._config.probes})
            await self._switch.write(self._tables.probe_links(nf, ways), wanted[0])
            self._leads = wanted

    # ---------------------------------------------------------------- one queue pair

    async def _fault(self, pair: int) -> Fault | None:
        async with self._room:
            try:
                for probe in self._config.probes:
                    await self._park_and_read(pair, probe)
            except Fault as fault:
                return fault
            return None

    async def _park_and_read(self, pair: int, probe: pb.Probe) -> None:
        packet = packet_of(probe, pair)
        fields = await self._answer(pair, probe, packet, "fields")
        wrong = wrong_fields(fields, probe, pair, packet)
        if wrong:
            raise Fault(probe, "fields", wrong)
        back = await self._answer(pair, probe, edits_of(fields, probe, packet, self._switch_mac), "packet")
        wrong = wrong_packet(back, packet)
        if wrong:
            raise Fault(probe, "packet", wrong)

    async def _answer(self, pair: int, probe: pb.Probe, frame: bytes, stage: str) -> bytes:
        """What comes back of a frame."""
        assert self._socket is not None
        waiting = self._wait(pair, stage == "packet")
        try:
            why = self._socket.send(frame)
            if why:
                raise Fault(probe, "sent", why)
            async with asyncio.timeout(self._patience):
                return await waiting.frames.get()
        except TimeoutError:
            raise Fault(probe, stage) from None
        finally:
            self._wait_no_more(pair, waiting)

    async def _spread(self, pairs: Sequence[int], probe: pb.Probe, gap: float, took: dict[int, int]) -> None:
        async def trip(pair: int) -> None:
            took[pair] = await self._trip(pair, probe)

        trips = []
        try:
            for pair in pairs:
                trips.append(asyncio.ensure_future(trip(pair)))
                await asyncio.sleep(gap)
            await asyncio.gather(*trips)
        finally:
            for one in trips:
                one.cancel()

    async def _trip(self, pair: int, probe: pb.Probe) -> int:
        """ns until a probe is back; 0: it is not. An earlier one, which came late, is another packet."""
        assert self._socket is not None
        free = [*probe.edits, *probe.sums]
        async with self._room:
            packet, began = packet_of(probe, pair), time.monotonic_ns()
            waiting = self._wait(pair, packet=True)
            try:
                if self._socket.send(packet):
                    return 0
                async with asyncio.timeout(self._patience):
                    while wrong_packet(await waiting.frames.get(), packet, free):
                        pass
                return time.monotonic_ns() - began
            except TimeoutError:
                return 0
            finally:
                self._wait_no_more(pair, waiting)

    def _wait(self, pair: int, packet: bool) -> _Waiting:
        waiting = _Waiting(packet)
        self._waiting[pair] = waiting
        return waiting

    def _wait_no_more(self, pair: int, waiting: _Waiting) -> None:
        if self._waiting.get(pair) is waiting:
            del self._waiting[pair]

    def _take(self, frame: bytes) -> None:
        """A frame that came in: of the queue pair that its tag, or its source, names."""
        about = tagged(frame, self._switch_mac)
        pair = queue_pair(frame) if about else int.from_bytes(frame[6:12], "big") - SOURCE
        waiting = self._waiting.get(pair)
        if waiting is not None and waiting.packet != about and not waiting.frames.full():
            waiting.frames.put_nowait(frame)


def _is_cancelled() -> bool:
    """Is it this task that is to end, not only what it waits for?"""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
