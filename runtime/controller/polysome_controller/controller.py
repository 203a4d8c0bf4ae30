"""The controller as a whole: its tasks, and what it says of itself."""

from __future__ import annotations

import asyncio
import fcntl
import hashlib
import os
import time
from collections import Counter
from pathlib import Path

from polysome_controller import control_pb2 as pb
from polysome_controller import program
from polysome_controller.certificates import CertificateWatch
from polysome_controller.configure import Operations
from polysome_controller.context import Context, Fixed
from polysome_controller.data_path import DataPath
from polysome_controller.driver import SwitchDriver
from polysome_controller.errors import ConfigurationError, EnvironmentProblem
from polysome_controller.events import EventWatch
from polysome_controller.journal import Journal
from polysome_controller.layout import SECOND, SOFT_MODELS
from polysome_controller.load import LoadMonitor
from polysome_controller.metrics import Metrics
from polysome_controller.nfs import NfServers
from polysome_controller.pairs import PairWatch
from polysome_controller.peer import Peer
from polysome_controller.proving import Prover
from polysome_controller.rpc import GrpcPeer, Leases
from polysome_controller.servers import Server
from polysome_controller.service import Service
from polysome_controller.soft_switch import SoftSwitch
from polysome_controller.state import Store
from polysome_controller.switch import Switch
from polysome_controller.tasks import Step, each, forever
from polysome_controller.trust import Trust
from polysome_protocol import Role


def driver_of(context: Context) -> SwitchDriver:
    """By the switch's model; EnvironmentProblem if what its driver needs is not there."""
    if context.config.model in SOFT_MODELS:
        return SoftSwitch(context.connect("SoftSwitch", context.config.switch, "switch"), context.deadline)
    from polysome_controller.bfrt import BfRtSwitch

    return BfRtSwitch(context.config)


