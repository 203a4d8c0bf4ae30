"""The switch's tables as they follow from the configuration: all but what agents say of queue pairs."""

from __future__ import annotations

from collections.abc import Iterable

from polysome_controller import control_pb2 as pb
from polysome_controller import program
from polysome_controller.driver import (
    Clear,
    SetBuffer,
    SetGenerator,
    SetGroup,
    SetMeter,
    SetMirror,
    SetPort,
    Update,
)
from polysome_controller.layout import Bucket, Layout, mac_number
from polysome_protocol import VERDICTS, Role


class Tables:
    """Lists of updates; the controller decides when they are written."""

    def __init__(self, config: pb.ControllerConfig, layout: Layout) -> None:
        self._config = config
        self._layout = layout
        self._server_ports = [server.port for server in config.rdma_servers]
        self._proves = bool(config.bring_up.probes)
        self._parks = bool(layout.server_of)

    def everything(
        self, active_nf: int, buckets: Iterable[tuple[int, Bucket]], fallback: int, seq: int
    ) -> list[Update]:
        """For a switch of which nothing is known: no queue pair is up, no other entry is left, and packets are numbered
        behind `seq`."""
        updates: list[Update] = []
        for pair in range(len(self._layout.server_of)):
            updates += program.up(pair, False)
        updates += [Clear(table) for table in program.TABLES]
        if self._parks:
            updates += [Clear(table) for table in program.PARKING_TABLES]
            updates.append(program.parked_last(seq))
        updates += [self.buffer(), *self.ports()]
        updates += self._mirrors() + self._verdicts()
        updates += [program.station(mac_number(s.mac), s.port) for s in self._config.stations]
        updates += self._floods()
        for pair, server in enumerate(self._layout.server_of):
            updates.append(program.server_port(pair, self._server_ports[server]))
        updates += self._probes() if self._proves else []
        return updates + self.nf_links(active_nf) + self.buckets(buckets) + self.meter(fallback) + self._generator()

    def nf_links(self, active: int) -> list[Update]:
        """All traffic to one NF server."""
        port, ways = self._config.nf_servers[active].port, len(self._config.depths)
        return [
            program.nf_link(traffic, way, port, self._session(active, way) if way else 0)
            for traffic in range(len(self._config.traffic))
            for way in range(ways + 1)
        ]

    def buckets(self, changed: Iterable[tuple[int, Bucket]]) -> list[Update]:
        return [
            program.bucket(Role.traffic, number, b.primary, self._port_of(b.primary), b.backup, self._port_of(b.backup))
            for number, b in changed
        ]

    def meter(self, rate: int) -> list[Update]:
        """Whole packets that find no queue pair, where there are any; no rate, no limit."""
        if not rate or not self._parks:
            return []
        return [SetMeter(program.FALLBACK, 0, rate, self._config.fallback_burst)]

    def ports(self) -> list[SetPort]:
        config, ports = self._config, list[SetPort]()
        for index, traffic in enumerate(config.traffic):
            ports += [SetPort(p, Role.traffic, index, traffic.rate, traffic.queue_bytes) for p in traffic.ports]
        ports += [SetPort(s.port, Role.nf, i, s.rate, s.queue_bytes) for i, s in enumerate(config.nf_servers)]
        for i, s in enumerate(config.rdma_servers):
            first = s.first_queue_bytes
            ports.append(
                SetPort(s.port, Role.server, i, s.rate, s.queue_bytes, append_icrc=True, first_queue_bytes=first)
            )
        for p in config.fixed_ports:
            port = SetPort(p.port, p.role, p.index, p.rate, p.queue_bytes, p.append_icrc, p.loopback, p.loop_time)
            ports.append(port)
        if self._proves:
            own = config.bring_up
            ports.append(SetPort(own.port, Role.controller, VERDICTS.controller, own.rate, own.queue_bytes))
        return ports

    def buffer(self) -> SetBuffer:
        """The mirror's copies are those that go to NF servers."""
        total = sum(port.queue_bytes + port.first_queue_bytes for port in self.ports())
        return SetBuffer(total, sum(server.queue_bytes for server in self._config.nf_servers))

    def _probes(self) -> list[Update]:
        """What comes from the controller's port, and only that, is parked on the queue pair that it names, and comes
        back there (rule 14)."""
        own = self._config.bring_up.port
        updates: list[Update] = self.probe_links(None, range(len(self._config.depths) + 1))
        updates += [
            SetMirror(self._session(len(self._config.nf_servers), way), own, depth)
            for way, depth in enumerate(self._config.depths, 1)
        ]
        updates += [program.send(verdict, own) for verdict in (VERDICTS.proof, VERDICTS.controller)]
        updates.append(program.nf_station(own, mac_number(self._config.switch_mac)))
        for pair in range(len(self._layout.server_of)):
            port = self._port_of(pair)
            updates.append(program.bucket(Role.controller, pair, pair, port, pair, port))
        return updates

    def probe_links(self, nf: int | None, ways: Iterable[int]) -> list[Update]:
        """Probes to an NF server; None: back to the controller, which answers them itself."""
        place = len(self._config.nf_servers) if nf is None else nf
        port = self._config.bring_up.port if nf is None else self._config.nf_servers[nf].port
        return [
            program.nf_link(VERDICTS.controller, way, port, self._session(place, way) if way else 0) for way in ways
        ]

    def _session(self, nf: int, way: int) -> int:
        """Of the mirror, for a way; behind those of NF servers come the controller's."""
        return 1 + nf * len(self._config.depths) + way - 1

    def _mirrors(self) -> list[Update]:
        """Those of all NF servers stand ready, so that traffic moves by entries alone."""
        return [
            SetMirror(self._session(nf, way), server.port, depth)
            for nf, server in enumerate(self._config.nf_servers)
            for way, depth in enumerate(self._config.depths, 1)
        ]

    def _verdicts(self) -> list[Update]:
        """A logical port of several switch ports sends by the first."""
        exits = [traffic.ports[0] for traffic in self._config.traffic]
        updates: list[Update] = [program.send(verdict, port) for verdict, port in enumerate(exits)]
        for group, verdict in enumerate(self._config.verdicts, 1):
            ports = tuple(port for number, port in enumerate(exits) if verdict >> number & 1)
            updates += [SetGroup(group, ports), program.flood(verdict, group)]
        return updates

    def _floods(self) -> list[Update]:
        """What comes from a station to a group of them goes to the ports of all others, servers' and plain ones; never
        to a port of another role, though a station may be there. Groups are numbered behind those of the verdicts."""
        taken = {port.port for port in self.ports() if port.role != Role.server}
        found = {*self._server_ports, *(station.port for station in self._config.stations)} - taken
        updates: list[Update] = []
        for group, port in enumerate(sorted(found), len(self._config.verdicts) + 1):
            others = tuple(sorted(found - {port}))
            if others:
                updates += [SetGroup(group, others), program.flood_station(port, group)]
        return updates

    def _generator(self) -> list[Update]:
        """By a port of its own, or on chips where it shares one with recirculation, by that one."""
        by_role = {p.role: p.port for p in self._config.fixed_ports}
        port = by_role.get(Role.generator, by_role.get(Role.recirculation))
        return [] if port is None else [SetGenerator(port, self._config.sweep, len(self._layout.server_of))]

    def _port_of(self, pair: int) -> int:
        return 0 if pair == self._layout.nowhere else self._server_ports[self._layout.server_of[pair]]
