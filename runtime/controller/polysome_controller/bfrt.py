"""The driver of a Tofino switch: BfRt gRPC, by the client that the vendor's SDE brings.

A Tofino forgets its tables when its daemon ends, and has no number for its run. So what is filled is marked: an entry
of the stations' table with a MAC that no station has, which holds a random number, the run's. Without, the run is new.
"""

from __future__ import annotations

import asyncio
import importlib
import secrets
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from polysome_controller import control_pb2 as pb
from polysome_controller import program
from polysome_controller.bfrt_tables import PORTS_PER_PIPE_BITS, BfRtTables
from polysome_controller.driver import Counts, Identity, PortReading, PortSetting, SwitchDriver, Traffic, Update
from polysome_controller.errors import ConfigurationError, EnvironmentProblem, Refused, Unreachable
from polysome_controller.layout import SECOND, SOFT_MODELS

MARK = 0x0370_0000_0000  # a group's MAC: frames to it are nobody's; the run's number follows
FAMILIES = {"tofino": "tf1", "tofino2": "tf2"}
CLIENT_ID = 70
PATIENCE = 30  # times the deadline: a fill is many requests
T = TypeVar("T")


def load_client() -> Any:
    """EnvironmentProblem if the SDE is not on the path."""
    try:
        return importlib.import_module("bfrt_grpc.client")
    except ImportError as error:
        raise EnvironmentProblem(
            f"the client of the switch's SDE is missing ({error}): run the controller on the switch, and put "
            "$SDE_INSTALL/lib/python3.X/site-packages/tofino and .../tofino/bfrt_grpc on PYTHONPATH"
        ) from error


class BfRtSwitch(SwitchDriver):
    """All calls of the client are made by one thread, in order."""

    def __init__(self, config: pb.ControllerConfig) -> None:
        if config.model not in FAMILIES:
            known = ", ".join((*SOFT_MODELS, *FAMILIES))
            raise ConfigurationError(f"there is no driver for a switch of model `{config.model}`; there are {known}")
        self._client = load_client()
        self._config = config
        self._deadline = config.polling.deadline / SECOND
        self._thread = ThreadPoolExecutor(1, "bfrt")
        self._interface: Any = None
        self._tables: BfRtTables | None = None
        self._new_run = 0  # number for a run that is not marked yet
        self._front = [p for t in config.traffic for p in t.ports]
        self._front += [s.port for s in config.nf_servers] + [s.port for s in config.rdma_servers]

    async def describe(self) -> Identity:
        return await self._call(self._describe)

    async def write(self, boot: int, updates: Sequence[Update]) -> None:
        await self._call(lambda: self._write(boot, updates), PATIENCE)

    async def read_register(self, register: str, first: int, count: int) -> tuple[int, ...]:
        return await self._call(lambda: self._connected().registers(register, first, count))

    async def read_counters(self, counter: str, first: int, count: int) -> Counts:
        return await self._call(lambda: self._connected().counters(counter, first, count), PATIENCE)

    async def read_ports(self) -> PortReading:
        return await self._call(lambda: PortReading(tuple(self._connected().port(port) for port in self._front)))

    async def read_traffic(self, ports: Sequence[int]) -> Traffic:
        return await self._call(lambda: self._connected().read_traffic(ports, self._front), PATIENCE)

    async def read_settings(self) -> tuple[PortSetting, ...]:
        """Nothing: no table of the SDE's says whether a port appends ICRC; what proves queue pairs finds out."""
        return ()

    async def close(self) -> None:
        future = asyncio.get_running_loop().run_in_executor(self._thread, self._disconnect)
        await asyncio.wait({future}, timeout=self._deadline)
        self._thread.shutdown(wait=False)

    async def _call(self, work: Callable[[], T], patience: float = 1) -> T:
        """In the client's thread. What the switch refuses is Refused, all else that goes wrong Unreachable."""
        future = asyncio.get_running_loop().run_in_executor(self._thread, self._translated, work)
        done, _ = await asyncio.wait({future}, timeout=patience * self._deadline)
        if not done:
            raise Unreachable("BfRt: no answer in time")
        return future.result()

    def _translated(self, work: Callable[[], T]) -> T:
        try:
            return work()
        except (Refused, Unreachable):
            raise
        except (self._client.BfruntimeReadWriteRpcException, ValueError, KeyError) as error:
            raise Refused(f"BfRt: {type(error).__name__}: {error}") from error
        except Exception as error:  # the client's own and gRPC's: the connection is made anew
            self._disconnect()
            raise Unreachable(f"BfRt: {type(error).__name__}: {error}") from error

    # ---------------------------------------------------------------- in the client's thread

    def _connected(self) -> BfRtTables:
        if self._tables is None:
            config = self._config
            self._interface = self._client.ClientInterface(config.switch, client_id=CLIENT_ID, device_id=0)
            self._interface.bind_pipeline_config(config.program)
            info = self._interface.bfrt_info_get(config.program)
            if info.p4_name_get() != config.program:
                raise Refused(f"it runs the program `{info.p4_name_get()}`, not `{config.program}`")
            pipe = config.traffic[0].ports[0] >> PORTS_PER_PIPE_BITS
            self._tables = BfRtTables(self._client, info, FAMILIES[config.model], pipe)
        return self._tables

    def _disconnect(self) -> None:
        interface, self._interface, self._tables = self._interface, None, None
        if interface is not None:
            interface.tear_down_stream()

    def _mark(self) -> int:
        """The marked run; 0: there is none."""
        macs = self._connected().keys("Ingress.stations", "hdr.station.dst")
        return next((mac - MARK for mac in macs if mac >> 32 == MARK >> 32), 0)

    def _describe(self) -> Identity:
        run = self._mark()
        if run:
            return Identity(run, "")
        self._new_run = self._new_run or secrets.randbits(31) + 1
        return Identity(self._new_run, "")

    def _write(self, boot: int, updates: Sequence[Update]) -> None:
        """A run is marked after it is filled."""
        run = self._mark()
        if boot not in (run, self._new_run):
            raise Refused("another run of the switch is meant")
        self._connected().write(updates)
        if self._mark() == 0:
            self._connected().write([program.station(MARK + boot, 0)])
            self._new_run = 0
