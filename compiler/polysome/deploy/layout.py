"""Where the parts of a bundle go on one machine: namespaces, cables, addresses and machine-local configurations.

Only what depends on the machine differs from the bundle's own configurations: files, interfaces, the device `soft`, and
management addresses by which machines of their own could not find each other either. A program with the short timeouts
of hardware has a slower clock.
"""

from __future__ import annotations

import ipaddress
import os
import pwd
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from polysome.backends.nf_cpp.names import word
from polysome.deploy.bundle import Bundle
from polysome.deploy.errors import DeployError
from polysome.deploy.messages import text
from polysome.plan.design import NF_MAC, SERVER_IP, SERVER_MAC
from polysome.plan.site import CPU_INTERFACE

PATIENCE = 60_000_000  # ns that a busy machine may leave a process out: no timeout of the switch is shorter
JUMBO = 9000  # MTU of the links inside: no frame of the split protocol is longer, but for whole packets
MANAGEMENT = ipaddress.ip_network("198.18.255.0/24")  # RFC 2544; for machines without an address of their own
_USABLE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,14}")  # and no PCI address
NOBODY = "nobody"
SOCKET = "controller.sock"  # in the run folder
TLS = "tls"  # there, too: the authority, and what is of the parts
INNER = "controller.tls"  # beside it, where the controller gives itself the connections of operators
MOST_SOCKET = 107  # bytes of the path of a Unix socket
ETHERNET = 14
TAG = 4


@dataclass(frozen=True)
class End:
    """An interface. `mac` "": any; `ip`: an IPv4 address of its own or ""; `quiet`: the kernel says nothing there."""

    namespace: str
    interface: str
    mtu: int
    mac: str = ""
    ip: str = ""
    quiet: bool = True

    @property
    def takes(self) -> int:
        """Bytes of the longest frame that Linux lets in there: one tag may be in it."""
        return ETHERNET + TAG + self.mtu


@dataclass(frozen=True)
class Cable:
    """Between the soft switch's `port` and what hangs there, `name` in the site or the spec."""

    name: str
    port: int
    switch: End
    other: End

    @property
    def too_long(self) -> int:
        """Bytes of the longest frame that the switch sends, if the other end does not take it; else 0."""
        sent = ETHERNET + self.switch.mtu
        return sent if sent > self.other.takes else 0


@dataclass(frozen=True)
class Machine:
    """Its end of the management network has `address`."""

    name: str
    namespace: str
    address: str


@dataclass(frozen=True)
class Part:
    """A process. `component`: the CMake project in the bundle and its target; None: Python.

    `config`: the text of its configuration, the file `path`; `user`: whom it becomes, "" for nobody else; `owns`: a
    folder that this user must be able to write.
    """

    name: str
    role: str
    namespace: str
    component: tuple[str, str] | None
    path: Path
    config: str
    owns: Path | None = None
    user: str = ""


@dataclass(frozen=True)
class Layout:
    """`ports`: the namespace of each logical port, where users run their programs; `hub`: that of the bridge."""

    nf: str
    ports: dict[str, str]
    cables: tuple[Cable, ...]
    machines: tuple[Machine, ...]
    hub: str
    parts: tuple[Part, ...]

    @property
    def namespaces(self) -> tuple[str, ...]:
        return (self.hub, *(machine.namespace for machine in self.machines), *self.ports.values())


def layout(bundle: Bundle, run: Path) -> Layout:
    """Everything of `polysome up` for this bundle and run folder, before anything is made. Both paths are absolute.

    DeployError if that cannot be.
    """
    prefix = f"ps-{bundle.nf}"
    machines = _machines(bundle, prefix)
    where = {machine.name: machine for machine in machines}
    ports = {port.name: f"{prefix}-port-{port.name}" for port in bundle.controller.traffic}
    cables = tuple(_cables(bundle, where, ports))
    found = Layout(
        nf=bundle.nf,
        ports=ports,
        cables=cables,
        machines=machines,
        hub=f"{prefix}-management",
        parts=tuple(_parts(bundle, where, cables, run)),
    )
    twice = next((name for name in found.namespaces if found.namespaces.count(name) > 1), None)
    if twice is not None:
        raise DeployError(f"two namespaces would be called {twice}", "Give that server of the site another name.", 2)
    if len(os.fsencode(run / SOCKET)) > MOST_SOCKET:
        raise DeployError(f"{run} is too long a path for a Unix socket in it", "Give a shorter --run-folder.", 2)
    return found


