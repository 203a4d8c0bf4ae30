"""How the soft switch starts and ends: its configuration, what the environment lacks, signals."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.addresses import free_address
from tests.switch.process.conftest import EXAMPLE, Site
from tests.switch.process.harness import Client, Process, address, configuration, executable, running

Change = Callable[[dict[str, Any]], None]


def ends(folder: Path, text: str) -> tuple[int, list[str]]:
    """The exit code and the lines of a switch with this configuration."""
    path = folder / "soft.json"
    path.write_text(text, encoding="utf-8")
    done = subprocess.run([executable(EXAMPLE), path], capture_output=True, text=True, timeout=20)
    assert done.stdout == ""
    return done.returncode, done.stderr.splitlines()


@pytest.mark.parametrize(
    ("change", "code", "why"),
    [
        (lambda c: c.update(colour="red"), 2, "colour"),
        (lambda c: c.update(ports=7), 2, "is no configuration"),
        (lambda c: c.update(ports=[{"port": 512, "interface": "lo"}]), 2, "port 512: the switch has ports 0 to 511"),
        (lambda c: c.update(ports=[{"port": 5}]), 2, "port 5 has no interface"),
        (
            lambda c: c.update(ports=[{"port": 1, "interface": "lo"}, {"port": 1, "interface": "lo"}]),
            2,
            "port 1 has two interfaces",
        ),
        (
            lambda c: c.update(ports=[{"port": 1, "interface": "lo"}, {"port": 2, "interface": "lo"}]),
            2,
            "interface lo is in ports 1 and 2",
        ),
        (lambda c: c.update(ports=[{"port": 1, "interface": "nothing0"}]), 3, "no network interface `nothing0`"),
        (lambda c: c.update(ports=[{"port": 1, "interface": "n" * 16}]), 3, "no network interface"),
        (lambda c: c.update(user="nobody-of-that-name"), 3, "there is no user `nobody-of-that-name`"),
        (lambda c: c["tls"].update(key="/nowhere/key"), 3, "the key cannot be read: /nowhere/key"),
        (lambda c: c.update(tls={}), 2, "tls.authority"),
        (lambda c: c.update(listen=""), 2, "listen"),
        (lambda c: c.update(listen="192.0.2.1:4000"), 3, "cannot listen on 192.0.2.1:4000"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(tmp_path: Path, tls: Path, change: Change, code: int, why: str) -> None:
    config = configuration(tmp_path, tls, {})
    change(config)
    found, lines = ends(tmp_path, json.dumps(config))
    assert found == code, lines
    errors = [line for line in lines if line.startswith(f"{EXAMPLE}_switch: error: ") and why in line]
    assert len(errors) == 1, lines


def test_the_command_line_is_the_configuration(tmp_path: Path) -> None:
    for arguments in ([], ["a", "b"]):
        done = subprocess.run([executable(EXAMPLE), *arguments], capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (2, f"{EXAMPLE}_switch: error: usage: {EXAMPLE}_switch CONFIG.json\n")
    assert ends(tmp_path, "{")[0] == 2
    done = subprocess.run([executable(EXAMPLE), tmp_path / "absent.json"], capture_output=True, text=True)
    assert done.returncode == 3 and "absent.json" in done.stderr


@pytest.mark.parametrize("asked", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_cleanly(site: Site, asked: signal.Signals) -> None:
    site.process.popen.send_signal(asked)
    assert site.process.popen.wait(5) == 0


def test_it_listens_on_an_address_and_has_no_other_boot_number_twice(tmp_path: Path, tls: Path) -> None:
    listen = free_address()
    boots = set()
    for _ in range(2):
        process = Process(EXAMPLE, configuration(tmp_path, tls, {}, listen=listen), tmp_path, None)
        try:
            process.await_log("listens on")
            client = Client(listen, tls, "controller")
            boots.add(client.describe().boot)
            client.close()
            assert process.stop() == 0
        finally:
            process.popen.kill()
            process.popen.wait()
    assert len(boots) == 2


def test_its_clock_may_be_slower(tmp_path: Path, tls: Path) -> None:
    with running(EXAMPLE, tmp_path, tls, {}, slower=1000):
        client = Client(address(tmp_path), tls, "controller")
        before, first = time.monotonic_ns(), client.statistics().time
        time.sleep(0.2)
        passed = client.statistics().time - first
        client.close()
    assert 0.2e9 / 1000 - 1 <= passed <= (time.monotonic_ns() - before) / 1000
