"""Network namespaces and the cables between them (ip-netns(8), veth(4)).

Nothing touches the network of the machine itself: cables are made inside the namespaces. A namespace takes its
interfaces with it when it goes; what still runs inside keeps it, without cables and without a name.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

from polysome.deploy.errors import DeployError
from polysome.deploy.layout import End, Layout, Machine

FOLDER = Path("/run/netns")
HUB = "hub"  # the bridge of the management network
# A veth hands over what the sender gave it: without these, frames without checksums, and merged ones.
OFFLOADS = ("tx", "rx", "tso", "gso", "gro")


def present(names: Iterable[str]) -> list[str]:
    """Those of the namespaces that are there."""
    return [name for name in names if (FOLDER / name).exists()]


def make(layout: Layout) -> None:
    """Makes all namespaces, cables and addresses. DeployError if the system refuses; what was made then stays."""
    for name in layout.namespaces:
        _ip("netns", "add", name)
        _ip("-n", name, "link", "set", "lo", "up")
    for cable in layout.cables:
        _cable(cable.switch, cable.other)
    _management(layout.hub, layout.machines)


def remove(names: Iterable[str]) -> list[str]:
    """Removes namespaces, as far as they are there; returns what could not be, in words."""
    problems = []
    for name in present(names):
        for link in _links(name):
            subprocess.run(["ip", "-n", name, "link", "del", link], capture_output=True)
        done = subprocess.run(["ip", "netns", "del", name], capture_output=True, text=True)
        if done.returncode != 0:
            problems.append(f"namespace {name}: {done.stderr.strip()}")
    return problems


def _links(namespace: str) -> list[str]:
    """The ends of cables there: they go at once, also if a program keeps the namespace."""
    shown = subprocess.run(
        ["ip", "-n", namespace, "-o", "link", "show", "type", "veth"], capture_output=True, text=True
    )
    return [line.split(": ")[1].partition("@")[0] for line in shown.stdout.splitlines() if ": " in line]


def inhabitants(names: Iterable[str]) -> dict[str, list[int]]:
    """The processes in each of the namespaces that has any."""
    found = {}
    for name in present(names):
        shown = subprocess.run(["ip", "netns", "pids", name], capture_output=True, text=True)
        if shown.stdout.strip():
            found[name] = [int(pid) for pid in shown.stdout.split()]
    return found


def set_link(end: End, up: bool) -> None:
    """Plugs a cable in or out at this end."""
    _ip("-n", end.namespace, "link", "set", end.interface, "up" if up else "down")


def _cable(switch: End, other: End) -> None:
    peer = ("peer", "name", other.interface, "netns", other.namespace)
    _ip("link", "add", "name", switch.interface, "netns", switch.namespace, "type", "veth", *peer)
    for end in (switch, other):
        _prepare(end)
    for end in (switch, other):
        set_link(end, True)


def _prepare(end: End) -> None:
    mac = ("address", end.mac) if end.mac else ()
    _ip("-n", end.namespace, "link", "set", end.interface, "mtu", str(end.mtu), *mac)
    _inside(end.namespace, "ethtool", "-K", end.interface, *(word for name in OFFLOADS for word in (name, "off")))
    if end.quiet:  # no router solicitations, no listener reports
        setting = f"/proc/sys/net/ipv6/conf/{end.interface}/disable_ipv6"
        _inside(end.namespace, "sh", "-c", 'if [ -e "$0" ]; then echo 1 > "$0"; fi', setting)
    if end.ip:
        _ip("-n", end.namespace, "address", "add", f"{end.ip}/24", "dev", end.interface)


def _management(hub: str, machines: Sequence[Machine]) -> None:
    _ip("-n", hub, "link", "add", "name", HUB, "type", "bridge")
    _ip("-n", hub, "link", "set", HUB, "up")
    for number, machine in enumerate(machines):
        plug, namespace = f"machine{number}", machine.namespace
        peer = ("peer", "name", "management", "netns", namespace)
        _ip("link", "add", "name", plug, "netns", hub, "type", "veth", *peer)
        _ip("-n", hub, "link", "set", plug, "master", HUB, "up")
        _ip("-n", namespace, "address", "add", f"{machine.address}/32", "dev", "management")
        _ip("-n", namespace, "link", "set", "management", "up")
        for other in machines:
            if other is not machine:
                _ip("-n", namespace, "route", "replace", other.address, "dev", "management")


def _ip(*arguments: str) -> None:
    _run(["ip", *arguments])


def _inside(namespace: str, *command: str) -> None:
    _run(["ip", "netns", "exec", namespace, *command])


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise DeployError(f"`{' '.join(command)}` failed: {said[0] if said else f'code {done.returncode}'}")
