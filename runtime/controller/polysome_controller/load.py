"""What the links and servers carry, from the switch's counters; and the moving of buckets that follows from it."""

from __future__ import annotations

import time
from dataclasses import dataclass

from polysome_controller import control_pb2 as pb
from polysome_controller import program
from polysome_controller.balance import NOWHERE, Balance, Load, Policy, decide, start
from polysome_controller.context import Context
from polysome_controller.driver import PortCount, PortReading
from polysome_controller.layout import SECOND
from polysome_controller.servers import Server
from polysome_controller.switch import Switch, SwitchAway

WRAP = 1 << 64


@dataclass(frozen=True)
class Sample:
    time: float  # seconds
    run: int  # of the switch
    ports: dict[int, PortCount]
    requests: tuple[int, ...]  # bytes to each server that are ours, since the switch began; they wrap


@dataclass(frozen=True)
class Direction:
    """bit/s on one direction of a server's link."""

    payload: float
    own: float
    allowed: float

    @property
    def share(self) -> float:
        return self.payload / self.allowed if self.allowed > 0 else (1e9 if self.payload else 0.0)


def allowed_rate(spare: float, rate: float, headroom: float, own: float) -> float:
    """bit/s that payload may take: what is spare, and what own work leaves of the link."""
    return max(0.0, min(spare, headroom * rate - own))


class LoadMonitor:
    """One look each polling.load; without a switch there is nothing to see, and nothing moves."""

    def __init__(self, context: Context, switch: Switch, servers: list[Server]) -> None:
        self.directions: list[Direction] = [Direction(0, 0, 0)] * len(servers)
        self.reading = PortReading(())
        self.drops: dict[str, int] = {}  # of all runs of the switch
        self._context = context
        self._switch = switch
        self._servers = servers
        self._last: Sample | None = None
        self._rates: dict[int, tuple[float, float, float, float]] = {}
        back_off = context.config.back_off
        self._policy = Policy(back_off.high, back_off.low, back_off.step)
        homes = tuple(context.layout.home(b) for b in range(len(context.layout.buckets)))
        places = tuple(context.state.moved.get(b, home) for b, home in enumerate(homes))
        self.balance = Balance(homes, places, start(homes, len(servers)).ceilings)

    async def look(self) -> None:
        if not self._switch.boot:
            self._last = None
            return
        sample = await self._sample()
        last, self._last = self._last, sample
        if last is None or last.run != sample.run or sample.time <= last.time:
            return
        self._measure_links(last, sample)
        self.directions = [self._busier(i, last, sample) for i in range(len(self._servers))]
        loads = tuple(Load(d.payload, d.allowed, s.serves) for d, s in zip(self.directions, self._servers, strict=True))
        await self._move(decide(self.balance, loads, self._policy))

    def spare(self, server: int) -> int:
        """Of Configure, else of the site; less if the agent says so."""
        config = self._servers[server].config
        spare = self._context.state.spare.get(config.name, config.spare)
        now = self._servers[server].health.spare
        return min(spare, now) if now else spare

    # ---------------------------------------------------------------- reading

    async def _sample(self) -> Sample:
        run, driver = self._switch.boot, self._switch.driver
        self.reading = await driver.read_ports()
        if run == self._switch.boot:
            self.drops = self._context.store.count("switch", run, dict(self.reading.drops))
        taken, requests = time.monotonic(), []
        for server in self._servers:
            if not self._context.layout.server_of:
                requests.append(0)
                continue
            count = await driver.read_counters(program.REQUESTS, server.config.port, 1)
            requests.append(count.bytes[0] + program.REQUEST_EXTRA * count.packets[0])
        return Sample(taken, run, {p.port: p for p in self.reading.ports}, tuple(requests))

    # ---------------------------------------------------------------- rates

    def _measure_links(self, last: Sample, now: Sample) -> None:
        seconds = now.time - last.time
        for port, count in now.ports.items():
            before = last.ports.get(port)
            if before is not None:
                self._rates[port] = (
                    (count.frames_in - before.frames_in) / seconds,
                    (count.frames_out - before.frames_out) / seconds,
                    8 * (count.bytes_in - before.bytes_in) / seconds,
                    8 * (count.bytes_out - before.bytes_out) / seconds,
                )

    def _busier(self, server: int, last: Sample, now: Sample) -> Direction:
        """The direction of the server's link where payload is nearer to what is allowed. What is written there is read
        back once, so both carry the same payload."""
        config, seconds = self._servers[server].config, now.time - last.time
        _, _, total_in, total_out = self._rates.get(config.port, (0.0, 0.0, 0.0, 0.0))
        headroom, spare = self._context.config.back_off.headroom, self.spare(server)
        payload = 8 * ((now.requests[server] - last.requests[server]) % WRAP) / seconds
        owns = [max(0.0, total - payload) for total in (total_out, total_in)]
        directions = [Direction(payload, own, allowed_rate(spare, config.rate, headroom, own)) for own in owns]
        return max(directions, key=lambda d: d.share)

    # ---------------------------------------------------------------- buckets

    async def _move(self, after: Balance) -> None:
        """Only what changes is written."""
        before = self.balance
        changed = [b for b, (old, new) in enumerate(zip(before.places, after.places, strict=True)) if old != new]
        if not changed:
            self.balance = after
            return
        layout, moved = self._context.layout, dict(self._context.state.moved)
        for bucket in changed:
            moved.pop(bucket, None)
            if after.places[bucket] != after.homes[bucket]:
                moved[bucket] = after.places[bucket]
        placed = [(b, layout.moved(b, None if after.places[b] == NOWHERE else after.places[b])) for b in changed]

        def settled() -> None:
            self._context.state.moved = moved
            self.balance = after

        try:
            await self._switch.write_marked(self._context.tables.buckets(placed), settled)
        except SwitchAway:
            return
        self._tell(before, after)

    def _tell(self, before: Balance, after: Balance) -> None:
        for i, server in enumerate(self._servers):
            old, new = len(before.at(i)), len(after.at(i))
            if old != new:
                d = self.directions[i]
                rates = f"payload {d.payload / 1e6:.1f} of {d.allowed / 1e6:.1f} Mbit/s that are allowed"
                text = f"{new} buckets, before {old}: {rates}"
                self._context.journal.info(server.config.name, text)

    # ---------------------------------------------------------------- status

    def servers(self) -> list[pb.ServerLoad]:
        return [
            pb.ServerLoad(
                name=server.config.name,
                buckets=len(self.balance.at(i)),
                own_buckets=self.balance.own(i),
                payload=round(self.directions[i].payload),
                own=round(self.directions[i].own),
                allowed=round(self.directions[i].allowed),
            )
            for i, server in enumerate(self._servers)
        ]

    def links(self) -> list[pb.LinkLoad]:
        config, names = self._context.config, dict[int, str]()
        for traffic in config.traffic:
            names.update(dict.fromkeys(traffic.ports, traffic.name))
        names.update({nf.port: nf.name for nf in config.nf_servers})
        names.update({server.port: server.name for server in config.rdma_servers})
        counted = {count.port: count for count in self.reading.ports}
        links = []
        for port, name in names.items():
            count = counted.get(port, PortCount(port, False, 0, 0, 0, 0, 0))
            in_rate, out_rate, in_bps, out_bps = self._rates.get(port, (0.0, 0.0, 0.0, 0.0))
            links.append(
                pb.LinkLoad(
                    name=name, in_rate=in_rate, out_rate=out_rate, in_bps=in_bps, out_bps=out_bps, **vars(count)
                )
            )
        return links


def period(polling: pb.Polling) -> float:
    return polling.load / SECOND
