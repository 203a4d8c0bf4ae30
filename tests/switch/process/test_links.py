"""Interfaces that go down, away, and come back while the soft switch runs; what it does when nothing happens."""

from __future__ import annotations

import os
import pwd
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.switch.process.conftest import Site
from tests.switch.process.harness import Client, address, pb, running
from tests.switch.process.test_frames import A, B, frame


def until(condition: Callable[[], bool], seconds: float = 5) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it does not become true"
        time.sleep(0.02)


def passes(site: Site) -> None:
    """A frame goes from port 1 to 2 and one back, soon."""
    for here, there, to in ((1, 2, B), (2, 1, A)):
        wires = site.wires
        end = time.monotonic() + 5
        while True:
            wires[here].send(frame(to, 200))
            if wires[there].receive(0.1) == frame(to, 200):
                break
            assert time.monotonic() < end, f"nothing from {here} to {there}: {site.process.log}"
        while wires[there].receive(0.05) is not None:
            pass


def reopened(site: Site) -> None:
    """Our end of port 2 was down, or is another one."""
    site.wires[2].close()
    site.wires[2] = site.namespace.socket("our2")


def busy(site: Site, seconds: float = 1.0) -> float:
    """The share of a processor that the switch takes."""
    before, start = site.process.seconds(), time.monotonic()
    time.sleep(seconds)
    return (site.process.seconds() - before) / (time.monotonic() - start)


def test_an_interface_goes_down_and_comes_back(site: Site) -> None:
    site.controller.write(site.station(A, 1), site.station(B, 2))
    passes(site)
    site.namespace.run("ip", "link", "set", "sw2", "down")
    site.process.await_log("port 2: interface sw2 is down")
    assert not site.controller.port(2).up and site.controller.port(1).up
    for _ in range(20):
        site.wires[1].send(frame(B, 100))
    until(lambda: site.controller.drops()["not taken by an interface"] == 20)
    site.namespace.run("ip", "link", "set", "sw2", "up")
    site.process.await_log("port 2: interface sw2 is up")
    passes(site)
    assert site.process.log.count("sw2 is down") == 1 == site.process.log.count("sw2 is up")


def test_a_cable_is_pulled_and_plugged(site: Site) -> None:
    site.controller.write(site.station(A, 1), site.station(B, 2))
    site.namespace.run("ip", "link", "set", "our2", "down")
    until(lambda: not site.controller.port(2).up)
    site.namespace.run("ip", "link", "set", "our2", "up")
    until(lambda: bool(site.controller.port(2).up))
    reopened(site)
    passes(site)


@pytest.mark.parametrize("same_index", [False, True])
def test_an_interface_is_deleted_and_made_again(site: Site, same_index: bool) -> None:
    """Also if the new one has the old one's number, by which the system knows it."""
    site.controller.write(site.station(A, 1), site.station(B, 2))
    passes(site)
    index = site.namespace.run("cat", "/sys/class/net/sw2/ifindex").strip()
    site.namespace.run("ip", "link", "delete", "sw2")
    site.process.await_log("port 2: interface sw2 is gone")
    site.wires[1].send(frame(B, 100))
    until(lambda: site.controller.drops()["not taken by an interface"] > 0)
    assert busy(site, 0.5) < 0.1
    numbered = ("index", index) if same_index else ()
    site.namespace.link("sw2", "our2", *numbered)
    site.process.await_log("port 2: interface sw2 is up")
    reopened(site)
    passes(site)
    assert site.process.log.count("sw2 is gone") == 1


def test_nothing_to_do_takes_no_time(site: Site) -> None:
    site.controller.write(site.station(A, 1), site.station(B, 2))
    passes(site)
    assert busy(site) < 0.03


def test_a_user_without_rights_takes_up_a_new_interface(site: Site) -> None:
    """Another switch, which became another user once its interfaces were open."""
    nobody = pwd.getpwnam("nobody")
    for port in (5, 6):
        site.namespace.link(f"sw{port}", f"our{port}")
    folder = Path(tempfile.mkdtemp(prefix="polysome-switch-"))  # `nobody` makes a socket there
    os.chown(folder, nobody.pw_uid, nobody.pw_gid)
    with running("load_balancer", folder, site.tls, {1: "sw5", 2: "sw6"}, site.namespace, user="nobody") as process:
        status = Path(f"/proc/{process.popen.pid}/status").read_text(encoding="utf-8")
        assert f"Uid:\t{nobody.pw_uid}\t{nobody.pw_uid}\t{nobody.pw_uid}" in status
        assert "CapEff:\t0000000000000000" in status
        site.namespace.run("ip", "link", "delete", "sw6")
        process.await_log("sw6 is gone")
        site.namespace.link("sw6", "our6")
        process.await_log("sw6 is up")
        client = Client(address(folder), site.tls, "controller")
        client.describe()
        client.write(pb.Update(port=pb.Port(port=1)), pb.Update(port=pb.Port(port=2)), site.station(B, 2))
        wires = [site.namespace.socket(name) for name in ("our5", "our6")]
        wires[0].send(frame(B, 99))
        assert wires[1].receive() == frame(B, 99)
        client.close()
        for wire in wires:
            wire.close()
    shutil.rmtree(folder)
