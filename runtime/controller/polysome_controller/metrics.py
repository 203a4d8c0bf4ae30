"""Prometheus metrics: the status, as numbers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from polysome_controller import control_pb2 as pb
from polysome_controller.errors import EnvironmentProblem
from polysome_controller.journal import Journal

PATIENCE = 2.0  # seconds that a scrape waits for the controller


class Metrics(Collector):
    """Served at "ADDRESS:PORT" by a thread of its own, which asks the controller's loop for a status."""

    def __init__(self, address: str, status: Callable[[], pb.ControllerStatus], journal: Journal) -> None:
        self._host, _, port = address.rpartition(":")
        self._port = int(port)
        self._status = status
        self._journal = journal
        self._loop: asyncio.AbstractEventLoop | None = None
        self._server: Any = None

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        """EnvironmentProblem if the address cannot be had."""
        self._loop = loop
        registry = CollectorRegistry()
        registry.register(self)
        try:
            self._server, _ = start_http_server(self._port, self._host.strip("[]"), registry)
        except OSError as error:
            raise EnvironmentProblem(f"cannot serve metrics at {self._host}:{self._port}: {error.strerror}") from error

    def stop(self) -> None:
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()

    def describe(self) -> list[Metric]:
        return []  # so that registering asks for nothing

    def collect(self) -> Iterator[Metric]:
        assert self._loop is not None

        async def ask() -> pb.ControllerStatus:
            return self._status()

        status = asyncio.run_coroutine_threadsafe(ask(), self._loop).result(PATIENCE)
        return families(status, dict(self._journal.refused))


def families(status: pb.ControllerStatus, refused: dict[str, int]) -> Iterator[Metric]:
    up = GaugeMetricFamily(
        "polysome_part_up", "1 if the part answers and serves, or stands ready", labels=["part", "role"]
    )
    for part in status.parts:
        up.add_metric([part.name, part.role], float(part.state in ("up", "standby", "drained")))
    yield up
    yield from _servers(status)
    yield from _queue_pairs(status)
    yield from _links(status)
    for name, text, counters in (
        ("polysome_drops", "Packets dropped, by reason", status.drops),
        ("polysome_events", "Packets by what the switch made of them", status.events),
    ):
        family = CounterMetricFamily(name, text, labels=["kind"])
        for counter in counters:
            family.add_metric([counter.name], counter.value)
        yield family
    refusals = CounterMetricFamily("polysome_refused", "Registrations and requests that were refused", labels=["part"])
    for name, count in refused.items():
        refusals.add_metric([name], count)
    yield refusals


def _servers(status: pb.ControllerStatus) -> Iterator[Metric]:
    for name, text, field in (
        ("polysome_server_buckets", "Buckets that a server has now", "buckets"),
        ("polysome_server_own_buckets", "Buckets that a server has when nothing is wrong", "own_buckets"),
        ("polysome_server_payload_bps", "Parked packets on a server's link, the busier direction", "payload"),
        ("polysome_server_own_bps", "A server's own work on its link", "own"),
        ("polysome_server_allowed_bps", "What parked packets may take of a server's link", "allowed"),
    ):
        family = GaugeMetricFamily(name, text, labels=["server"])
        for server in status.servers:
            family.add_metric([server.name], getattr(server, field))
        yield family


def _queue_pairs(status: pb.ControllerStatus) -> Iterator[Metric]:
    states = GaugeMetricFamily("polysome_queue_pairs", "Queue pairs by state", labels=["server", "state"])
    restores = CounterMetricFamily("polysome_restores", "Queue pairs brought up again", labels=["server"])
    for server in sorted({pair.server for pair in status.queue_pairs}):
        own = [pair for pair in status.queue_pairs if pair.server == server]
        for state in ("up", "draining", "waiting"):
            states.add_metric([server, state], sum(pair.state == state for pair in own))
        restores.add_metric([server], sum(pair.restores for pair in own))
    yield states
    yield restores


def _links(status: pb.ControllerStatus) -> Iterator[Metric]:
    for name in ("frames_in", "bytes_in", "frames_out", "bytes_out", "dropped"):
        family = CounterMetricFamily(f"polysome_link_{name}", "Of a switch port", labels=["link", "port"])
        for link in status.links:
            family.add_metric([link.name, str(link.port)], getattr(link, name))
        yield family
