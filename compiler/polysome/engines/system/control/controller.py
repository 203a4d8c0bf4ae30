"""The controller of a simulated system: its parts that fill the switch, and bring queue pairs up and back."""

from __future__ import annotations

import asyncio
import ctypes
from collections.abc import Callable, Coroutine
from functools import lru_cache
from typing import Any, Self

from google.protobuf import json_format

from polysome.backends.controller.config import Places, controller_config
from polysome.backends.nf_cpp.library import Arrival, Failed
from polysome.backends.system.abi import NEVER, Running, Stop
from polysome.backends.system.cables import DEEP
from polysome.backends.system.configure import Run
from polysome.backends.system.machines import machines_of
from polysome.backends.system.peers import Away
from polysome.engines.system.control.loop import VirtualLoop
from polysome.engines.system.control.parts import Nf
from polysome.engines.system.control.switch import NS, SimulatedSwitch
from polysome.plan.design import Design
from polysome_controller import control_pb2 as pb
from polysome_controller.context import Context, Fixed
from polysome_controller.journal import Journal
from polysome_controller.layout import check
from polysome_controller.nfs import NfServers
from polysome_controller.pairs import PairWatch
from polysome_controller.peer import Peer
from polysome_controller.servers import Server
from polysome_controller.state import Fleeting, State
from polysome_controller.switch import Switch
from polysome_controller.tasks import forever
from polysome_protocol import LAST_SEQ

POLL = 1_000_000  # ns between two looks for queue pairs that are down
BEFORE_WORK = 2 * NS  # ns before the next packet at which who brings something back looks again
NOTHING_TO_SEE = 1 << 62  # ns: of looks that would find what they found before
FIRST = LAST_SEQ - LAST_SEQ // 2  # so that the switch's first run, the only one, numbers packets from 1


