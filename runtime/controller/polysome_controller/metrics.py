"""Prometheus metrics: the status, as numbers; HTTP/1.1, in the controller's own loop, one answer a connection."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from polysome_controller import control_pb2 as pb
from polysome_controller.errors import EnvironmentProblem
from polysome_controller.journal import Journal

PATIENCE = 5.0  # seconds until a request must be there, and its answer taken
MOST_HEAD = 8192  # bytes of a request
MOST = 64  # connections; one more, and the oldest ends


class Metrics(Collector):
    """Served at "ADDRESS:PORT". Whoever opens connections and asks nothing keeps nobody from an answer."""

    def __init__(self, address: str, status: Callable[[], pb.ControllerStatus], journal: Journal) -> None:
        self._host, _, port = address.rpartition(":")
        self._port = int(port)
        self._status = status
        self._journal = journal
        self._registry = CollectorRegistry()
        self._registry.register(self)
        self._server: asyncio.Server | None = None
        self._open: dict[asyncio.StreamWriter, None] = {}  # the oldest first

    async def start(self) -> None:
        """EnvironmentProblem if the address cannot be had."""
        try:
            self._server = await asyncio.start_server(
                self._answer, self._host.strip("[]"), self._port, limit=MOST_HEAD, reuse_port=False
            )
        except OSError as error:
            raise EnvironmentProblem(f"cannot serve metrics at {self._host}:{self._port}: {error.strerror}") from error

    def stop(self) -> None:
        if self._server is not None:
            self._server.close()
        for writer in list(self._open):
            writer.transport.abort()

    def describe(self) -> list[Metric]:
        return []  # so that registering asks for nothing

    def collect(self) -> Iterator[Metric]:
        return families(self._status(), dict(self._journal.refused))

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._open) >= MOST:
            next(iter(self._open)).transport.abort()
        self._open[writer] = None
        try:
            async with asyncio.timeout(PATIENCE):
                head = await reader.readuntil(b"\r\n\r\n")
                writer.write(self._response(head.decode("latin-1")))
                await writer.drain()
        except (TimeoutError, OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            writer.transport.abort()
        finally:
            self._open.pop(writer, None)
            writer.close()

    def _response(self, head: str) -> bytes:
        request, *lines = head.split("\r\n")
        method, _, rest = request.partition(" ")
        path = rest.partition(" ")[0].partition("?")[0]
        if method not in ("GET", "HEAD"):
            return _http("405 Method Not Allowed", "text/plain", b"")
        if path not in ("/", "/metrics"):
            return _http("404 Not Found", "text/plain", b"the metrics are at /metrics\n")
        accepts = [v.strip() for name, _, v in (line.partition(":") for line in lines) if name.lower() == "accept"]
        encode, kind = choose_encoder(accepts[0] if accepts else "")
        answer = _http("200 OK", kind, encode(self._registry))
        return answer if method == "GET" else answer[: answer.index(b"\r\n\r\n") + 4]


def _http(status: str, kind: str, body: bytes) -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    return head.encode("latin-1") + body


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
    yield from _probes(status)
    ends = GaugeMetricFamily("polysome_certificate_ends_seconds", "When a certificate ends, Unix time", labels=["name"])
    for certificate in status.certificates:
        ends.add_metric([certificate.name], certificate.ends / 1e9)
    yield ends
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
        for state in ("up", "draining", "proving", "waiting", "failing"):
            states.add_metric([server, state], sum(pair.state == state for pair in own))
        restores.add_metric([server], sum(pair.restores for pair in own))
    yield states
    yield restores


def _probes(status: pb.ControllerStatus) -> Iterator[Metric]:
    """Of all queue pairs together."""
    for name, text in (("sent", "Probes through an NF server"), ("back", "Probes that came back whole")):
        family = CounterMetricFamily(f"polysome_probes_{name}", text, labels=["nf"])
        for nf in sorted({count.nf for count in status.probes}):
            family.add_metric([nf], sum(getattr(count, name) for count in status.probes if count.nf == nf))
        yield family
    took = GaugeMetricFamily("polysome_probe_seconds", "What the slowest of the last probes took", labels=["nf"])
    for nf in sorted({count.nf for count in status.probes}):
        took.add_metric([nf], max(count.took for count in status.probes if count.nf == nf) / 1e9)
    yield took


def _links(status: pb.ControllerStatus) -> Iterator[Metric]:
    for name in ("frames_in", "bytes_in", "frames_out", "bytes_out", "dropped"):
        family = CounterMetricFamily(f"polysome_link_{name}", "Of a switch port", labels=["link", "port"])
        for link in status.links:
            family.add_metric([link.name, str(link.port)], getattr(link, name))
        yield family
