"""RDMA servers: their agents' registrations, and the restoring of their queue pairs (DESIGN 6, rules 2 and 5)."""

from __future__ import annotations

import asyncio
import math
import secrets
from collections.abc import Iterable
from dataclasses import dataclass

from polysome_controller import clock, program
from polysome_controller import control_pb2 as pb
from polysome_controller.context import Context
from polysome_controller.driver import Update
from polysome_controller.errors import NotProved, PartError, Refused
from polysome_controller.evidence import Counted, explain, rose
from polysome_controller.layout import SECOND, mac_number, number_of
from polysome_controller.parts import Part, Pulse
from polysome_controller.proving import Prover
from polysome_controller.state import PartState
from polysome_controller.switch import Switch, SwitchAway

FIRST_RETRY = 0.05  # seconds; each next one waits twice as long, up to the health interval
LONG_ABSENCE = 1.0  # seconds: no switch gives 2^30 numbers in less, so before, no old cell can pass for a new one
CLEARED_PER_SECOND = 1 << 28  # bytes, at least, when an agent fills its region


# Events of the switch's program that say what became of a probe.
TELLING = ("ingress.parked", "ingress.foreign_cell", "egress.short", "egress.long")


@dataclass(frozen=True)
class _Counts:
    switch: dict[int, dict[str, int]]
    server: dict[str, int]


@dataclass
class PairStatus:
    """`state`: "up", "draining", "proving", "waiting"; `been_up`: ever, also when an earlier process had it;
    `restores`: how often it came up again; `seen_up`: when it was up last (seconds), as far as this process knows."""

    state: str = "waiting"
    been_up: bool = False
    restores: int = 0
    reason: str = ""
    seen_up: float = -math.inf


def check_registration(
    registration: pb.Registration, challenge: bytes, server: pb.RdmaServer, known: PartState, switch_mac: int
) -> None:
    """Refused, and why, unless it is this server's, an answer to this request, and good for the program."""
    if registration.challenge != challenge:
        raise Refused("its registration is not an answer to this request: the challenge is another one")
    if registration.server != server.name:
        raise Refused(f"its registration is of `{registration.server}`")
    if not registration.boot or registration.boot in known.earlier:
        raise Refused(f"its registration is of an earlier run, {registration.boot:x}")
    if registration.region < server.region:
        raise Refused(f"its region has {registration.region} bytes, the program uses {server.region}")
    if registration.mtu < server.mtu:
        raise Refused(f"its path MTU is {registration.mtu}, the program needs {server.mtu}")
    if [q.pair for q in registration.queue_pairs][: server.queue_pairs] != list(range(server.queue_pairs)):
        raise Refused(f"it has {len(registration.queue_pairs)} queue pairs, not {server.queue_pairs}")
    mac = int.from_bytes(registration.mac, "big")
    if len(registration.mac) != 6 or not mac or mac == switch_mac or registration.mac[0] & 1:
        raise Refused(f"{registration.mac.hex(':') or 'nothing'} is no MAC address that it may have")
    if len(registration.ip) != 4:
        raise Refused("its address is not IPv4")