def _machines(bundle: Bundle, prefix: str) -> tuple[Machine, ...]:
    """The switch first; each with the address of the site, if that is one and no other's."""
    config = bundle.controller
    wanted = [("switch", config.switch if not _local(config.switch) else config.listen)]
    wanted += [(server.name, server.address) for server in (*config.nf_servers, *config.rdma_servers)]
    spare = iter(MANAGEMENT.hosts())
    taken: set[str] = set()
    found = []
    for name, address in wanted:
        given = host(address)
        if _local(address) or given in taken:
            given = next(str(free) for free in spare if str(free) not in taken)
        taken.add(given)
        found.append(Machine(name, f"{prefix}-{name}", given))
    return tuple(found)


def host(address: str) -> str:
    """Of "ADDRESS:PORT"."""
    return address.rpartition(":")[0]


def _local(address: str) -> bool:
    """Is it no address by which another machine finds this one: loopback, all, or none at all?"""
    try:
        found = ipaddress.IPv4Address(host(address))
    except ValueError:
        return True
    return found.is_loopback or found.is_unspecified


def _cables(bundle: Bundle, where: dict[str, Machine], ports: dict[str, str]) -> Iterator[Cable]:
    switch, site = where["switch"].namespace, bundle.site

    def end(port: int, mtu: int) -> End:
        return End(switch, f"port{port}", mtu)

    for traffic in bundle.controller.traffic:
        several = len(traffic.ports) > 1
        for number, port in enumerate(traffic.ports):
            other = End(ports[traffic.name], f"eth{number}", site.mtu, quiet=False)
            name = f"{traffic.name}{number}" if several else traffic.name
            yield Cable(name, port, end(port, bundle.out_frame - ETHERNET), other)
    for number, (nf, planned) in enumerate(zip(bundle.controller.nf_servers, site.nf_servers, strict=True)):
        interface = _interface(bundle.nfs[nf.name].interface)
        mtu = max(JUMBO, bundle.nf_link - ETHERNET)
        other = End(where[nf.name].namespace, interface, mtu, mac(planned.mac or NF_MAC + number))
        yield Cable(nf.name, nf.port, end(nf.port, mtu), other)
    for number, (server, lent) in enumerate(zip(bundle.controller.rdma_servers, site.rdma_servers, strict=True)):
        interface = _interface(bundle.agents[server.name].interface)
        ip = str(ipaddress.IPv4Address(lent.ip or SERVER_IP + number))
        other = End(where[server.name].namespace, interface, JUMBO, mac(lent.mac or SERVER_MAC + number), ip)
        yield Cable(server.name, server.port, end(server.port, JUMBO), other)
    proves = bundle.controller.bring_up
    if proves.probes:  # the controller runs beside the switch
        yield Cable("controller", proves.port, end(proves.port, JUMBO), End(switch, CPU_INTERFACE, JUMBO))


def mac(value: int) -> str:
    return ":".join(f"{value:012x}"[i : i + 2] for i in range(0, 12, 2))


def _interface(name: str) -> str:
    """As the machine's is called, if that can be had here."""
    return name if _USABLE.fullmatch(name) and name not in ("lo", "management") else "data"


# ---------------------------------------------------------------- the parts


