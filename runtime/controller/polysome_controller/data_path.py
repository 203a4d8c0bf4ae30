"""Is the data path whole? Each second a probe goes through every queue pair and NF server and must come back (rule 15).

A part that answers its controller may lose every packet all the same. A probe takes the way of a packet that is parked:
its fields go to the NF server, which answers as it does to packets but decides nothing, so that its state stays as it
is; then it is read back, merged, and comes to the controller. Where none comes back of an NF server, the controller
answers in its place: so it is known whether that is to blame, or the queue pair.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from polysome_controller import clock
from polysome_controller import control_pb2 as pb
from polysome_controller.context import Context
from polysome_controller.layout import SECOND
from polysome_controller.nfs import NfServer, NfServers
from polysome_controller.proving import Prover
from polysome_controller.servers import Server
from polysome_controller.switch import Switch

# A busy machine loses a probe, or answers late; what has answered none for so long, and so often, does not work.
ROUNDS, SECONDS = 5, 8.0
MOST, DOUBTED = 256, 32  # queue pairs of a round, and of those that lost a probe; where there are more, in turn
SPREAD, LONGEST = 0.75, 1.0  # of the time between two rounds' beginnings, in which one's probes are sent; seconds


@dataclass
class _Record:
    """Of an NF server, or a queue pair: `good` is when a probe came back last, or when it was first asked (seconds)."""

    good: float
    missed: int = 0
    failing: str = ""  # why, in words


@dataclass
class _Count:
    sent: int = 0
    back: int = 0
    took: int = 0  # ns


@dataclass
class _Records:
    """By name, or by index; those that are not asked any more are forgotten."""

    of: dict[str | int, _Record] = field(default_factory=dict)

    def keep(self, known: Iterable[str | int]) -> None:
        kept = set(known)
        self.of = {key: record for key, record in self.of.items() if key in kept}

    def why(self, key: str | int) -> str:
        record = self.of.get(key)
        return record.failing if record is not None else ""

    def good(self, key: str | int) -> bool:
        """True if it was failing before."""
        before, self.of[key] = self.why(key), _Record(clock.seconds())
        return bool(before)

    def missed(self, key: str | int, why: str) -> bool:
        """True if it is failing now, and was not before."""
        now = clock.seconds()
        record = self.of.setdefault(key, _Record(now))
        record.missed += 1
        before, silent = record.failing, now - record.good
        if record.missed >= ROUNDS and silent >= SECONDS:
            record.failing = why
        return bool(record.failing) and not before


class DataPath:
    """One round after the other, over what is up; without a prover (nothing is parked) there is nothing to see."""

    def __init__(
        self, context: Context, switch: Switch, servers: list[Server], nfs: NfServers, prover: Prover | None
    ) -> None:
        self._context = context
        self._switch = switch
        self._servers = servers
        self._nfs = nfs
        self._prover = prover
        self._rounds = 0
        self._interval = context.config.polling.probes / SECOND
        self._over = SPREAD * min(self._interval, LONGEST)
        # They take the way of any packet that is parked, and a slow link hardly feels them.
        self._probes = least_of_each_way(context.config.bring_up.probes)
        self._counts: dict[tuple[str, int], _Count] = {}
        self._of_nfs, self._of_pairs = _Records(), _Records()
        self._doubted: dict[int, None] = {}  # in the order in which they are asked

    @property
    def pause(self) -> float:
        """Seconds between two calls of look(), so that a round begins each interval."""
        return self._interval - self._over

    async def look(self) -> None:
        """Refused if no probe can be sent, SwitchAway if the switch does not take where they go."""
        asked = [nf for nf in self._nfs.each if nf.part.up]
        self._of_nfs.keep(nf.config.name for nf in asked)
        pairs = [pair for server in self._servers for pair in server.pairs if self._is_up(pair)]
        self._of_pairs.keep(pairs)
        if self._prover is None or not self._switch.boot or not pairs:
            return
        self._rounds += 1
        for nf in asked:
            await self._ask(nf, _in_turn(pairs, MOST if nf is self._nfs.active else 1, self._rounds))

    def doubt(self, server: Server) -> None:
        """A queue pair of it went down: the others are asked next, as they may have the same fault."""
        self._doubted |= dict.fromkeys([pair for pair in server.pairs if self._is_up(pair)][:MOST])

    async def ask_doubted(self) -> None:
        """SwitchAway if the switch does not take where probes go."""
        self._doubted = {pair: None for pair in self._doubted if self._is_up(pair)}
        nf = self._nfs.active
        if self._doubted and self._prover is not None and self._probes and nf.part.up:
            for pair in await self._prover.poke(self._nfs.each.index(nf), list(self._doubted), self._probes[0]):
                self._doubted.pop(pair, None)

    def failing_nf(self, name: str) -> str:
        """Why, in words; empty: it is not."""
        return self._of_nfs.why(name)

    def failing_pair(self, pair: int) -> str:
        return self._of_pairs.why(pair)

    def counts(self) -> list[pb.ProbeCount]:
        return [pb.ProbeCount(nf=nf, queue_pair=pair, **vars(count)) for (nf, pair), count in self._counts.items()]

    # ---------------------------------------------------------------- one round

    async def _ask(self, nf: NfServer, pairs: list[int]) -> None:
        assert self._prover is not None
        run, probe = self._switch.boot, self._probes[self._rounds % len(self._probes)]
        over = self._over if nf is self._nfs.active else 0.0
        asked = await self._prover.through(self._nfs.each.index(nf), pairs, probe, over)
        took = {pair: ns for pair, ns in asked.items() if ns}
        lost = _in_turn([pair for pair in asked if pair not in took], DOUBTED, self._rounds)
        faults: dict[int, str] = {}
        for server in self._servers:
            own = [pair for pair in lost if pair in server.pairs]
            faults |= await server.faults(own, self._prover) if own else {}
        if run != self._switch.boot or not nf.part.up:
            return  # they were lost with it
        for pair in asked:
            count = self._counts.setdefault((nf.config.name, pair), _Count())
            count.sent += 1
            count.back += pair in took
            count.took = took.get(pair, count.took)
        self._judge(nf, took, [pair for pair in lost if self._is_up(pair)], faults)

    def _judge(self, nf: NfServer, took: dict[int, int], lost: list[int], faults: dict[int, str]) -> None:
        """Of a queue pair by which nothing comes back, nobody knows if the NF server would have answered."""
        for pair in [*took, *(pair for pair in lost if pair not in faults)]:
            if self._of_pairs.good(pair):
                self._tell(self._server_of(pair), f"probes come back by queue pair {pair} again")
        for pair in lost:
            if pair in faults:
                why = f"queue pair {pair} is failing: {faults[pair]}"
                if self._of_pairs.missed(pair, why):
                    self._warn(self._server_of(pair), why)
        if took:
            if self._of_nfs.good(nf.config.name):
                self._tell(nf, "probes come back again")
        elif any(pair not in faults for pair in lost):
            why = "of the probes that the switch sends it, none comes back; those that the controller answers do"
            if self._of_nfs.missed(nf.config.name, why):
                self._warn(nf, f"failing: {why}")

    def _tell(self, part: Server | NfServer, text: str) -> None:
        self._context.journal.info(part.config.name, text)

    def _warn(self, part: Server | NfServer, text: str) -> None:
        self._context.journal.warning(part.config.name, text)

    def _server_of(self, pair: int) -> Server:
        return self._servers[self._context.layout.server_of[pair]]

    def _is_up(self, pair: int) -> bool:
        return self._server_of(pair).status[pair].state == "up"


def least_of_each_way(probes: Iterable[pb.Probe]) -> list[pb.Probe]:
    found: dict[int, pb.Probe] = {}
    for probe in probes:
        if probe.way not in found or probe.length < found[probe.way].length:
            found[probe.way] = probe
    return list(found.values())


def _in_turn(pairs: list[int], most: int, turn: int) -> list[int]:
    """So many of them, others each time, until all have had their turn."""
    if len(pairs) <= most:
        return pairs
    first = turn * most % len(pairs)
    return [*pairs[first:], *pairs[:first]][:most]