class SimulatedController:
    """Its tasks run on the system's time, whenever nothing else happens.

    What is not here: the service for operators, the moving of load, probes (they need a socket of the machine's).
    """

    def __init__(self, design: Design, running: Running, run: Run) -> None:
        """All queue pairs are up when this returns, before the first packet. Failed if the controller refuses what it
        finds, Unsupported for sets of ports that the switch has no room for."""
        self.running, self._start = running, run.start
        self._waiting: tuple[ctypes.Array[Arrival], int] | None = None  # a batch, and how many of it have arrived
        self._ending = False
        self._at_work = False  # the system; before and after, only the controller's own time passes
        self.seconds = 0.0
        self._offset = 0.0  # of the controller's seconds at `start`
        self._stopped: BaseException | None = None
        # Where nothing goes wrong, agents need not be asked again and again.
        fixed = fixed_of(design, run.deep, bool(run.faults))
        state = State(epoch=1, numbered=FIRST)
        self._peers = _peers(design, running, fixed.config)
        context = Context(fixed, Fleeting(state), Journal(quiet=True), self._connect)
        self._driver = SimulatedSwitch(running.switch, design.site.switch.cell_bytes)
        self.switch = Switch(context, self._driver, self._switch_ready)
        self.servers = [Server(context, self.switch, i, None) for i in range(len(fixed.config.rdma_servers))]
        self._nfs = NfServers(context, self.switch)
        pairs = PairWatch(context, self.switch, self.servers)
        nf = self._nfs.active
        steps = [self.switch.watch(), nf.watch(), *(server.watch() for server in self.servers)]
        steps.append(forever(pairs.look, pairs.pause, context.journal))
        self._loop = VirtualLoop(self)  # after all that may refuse the design: whoever has it closes it
        self._tasks = [self._loop.create_task(self._watched(step)) for step in steps]
        enough = fixed.config.longest_queueing / NS + 1  # s: queues drain first
        try:
            self._run_until(lambda: nf.part.up and not any(s.waiting for s in self.servers), enough, context.journal)
        except BaseException:
            self.close()
            raise
        self._offset, self._at_work = self.seconds, True

    # ---------------------------------------------------------------- the run

    def arrive(self, batch: ctypes.Array[Arrival]) -> None:
        """Packets in order of time, and all that happens before each is done first."""
        self._waiting = batch, 0
        self._run()

    def finish(self) -> None:
        """What is on the way comes to its end."""
        self._ending = True
        self._run()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._at_work = False
        for task in self._tasks:
            task.cancel()
        try:
            self._loop.run_until_complete(asyncio.gather(*self._tasks, return_exceptions=True))
        finally:
            self._loop.close()

    @property
    def downs(self) -> int:
        """How often queue pairs went down, as the controller found."""
        return sum(server.downs for server in self.servers)

    @property
    def restores(self) -> int:
        """How often queue pairs came up again."""
        return sum(status.restores for server in self.servers for status in server.status.values())

    # ---------------------------------------------------------------- the world of the loop

    def go_on(self, seconds: float | None) -> None:
        """As a `World`. While the system is not at work, nothing but the controller's own time passes."""
        if not self._at_work:
            if seconds is None:
                raise Failed("the controller waits for something that does not come")
            self.seconds += seconds
            return
        until = NEVER if seconds is None else self._start + round((self.seconds - self._offset + seconds) * NS)
        stop = self._step(max(until, self._leap()))
        now = self.running.progress().now
        if stop is Stop.due and seconds is not None:
            now = max(now, until)
        self.seconds = max(self.seconds, self._offset + (now - self._start) / NS)
        if stop is Stop.seen:
            self._driver.wake()
        elif stop is Stop.done:
            self._loop.stop()

    def _step(self, until: int) -> Stop:
        if self._waiting is None:
            return self.running.finish_by(until) if self._ending else Stop.done
        batch, first = self._waiting
        stop = self.running.arrive(batch, first, until)
        self._waiting = (batch, first + self.running.progress().taken) if stop is not Stop.done else None
        return stop

    def _leap(self) -> int:
        """While nothing moves, nobody has to look: until when. Who would have looked by then does so once."""
        progress = self.running.progress()
        if not progress.resting or self._waiting is None:
            return 0
        batch, first = self._waiting
        margin = BEFORE_WORK if any(server.waiting for server in self.servers) else 0
        return int(min(progress.next, max(0, batch[first].time - margin)))

    # ---------------------------------------------------------------- the loop

    def _run(self) -> None:
        self._loop.run_forever()
        if self._stopped is not None:
            raise self._stopped

    def _run_until(self, there: Callable[[], bool], bring_up: float, journal: Journal) -> None:
        """For `bring_up` seconds at most; Failed if that is not enough."""
        patience = self.seconds + bring_up

        async def wait() -> None:
            while not there() and self._stopped is None and self.seconds < patience:
                await asyncio.sleep(0.001)

        self._loop.run_until_complete(wait())
        if self._stopped is not None:
            raise self._stopped
        if not there():
            why = next((event.text for event in reversed(journal.latest()) if event.severity == "warning"), "")
            raise Failed(f"the controller does not bring the system up: {why}")

    async def _watched(self, step: Coroutine[Any, Any, None]) -> None:
        try:
            await step
        except Exception as error:  # a fault of the controller ends the run, not one task of it
            self._stopped = error
            if self._at_work:  # who brings it up, or ends it, sees for himself, and waits for others, too
                self._loop.stop()

    def _switch_ready(self, filled: bool) -> None:
        for server in self.servers:
            if filled:
                server.switch_filled()
            server.pulse.wake()
        for nf in self._nfs.each:
            nf.pulse.wake()

    def _connect(self, service: str, address: str, name: str) -> Peer:
        return self._peers.get((service, name)) or Away(name)


def _peers(design: Design, running: Running, config: pb.ControllerConfig) -> dict[tuple[str, str], Peer]:
    found: dict[tuple[str, str], Peer] = {("Nf", design.site.nf_servers[0].name): Nf(design, config.nf_hash)}
    return found | machines_of(design.plan.architecture).peers(design, running.agents, config)


@lru_cache(maxsize=64)
def fixed_of(design: Design, deep: bool, faults: bool) -> Fixed:
    """`deep`: no queue of the switch ever overflows. Raises Unsupported for sets of ports that do not fit."""
    given = controller_config(design, Places("tls", "state", "admin", "config"))
    config = json_format.ParseDict(given, pb.ControllerConfig())
    check(config)
    config.polling.queue_pairs = POLL
    if not faults:
        config.polling.health = NOTHING_TO_SEE
    if deep:
        _deepen(config)
    return Fixed.of(config)


def _deepen(config: pb.ControllerConfig) -> None:
    for traffic in config.traffic:
        traffic.queue_bytes = DEEP
    for nf in config.nf_servers:
        nf.queue_bytes = DEEP
    for server in config.rdma_servers:
        server.queue_bytes = server.first_queue_bytes = DEEP
    for port in config.fixed_ports:
        port.queue_bytes = DEEP
    if config.HasField("bring_up"):
        config.bring_up.queue_bytes = DEEP