def _parts(bundle: Bundle, where: dict[str, Machine], cables: Iterable[Cable], run: Path) -> Iterator[Part]:
    ends = {cable.name: cable.other for cable in cables}
    config, target = _switch(bundle, where, cables, run), ("switch/soft", f"{word(bundle.nf)}_switch")
    path = run / "config" / "switch.json"
    yield Part("switch", "switch", where["switch"].namespace, target, path, text(config), user=config.user)
    for name, given in bundle.agents.items():
        config = _copy(given, run, name, where[name])
        config.device, config.interface, config.huge_pages = "soft", ends[name].interface, False
        path = run / "config" / f"{name}.json"
        component = ("rdma/agent", "polysome-agent")
        yield Part(name, "rdma", where[name].namespace, component, path, text(config), user=config.user)
    for name, given in bundle.nfs.items():
        config = _copy(given, run, name, where[name])
        config.interface, config.config = ends[name].interface, str(bundle.folder / "nf" / "config.bin")
        config.samples = str(bundle.folder / "nf" / "samples.json")
        config.state = str(run / "state" / name)
        config.cores[:] = [core for core in given.cores if core in os.sched_getaffinity(0)]
        path, target = run / "config" / f"{name}.json", ("nf", f"{word(bundle.nf)}_fields_af_packet")
        state = Path(config.state)
        yield Part(name, "nf", where[name].namespace, target, path, text(config), state, config.user)
    path, config = run / "config" / "controller.json", _controller(bundle, where, run)
    yield Part("controller", "controller", where["switch"].namespace, None, path, text(config), Path(config.state))


def _switch(bundle: Bundle, where: dict[str, Machine], cables: Iterable[Cable], run: Path) -> Any:
    config = _copy(bundle.switch, run, "switch", where["switch"])
    config.slower = slower(bundle)
    inside = [port for port in config.ports if port.port not in {cable.port for cable in cables}]
    del config.ports[:]
    for cable in cables:
        config.ports.add(port=cable.port, interface=cable.switch.interface)
    config.ports.extend(port for port in inside if not port.interface)  # recirculation, generator: no cable
    return config


def _copy(given: Any, run: Path, name: str, machine: Machine) -> Any:
    """The configuration of a part that listens, on this machine."""
    config = type(given)()
    config.CopyFrom(given)
    config.listen = _at(given.listen, machine)
    config.user = _user(given.user)
    _tls(config.tls, run, name)
    return config


def _at(listen: str, machine: Machine) -> str:
    """Where it listens, at an address that the machine has here."""
    return listen if _local(listen) else _joined(machine.address, listen)


def _joined(address: str, listen: str) -> str:
    return f"{address}:{listen.rpartition(':')[2]}"


def _user(name: str) -> str:
    """Whom a part becomes: the one of the bundle if there is one of that name here, else nobody. Parts read packets of
    strangers: none stays root that need not."""
    for known in (name, NOBODY) if name else ():
        with suppress(KeyError):
            return pwd.getpwnam(known).pw_name
    return ""


def _tls(tls: Any, run: Path, name: str) -> None:
    tls.authority, tls.certificate, tls.key, tls.revoked = (str(run / TLS / file) for file in certificates(name))


def certificates(name: str) -> tuple[str, str, str, str]:
    """The files that a part, or an operator, needs of the folder that certificates.sh fills."""
    return "authority.pem", f"{name}.pem", f"{name}.key", "revoked.pem"


def _controller(bundle: Bundle, where: dict[str, Machine], run: Path) -> Any:
    config = type(bundle.controller)()
    config.CopyFrom(bundle.controller)
    config.bring_up.interface = CPU_INTERFACE if config.bring_up.probes else ""
    config.model, config.switch = "software", _joined(where["switch"].address, config.switch)
    for server in (*config.nf_servers, *config.rdma_servers):
        server.address = _joined(where[server.name].address, server.address)
    config.listen, config.metrics = (_at(place, where["switch"]) for place in (config.listen, config.metrics))
    config.longest_queueing *= slower(bundle)  # what the controller waits for passes in the switch's time
    config.timeout *= slower(bundle)
    config.admin = str(run / SOCKET)
    config.state = str(run / "state" / "controller")
    config.config = str(bundle.folder / "nf" / "config.bin")
    _tls(config.tls, run, "controller")
    return config


def slower(bundle: Bundle) -> int:
    """How many times slower than this machine's the switch's clock runs."""
    timeout = bundle.controller.timeout
    return max(1, -(-PATIENCE // timeout)) if timeout else 1


def command(part: Part, bundle: Path, program: Path | None) -> list[str]:
    """What runs a part; `program`: its binary. The controller is the bundle's own."""
    inside = ["ip", "netns", "exec", part.namespace]
    if program is not None:
        return [*inside, str(program), str(part.path)]
    package = bundle / "switch" / "controller"
    return [*inside, "env", f"PYTHONPATH={package}", sys.executable, "-m", "polysome_controller", str(part.path)]
