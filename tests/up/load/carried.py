"""A deployment around which nothing speaks but the test, and what its links carry of what the test sends."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.testing.builtin.networks import example
from tests.up.load.capture import ALL, Capture
from tests.up.load.examples import EXAMPLES, bundle, running
from tests.up.load.network import Network, ip, network, run
from tests.up.load.packets import Sent
from tests.up.load.places import Place
from tests.up.load.promised import Promised
from tests.up.load.senders import Outlet, send, senders
from tests.up.running import Up

from polysome.captures.read import Captured
from polysome.deploy.bundle import open_bundle
from polysome.deploy.layout import End, layout
from polysome.testing.spec import Spec

GAP = 0.0003  # s between two packets: a modest rate
SETTLED = 0.5  # s without any frame: longer than any schedule of the examples holds a packet
LONGEST = 15.0


@dataclass(frozen=True)
class Counted:
    """Of an interface, as its machine sees it."""

    frames_in: int
    bytes_in: int
    frames_out: int
    bytes_out: int

    def since(self, before: Counted) -> Counted:
        return Counted(*(a - b for a, b in zip(self._all, before._all, strict=True)))

    @property
    def _all(self) -> tuple[int, int, int, int]:
        return self.frames_in, self.bytes_in, self.frames_out, self.bytes_out


@dataclass(frozen=True)
class Carried:
    """What happened between two silences. By name of a machine, or of a traffic port (`clients`, with its interface):
    `nf`, `servers`: all frames on the link; `left`: those that left; `counted`: what the interfaces counted;
    `by_switch`: what the switch says that it received and sent there.
    """

    sent: Sequence[Sent]
    nf: dict[str, list[Captured]]
    servers: dict[str, list[Captured]]
    left: dict[Outlet, list[Captured]]
    counted: dict[str, Counted]
    by_switch: dict[str, Counted]


@dataclass(frozen=True)
class Deployed:
    """`nfs`, `servers`: the link's end at each of the machines. `outlets`: those of traffic ports, by cable; `ports`:
    of the switch, by cable."""

    spec: Spec
    place: Place
    promised: Promised
    up: Up
    net: Network
    nfs: dict[str, End]
    servers: dict[str, End]
    outlets: dict[str, Outlet]
    ports: dict[str, int]

    def carry(self, frames: Sequence[Sent], folder: Path, gap: float = GAP) -> Carried:
        """Sends the frames into the first interface of their ports, and waits until all is quiet again."""
        folder.mkdir()
        inside, before, was = self._captures(folder), self._counted(), self._by_switch()
        outside = {
            outlet: self._capture(outlet.namespace, outlet.interface, folder, direction="in")
            for outlet in self.outlets.values()
        }
        for capture in (*inside.values(), *outside.values()):
            capture.begun()
        first = {outlet.port: outlet for outlet in self.outlets.values() if outlet.number == 0}
        with senders(first.values()) as by:
            send(by, ((first[port], frame) for port, frame in frames), gap)
        now = self._settled()
        counted = {name: found.since(before[name]) for name, found in now.items()}
        by_switch = {name: found.since(was[name]) for name, found in self._by_switch().items()}
        seen = {name: capture.frames() for name, capture in inside.items()}
        nf, servers = ({name: seen[name] for name in names} for names in (self.nfs, self.servers))
        left = {outlet: capture.frames() for outlet, capture in outside.items()}
        return Carried(frames, nf, servers, left, counted, by_switch)

    def _captures(self, folder: Path) -> dict[str, Capture]:
        ends = self.nfs | self.servers
        return {name: self._capture(end.namespace, end.interface, folder) for name, end in ends.items()}

    def _capture(self, namespace: str, interface: str, folder: Path, direction: str = "inout") -> Capture:
        return Capture(self.net, namespace, interface, folder / f"{namespace}-{interface}.pcap", ALL, direction)

    def _settled(self) -> dict[str, Counted]:
        """Once no interface counts any more."""
        deadline, quiet, seen = time.monotonic() + LONGEST, time.monotonic(), self._counted()
        while time.monotonic() < quiet + SETTLED:
            time.sleep(SETTLED / 8)
            now = self._counted()
            if now != seen:
                quiet, seen = time.monotonic(), now
            assert time.monotonic() < deadline, "the links are never quiet"
        return seen

    def _counted(self) -> dict[str, Counted]:
        ends = {name: (end.namespace, end.interface) for name, end in (self.nfs | self.servers).items()}
        ends |= {name: (outlet.namespace, outlet.interface) for name, outlet in self.outlets.items()}
        return {name: _counted(*end) for name, end in ends.items()}

    def _by_switch(self) -> dict[str, Counted]:
        links = {link.port: link for link in self.up.status().links}
        found = {name: links[port] for name, port in self.ports.items() if port in links}
        return {n: Counted(at.frames_in, at.bytes_in, at.frames_out, at.bytes_out) for n, at in found.items()}


def _counted(namespace: str, interface: str) -> Counted:
    shown = json.loads(run(namespace, "ip", "-s", "-j", "link", "show", "dev", interface))[0]["stats64"]
    return Counted(shown["rx"]["packets"], shown["rx"]["bytes"], shown["tx"]["packets"], shown["tx"]["bytes"])


@contextmanager
def deployed(nf: str, place: Place, folder: Path) -> Iterator[Deployed]:
    """An example with its own config, up at that place, and quiet."""
    spec, example_folder = example(nf), EXAMPLES / nf
    site = folder / "site.toml"
    site.write_text(place.text(spec.program.ports), encoding="utf-8")
    configs = [*map(str, example_folder.glob("config.toml"))]
    configs += [f"{path.stem}={path}" for path in sorted(example_folder.glob("*.csv"))]
    options = [word for config in configs for word in ("--config", config)]
    made = bundle(example_folder / f"{nf}.nf", site, folder / "bundle", *options)
    opened = open_bundle(made)
    laid = layout(opened, folder / "run").cables
    cables, ports = ({cable.name: getattr(cable, what) for cable in laid} for what in ("other", "port"))
    outlets = {}
    for port, traffic in enumerate(opened.controller.traffic):
        for number in range(len(traffic.ports)):
            name = f"{traffic.name}{number}" if len(traffic.ports) > 1 else traffic.name
            outlets[name] = Outlet(cables[name].namespace, cables[name].interface, port, number, cables[name].takes)
    nfs, servers = (
        {server.name: cables[server.name] for server in machines}
        for machines in (opened.controller.nf_servers, opened.controller.rdma_servers)
    )
    with running(made, nf, folder / "run") as up, network(nf) as net:
        for outlet in outlets.values():
            _hush(outlet)
        yield Deployed(spec, place, Promised.of(made, spec), up, net, nfs, servers, outlets, ports)


def _hush(outlet: Outlet) -> None:
    """The kernel there has nothing to say: no ARP, no neighbour discovery, no listener reports."""
    ip("-n", outlet.namespace, "link", "set", outlet.interface, "arp", "off")
    setting = f"/proc/sys/net/ipv6/conf/{outlet.interface}/disable_ipv6"
    run(outlet.namespace, "sh", "-c", f"if [ -e {setting} ]; then echo 1 > {setting}; fi")
