"""Bundles of the examples, running, each with a network around it."""

from __future__ import annotations

import shutil
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.up.figures import record
from tests.up.load.network import Network, bridge, cable, ip, mac_of, neighbour, network, run
from tests.up.load.web import Server, curl, digest, random_file, serve, wrk
from tests.up.running import Up, polysome

from polysome.deploy import run as runs

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "examples"
BUILDING = 600.0  # s; on a small machine that does other things too
VIP = "10.0.0.100"
UPLOADED = 20_000_000  # bytes
_NONE: Mapping[str, str] = {}


def bundle(spec: Path, site: Path, out: Path, *options: str) -> Path:
    """Proofs are tests/prove's business."""
    done = polysome("compile", spec, "--site", site, "-o", out, "--no-proof", *options)
    assert done.returncode == 0, done.stderr
    return out


@contextmanager
def running(made: Path, nf: str, folder: Path, variables: Mapping[str, str] = _NONE) -> Iterator[Up]:
    """The bundle, up, until the end; also if that comes early. `variables`: of its processes' environment."""
    up = Up(made, folder, variables=variables)
    try:
        up.wait_until_up(BUILDING)
        yield up
    finally:
        code = up.end(signal.SIGTERM)
        runs.clean(folder)
        shutil.rmtree(runs.PLACE / nf, ignore_errors=True)
    assert code == 0, up.said


def port(nf: str, name: str) -> str:
    """The namespace of a logical port."""
    return f"ps-{nf}-port-{name}"


# ---------------------------------------------------------------- load balancer


@dataclass(frozen=True)
class Balanced:
    """The load balancer between clients (`client`: their namespace, `sources`: their addresses) and web servers."""

    up: Up
    made: Network
    client: str
    sources: tuple[str, ...]
    servers: tuple[Server, ...]

    def everybody_answers(self) -> None:
        """Of the web servers, to requests from all addresses."""
        names = [curl(self.client, f"http://{VIP}/who", "--interface", source) for source in self.sources * 3]
        assert set(names) == {f"{server.name}\n" for server in self.servers}

    def upload(self, file: Path) -> None:
        """20 MB of a new file arrive, and are as they were."""
        wanted = random_file(file, UPLOADED)
        curl(self.client, f"http://{VIP}/kept", "--upload-file", str(file))
        kept = [server.files / "kept" for server in self.servers if (server.files / "kept").exists()]
        assert [digest(path) for path in kept] == [wanted]

    def no_request_fails(self, what: str) -> None:
        """Of many for five seconds; `what`: is measured."""
        result = wrk(self.client, f"http://{VIP}/who", seconds=5)
        record(what, result.rate, "requests/s")
        assert result.errors == 0 and result.requests > 100, result.text


@contextmanager
def balancer(folder: Path, variables: Mapping[str, str] = _NONE, *options: str) -> Iterator[Balanced]:
    """examples/load_balancer with its own site and config: answers go back directly, so servers accept the VIP's name.

    What arrives has a server's own address; a stateless rule of the server's gives it the VIP again. `options`: of
    `polysome compile`.
    """
    nf = "load_balancer"
    made = bundle(EXAMPLES / nf / f"{nf}.nf", EXAMPLES / nf / "site.toml", folder / "bundle", *options)
    with running(made, nf, folder / "run", variables) as up, network("lb") as net:
        client, port_side = port(nf, "clients"), port(nf, "servers")
        sources = tuple(f"10.0.0.{n}" for n in (11, 12, 13, 14))
        for source in sources:
            ip("-n", client, "address", "add", f"{source}/24", "dev", "eth0")
        neighbour(client, "eth0", VIP, "02:00:00:00:00:fe")  # the NF gives it the server's
        bridge(port_side, "inside", "eth0")
        bridge(client, "back")
        servers = []
        for number in (1, 2, 3):
            place = net.namespace(f"server{number}")
            _balanced_server(place, number, client, port_side)
            servers.append(serve(net, place, f"server{number}", folder / f"server{number}"))
        yield Balanced(up, net, client, sources, tuple(servers))


def _balanced_server(place: str, number: int, client: str, port_side: str) -> None:
    cable((port_side, f"server{number}"), (place, "eth0"), mac=f"02:00:00:00:0b:{number:02x}")
    ip("-n", port_side, "link", "set", f"server{number}", "master", "inside")
    cable((client, f"server{number}"), (place, "back"))
    ip("-n", client, "link", "set", f"server{number}", "master", "back")
    ip("-n", place, "address", "add", f"10.0.1.{number}/32", "dev", "eth0")
    ip("-n", place, "address", "add", f"{VIP}/32", "dev", "lo")
    ip("-n", place, "route", "add", "10.0.0.0/24", "dev", "back", "src", VIP)
    run(place, "nft", "add table ip vip; add chain ip vip in { type filter hook prerouting priority raw; }")
    run(place, "nft", f"add rule ip vip in ip daddr 10.0.1.{number} ip daddr set {VIP}")


# ---------------------------------------------------------------- between two networks


@dataclass(frozen=True)
class Between:
    """An NF between an inside and an outside, which share a link as it sees it; a web server in each."""

    up: Up
    made: Network
    inside: str
    outside: str
    server: Server


@contextmanager
def between(
    nf: str, site: Path, folder: Path, inside: list[str], outside: list[str], known_as: list[str]
) -> Iterator[Between]:
    """`inside`, `outside`: addresses with prefix; `known_as`: those by which the inside is known outside."""
    made = bundle(EXAMPLES / nf / f"{nf}.nf", site, folder / "bundle")
    with running(made, nf, folder / "run") as up, network(nf) as net:
        here, there = port(nf, "inside"), port(nf, "outside")
        for place, own, other, others in ((here, inside, there, outside), (there, outside, here, known_as)):
            for address in own:
                ip("-n", place, "address", "add", address, "dev", "eth0", *(("nodad",) if ":" in address else ()))
            for address in others:
                plain = address.partition("/")[0]
                neighbour(place, "eth0", plain, mac_of(other, "eth0"))
                ip("-n", place, "route", "replace", plain, "dev", "eth0")
        yield Between(up, net, here, there, serve(net, there, "outside", folder / "outside"))