class Server:
    """One RDMA server. All its steps are done by one task, `watch`; others only say what is to be done."""

    def __init__(self, context: Context, switch: Switch, index: int, prover: Prover | None) -> None:
        self.config = context.config.rdma_servers[index]
        self.part = Part(self.config.name, "rdma", self.config.address, context.journal, context.state.ups)
        self.health = pb.AgentHealth()
        self.pulse = Pulse()
        self.pairs = context.layout.servers[index]  # by their number at the agent
        self.status = {pair: PairStatus() for pair in self.pairs}
        self.downs = 0  # how often a queue pair went down
        self.rounds = 0  # of restoring: what was read before the last one is out of date
        self._context = context
        self._switch = switch
        self._peer = context.connect("Agent", self.config.address, self.config.name)
        self._known = context.state.agents.setdefault(self.config.name, PartState())
        self._registration: pb.Registration | None = None
        self._clear = False
        self._retry = FIRST_RETRY
        self._prover = prover
        self._unproved = ""  # why a queue pair is not, at the last attempt
        for pair in self.pairs:
            numbers = context.state.pairs[pair].numbers
            self.status[pair].been_up = bool(numbers)
            if len(numbers) == 1:  # two: the last process ended while it restored it
                self.status[pair].state = "up"

    @property
    def waiting(self) -> list[int]:
        return [pair for pair in self.pairs if self.status[pair].state != "up"]

    @property
    def serves(self) -> bool:
        return len(self.waiting) < len(self.pairs)

    def went_down(self, pairs: Iterable[int], reason: str) -> bool:
        """Those that were up are to be restored; said once. Whether there are such."""
        gone = [pair for pair in pairs if self.status[pair].state == "up"]
        for pair in gone:
            self.status[pair].state, self.status[pair].reason = "waiting", reason
        if gone:
            self._context.journal.warning(self.config.name, f"{_ranges(gone)} down: {reason}")
            self.pulse.wake()
        self.downs += len(gone)
        return bool(gone)

    def seen_up(self, pair: int) -> None:
        self.status[pair].seen_up = clock.seconds()

    def switch_filled(self) -> None:
        """Nothing of the server is in the switch, whose numbers begin anew: its memory must be cleared."""
        self._clear = True
        for pair in self.pairs:
            self.status[pair].state, self.status[pair].reason = "waiting", "the switch was filled"

    async def watch(self) -> None:
        while True:
            failed = False
            try:
                await self._look()
                if self._has_no_link() and self._switch.boot:
                    await self._take_down_all()
                elif self.waiting and self._switch.boot:
                    await self._restore(self.waiting)
                elif self._registration is not None and self._switch.boot:
                    await self._announce(self._registration)
            except SwitchAway:
                failed = True
            except PartError as error:
                failed = True
                if isinstance(error, Refused):
                    self._registration = None  # perhaps it is another run by now
                if isinstance(error, NotProved):
                    self._unproved = str(error)
                    self._tell(self._unproved)
                else:
                    self.part.failed(error, self._context.misses)
            pause = self._retry if failed and self.waiting else self._context.health
            self._retry = min(2 * self._retry, self._context.health) if failed else FIRST_RETRY
            await self.pulse.wait(pause)

    async def close(self) -> None:
        await self._peer.close()

    async def _look(self) -> None:
        """Is the agent there, in the same run, with all queue pairs as they were made?"""
        if self._registration is not None:
            self.health = await self._peer.call("Health", pb.Nothing())
            if self.health.boot == self._registration.boot:
                self._compare(self.health.queue_pairs)
                self._tell_health()
                return
        await self._register()

    async def _register(self) -> None:
        challenge = secrets.token_bytes(16)
        answer: pb.Registration = await self._peer.call("Describe", pb.DescribeRequest(challenge=challenge))
        switch_mac = mac_number(self._context.config.switch_mac)
        check_registration(answer, challenge, self.config, self._known, switch_mac)
        self._registration = answer
        if answer.boot != self._known.boot:
            self._known.replace(answer.boot)
            self._context.store.save()
            self.went_down(self.pairs, f"the agent began anew, run {answer.boot:x}")
        self._compare(answer.queue_pairs)
        self._tell("")

    def _compare(self, found: Iterable[pb.QueuePair]) -> None:
        """Queue pairs that are not as the switch knows them are of no use."""
        for queue_pair in found:
            pair = self.pairs[queue_pair.pair] if queue_pair.pair < len(self.pairs) else None
            if pair is None or self.status[pair].state != "up":
                continue
            numbers = self._context.state.pairs[pair].numbers
            if not queue_pair.ready or numbers != [queue_pair.peer]:
                why = "not ready at the agent" if numbers == [queue_pair.peer] else "reset by somebody else"
                self.went_down([pair], why)

    def _tell_health(self) -> None:
        trouble = self.health.trouble or ("" if self.health.link else "its port has no link")
        if trouble and trouble != self.part.detail:
            self._context.journal.warning(self.config.name, trouble)
        self._tell(trouble)

    def _tell(self, trouble: str) -> None:
        """It is up, if any of its queue pairs is, or none was found to be of no use."""
        assert self._registration is not None
        trouble = trouble or self._unproved
        if self._unproved and not self.serves:
            self.part.refused(trouble)
        else:
            self.part.joined(
                self._registration.boot, trouble or f"{self._registration.device}, {self._registration.region} bytes"
            )

    def _has_no_link(self) -> bool:
        """What the agent itself says: the switch would find out again and again, each time by what it loses."""
        return self._registration is not None and self.health.boot == self._registration.boot and not self.health.link

    async def _take_down_all(self) -> None:
        """The backups carry, until the link is there again."""
        gone = [pair for pair in self.pairs if self.status[pair].state == "up"]
        if gone:
            run = self._switch.boot
            await self._switch.write([update for pair in gone for update in program.up(pair, False)], run)
            self.went_down(gone, "its port has no link")

    async def _announce(self, registration: pb.Registration) -> None:
        """A server without queue pairs, or one that was filled out of the switch: its own frames pass all the same."""
        mac = int.from_bytes(registration.mac, "big")
        if mac == self._known.mac:
            return
        updates: list[Update] = [program.no_station(self._known.mac)] if self._known.mac else []
        await self._switch.write([*updates, program.station(mac, self.config.port)])
        self._known.mac = mac
        self._context.store.save()

    # ---------------------------------------------------------------- restoring

    async def _restore(self, pairs: list[int]) -> None:
        """Down and without history, in one step; wait; new numbers at the agent; entries; proofs; up.

        Whatever fails, the queue pairs stay down, and all is done again from the first step. NotProved if those that
        were proved are up, and others are not."""
        assert self._registration is not None
        rows, run = self._context.state.pairs, self._switch.boot
        down: list[Update] = []
        for pair in pairs:
            self.status[pair].state = "draining"
            down += [*program.up(pair, False), *program.no_history(pair)]
        await self._switch.write(down, run)
        await asyncio.sleep(self._context.config.longest_queueing / SECOND)
        await self._clear_memory(pairs)
        made = await self._reset_all(pairs)
        if self._switch.boot != run:  # it was filled meanwhile, and the numbers are those of no entry
            raise SwitchAway("the switch has begun anew")
        await self._switch.write(self._entries(made), run)
        self._known.mac = int.from_bytes(self._registration.mac, "big")
        faults = await self._prove(pairs)
        good = [pair for pair in pairs if pair not in faults]
        await self._switch.write([update for pair in good for update in program.up(pair, True)], run)
        self.rounds += 1
        for pair in pairs:
            status, numbers = self.status[pair], rows[pair].numbers[-1:]
            if pair in faults:
                status.state, status.reason = "waiting", faults[pair]
                rows[pair].numbers = 2 * numbers  # of no process that comes later is it up
                continue
            rows[pair].numbers = numbers
            status.restores += 1 if status.been_up else 0
            status.state, status.been_up = "up", True
            self.seen_up(pair)
        self._context.store.save()
        if good:
            self._context.journal.info(self.config.name, f"{_ranges(good)} up")
        if faults:
            raise NotProved(next(iter(faults.values())))
        self._unproved = ""
        self._tell("")

    # ---------------------------------------------------------------- proving

    async def _prove(self, pairs: list[int]) -> dict[int, str]:
        """Test packets through each of them, with all that it needs in place but the traffic (rule 14); why not."""
        if self._prover is None:
            return {}
        began = clock.seconds()
        for pair in pairs:
            self.status[pair].state = "proving"
        faults = await self.faults(pairs, self._prover)
        if not faults:
            took = clock.seconds() - began
            self._context.journal.info(self.config.name, f"{_ranges(pairs)} proved in {took:.2f} s")
        return {pair: f"queue pair {pair} is not proved: {why}" for pair, why in faults.items()}

    async def faults(self, pairs: list[int], prover: Prover) -> dict[int, str]:
        """Of those by which test packets do not come back as they were sent: what was missing, in words."""
        before = await self._counted(pairs)
        faults = await prover.prove(pairs)
        if not faults:
            return {}
        after, bring_up = await self._counted(list(faults)), self._context.config.bring_up
        server = rose(before.server, after.server)
        return {
            pair: explain(
                *(fault, self.config, bring_up),
                Counted(rose(before.switch.get(pair, {}), after.switch.get(pair, {})), server),
            )
            for pair, fault in faults.items()
        }

    async def _counted(self, pairs: list[int]) -> _Counts:
        """What the switch has counted of queue pairs, and the agent of all."""
        config, driver = self._context.config, self._switch.driver
        switch: dict[int, dict[str, int]] = {pair: {} for pair in pairs}
        kinds = [("ingress", program.INGRESS_EVENTS, config.ingress_events)]
        kinds.append(("egress", program.EGRESS_EVENTS, config.egress_events))
        for gress, counter, names in kinds:
            for event, name in enumerate(names):
                if f"{gress}.{name}" not in TELLING:
                    continue
                first = (event << config.queue_pair_bits) + self.pairs[0]
                found = (await driver.read_counters(counter, first, len(self.pairs))).packets
                for pair in pairs:
                    switch[pair][f"{gress}.{name}"] = found[self.pairs.index(pair)]
        health = await self._peer.call("Health", pb.Nothing())
        return _Counts(switch, {counter.name: counter.value for counter in health.counters})

    async def _clear_memory(self, pairs: list[int]) -> None:
        """What lies there must not pass for new: the switch counts anew, or has counted round meanwhile (rule 2)."""
        assert self._registration is not None
        if len(pairs) == len(self.pairs):
            absent = clock.seconds() - max(self.status[pair].seen_up for pair in pairs)
            self._clear = self._clear or absent > LONG_ABSENCE
        if self._clear:
            self._clear = False  # before: the switch may begin anew meanwhile, and want it again
            try:
                patience = self._context.deadline + self._registration.region / CLEARED_PER_SECOND
                await self._peer.change("Clear", pb.ClearRequest(boot=self._registration.boot), patience)
            except PartError:
                self._clear = True
                raise

    async def _reset_all(self, pairs: list[int]) -> dict[int, pb.QueuePair]:
        """New numbers of both sides, for the switch's last of each pair's."""
        rows, bits = self._context.state.pairs, self._context.config.queue_pair_bits
        numbers = {}
        for pair in pairs:
            rows[pair].generation += 1
            numbers[pair] = number_of(rows[pair].generation, pair, bits)
            rows[pair].numbers.append(numbers[pair])
        self._context.store.save()  # before they are used: never given twice, and taken out if this process ends here
        try:
            return {pair: await self._reset(pair, number) for pair, number in numbers.items()}
        except PartError:
            for pair, number in numbers.items():  # no entry was made of them
                rows[pair].numbers = [other for other in rows[pair].numbers if other != number]
            raise

    async def _reset(self, pair: int, number: int) -> pb.QueuePair:
        assert self._registration is not None
        own = self.pairs.index(pair)
        request = pb.ResetRequest(boot=self._registration.boot, pair=own, peer=number)
        made: pb.QueuePair = await self._peer.change("Reset", request)
        if (
            made.pair != own
            or made.peer != number
            or not made.ready
            or not 2 <= made.number < 1 << 24
            or made.psn >> 24
        ):
            raise Refused(f"queue pair {own} was not made ready: {made.number}, peer {made.peer}, ready {made.ready}")
        return made

    def _entries(self, made: dict[int, pb.QueuePair]) -> list[Update]:
        registration, port = self._registration, self.config.port
        assert registration is not None
        mac, ip = int.from_bytes(registration.mac, "big"), int.from_bytes(registration.ip, "big")
        updates: list[Update] = []
        if self._known.mac and self._known.mac != mac:
            updates.append(program.no_station(self._known.mac))
        updates += [program.station(mac, port), program.server(port, mac, ip, registration.rkey)]
        for pair, queue_pair in made.items():
            numbers = self._context.state.pairs[pair].numbers
            updates += [program.no_answers(port, old) for old in numbers[:-1]]
            updates += [program.answered(port, numbers[-1], pair), program.remote(pair, queue_pair.number)]
            updates += [*program.next_psn(pair, queue_pair.psn), *program.no_history(pair)]
        return updates


def _ranges(pairs: list[int]) -> str:
    """ "queue pairs 3 to 7, 9 are"."""
    runs: list[list[int]] = []
    for pair in pairs:
        if runs and runs[-1][-1] == pair - 1:
            runs[-1].append(pair)
        else:
            runs.append([pair])
    named = ", ".join(f"{run[0]} to {run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)
    return f"queue pair {named} is" if len(pairs) == 1 else f"queue pairs {named} are"