class Controller:
    """Made and run in one event loop."""

    def __init__(self, config: pb.ControllerConfig) -> None:
        self._lock = _only_one(Path(config.state))
        journal, store = Journal(), Store(Path(config.state))
        self._trust, self._leases = Trust("controller", config.tls), Leases(store.state.epoch)
        self._peers: list[Peer] = []
        self._deadline = config.polling.deadline / SECOND
        self._context = context = Context(Fixed.of(config), store, journal, self._connect)
        self._began = time.monotonic_ns()
        self._switch = Switch(context, driver_of(context), self._switch_ready)
        self._prover = Prover(context, self._switch) if config.bring_up.probes else None
        self._servers = [Server(context, self._switch, i, self._prover) for i in range(len(config.rdma_servers))]
        self._nfs = NfServers(context, self._switch)
        self._data_path = DataPath(context, self._switch, self._servers, self._nfs, self._prover)
        self._load = LoadMonitor(context, self._switch, self._servers)
        self._pairs = PairWatch(context, self._switch, self._servers, self._data_path.doubt)
        self._events = EventWatch(context, self._switch)
        self._certificates = CertificateWatch(journal, self._trust, self._peers)
        operations = Operations(context, self._switch, self._nfs)
        self._service = Service(context, self._trust, operations, self._nfs, self.status)
        self._metrics = Metrics(config.metrics, self.status, journal) if config.metrics else None
        self._take_first_config()
        if config.sweep and not any(port.role == Role.generator for port in config.fixed_ports):
            journal.warning("switch", "no port is the packet generator's: silent queue pairs are not found")
        journal.info(
            "controller", f"epoch {store.state.epoch}; {store.trouble or 'state of the run before taken over'}"
        )

    def _connect(self, service: str, address: str, name: str) -> Peer:
        made = GrpcPeer(service, address, name, self._trust, self._leases, self._deadline)
        self._peers.append(made)
        return made

    async def run(self, stop: asyncio.Event) -> None:
        """Until told to stop; EnvironmentProblem if an address cannot be had, or the state cannot be kept any more."""
        tasks: list[asyncio.Task[None]] = []
        try:
            await self._service.start()
            if self._metrics is not None:
                await self._metrics.start()
            stopping = asyncio.create_task(self._until(stop))
            tasks = [stopping, *self._start_tasks()]
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()  # all but the first end by a fault only
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self._close()

    @staticmethod
    async def _until(stop: asyncio.Event) -> None:
        await stop.wait()

    def _start_tasks(self) -> list[asyncio.Task[None]]:
        polling, journal = self._context.config.polling, self._context.journal
        periodic: list[tuple[Step, Step]] = [
            (self._look_at_pairs, self._pairs.pause),
            (self._nfs.choose, each(min(polling.queue_pairs, polling.health) / SECOND)),
            (self._load.look, each(polling.load / SECOND)),
            (self._events.look, each(polling.health / SECOND)),
            (self._certificates.look, each(polling.health / SECOND)),
            (self._data_path.look, each(self._data_path.pause)),
        ]
        watches = [self._switch.watch(), *(s.watch() for s in self._servers), *(n.watch() for n in self._nfs.each)]
        tasks = [asyncio.create_task(watch) for watch in watches]
        return tasks + [asyncio.create_task(forever(step, pause, journal)) for step, pause in periodic]

    async def _close(self) -> None:
        await self._service.stop()
        if self._metrics is not None:
            self._metrics.stop()
        for nf in self._nfs.each:
            await nf.close()
        await self._switch.driver.close()
        for server in self._servers:
            await server.close()
        if self._prover is not None:
            self._prover.close()
        self._context.store.save()
        os.close(self._lock)

    def _switch_ready(self, filled: bool) -> None:
        """It was filled, or taken over: who waited for it goes on."""
        for server in self._servers:
            if filled:
                server.switch_filled()
            server.pulse.wake()
        for nf in self._nfs.each:
            nf.pulse.wake()

    async def _look_at_pairs(self) -> None:
        await self._pairs.look()
        await self._data_path.ask_doubted()

    def _take_first_config(self) -> None:
        """The config that the deployment came with is committed, unless an operator has committed another one since."""
        path, store = self._context.config.config, self._context.store
        if not path:
            return
        try:
            config = Path(path).read_bytes()
        except OSError as error:
            raise ConfigurationError(f"`config`: {path}: {error.strerror}") from error
        version = hashlib.sha256(config).hexdigest()
        if version != store.state.first or store.config() is None:
            store.state.first = version
            store.commit(version, config)

    # ---------------------------------------------------------------- status

    def status(self) -> pb.ControllerStatus:
        context = self._context
        return pb.ControllerStatus(
            nf=context.config.nf,
            version=context.state.version,
            epoch=self._leases.epoch,
            uptime=time.monotonic_ns() - self._began,
            active=context.state.active,
            parts=[self._switch.part.message(), *(self._server_part(s) for s in self._servers), *self._nf_parts()],
            servers=self._load.servers(),
            queue_pairs=[self._pair(server, pair) for server in self._servers for pair in server.pairs],
            links=self._load.links(),
            drops=self._drops(),
            events=self._events.messages(),
            happened=context.journal.latest(),
            probes=self._data_path.counts(),
            certificates=self._certificates.messages(),
        )

    def _pair(self, server: Server, pair: int) -> pb.QueuePairState:
        status, failing = server.status[pair], self._data_path.failing_pair(pair)
        return pb.QueuePairState(
            index=pair,
            server=server.config.name,
            number=(self._context.state.pairs[pair].numbers or [0])[-1],
            state="failing" if failing else status.state,
            restores=status.restores,
            reason=failing or status.reason,
        )

    def _server_part(self, server: Server) -> pb.Part:
        """It is up as long as one of its queue pairs is; its detail says why one fails."""
        part = server.part.message()
        failing = next(filter(None, map(self._data_path.failing_pair, server.pairs)), "")
        part.detail = failing or part.detail
        return part

    def _nf_parts(self) -> list[pb.Part]:
        parts = []
        for nf in self._nfs.each:
            part = nf.part.message()
            if nf.part.up and nf.drained:
                part.state = "drained"
            elif nf.part.up and nf is not self._nfs.active:
                part.state = "standby"
            failing = self._data_path.failing_nf(nf.config.name)
            if failing:
                part.state, part.detail = "failing", failing
            parts.append(part)
        return parts

    def _drops(self) -> list[pb.Counter]:
        drops: Counter[str] = Counter()
        for nf in self._nfs.each:
            drops.update(nf.drops)
        for name, value in self._load.drops.items():
            if not name.endswith(program.ENDED):
                drops[f"switch: {name}"] += value
        for name in program.LOST:
            if self._events.totals.get(name):
                drops[f"switch: {name}"] = self._events.totals[name]
        return [pb.Counter(name=name, value=value) for name, value in drops.items()]


def _only_one(folder: Path) -> int:
    """A lock on the state folder, held as long as the process lives; EnvironmentProblem if another one has it."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise EnvironmentProblem(f"another controller runs with the state folder {folder}") from error
    except OSError as error:
        raise EnvironmentProblem(f"the state folder {folder} cannot be used: {error.strerror}") from error
    return file
