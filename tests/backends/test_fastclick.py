"""The FastClick element, built against a FastClick and run on captures, sends what the interpreter sends.

FASTCLICK_DIR says where FastClick is installed; without it what needs FastClick is skipped.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.backends.examples import EXAMPLES, interpreted, packets, program, write_folder

from polysome.backends.fastclick.emit import emit
from polysome.ir import program as ir

INPUTS = {
    "load_balancer": {"clients": "clients.pcap"},
    "nat": {"inside": "inside_only.pcap", "outside": "outside_only.pcap"},
    "shaper": {"lan": "lan.pcap"},
}


def fastclick() -> Path:
    given = os.environ.get("FASTCLICK_DIR")
    if not given:
        pytest.skip("FASTCLICK_DIR is not set: the element is not built. Set it to where FastClick is installed")
    if not (Path(given) / "bin" / "click").exists():
        pytest.fail(f"FASTCLICK_DIR={given}: there is no bin/click in it")
    return Path(given)


def built(folder: Path, program: ir.Program) -> Path:
    """The package's folder, with the package built in it."""
    if shutil.which("make") is None:
        pytest.skip("needs make. Debian, Ubuntu: apt install make g++")
    write_folder(folder, program)
    package = folder / "fastclick"
    command = ["make", "-C", package, f"FASTCLICK_DIR={fastclick()}", "PACKAGE_CXXFLAGS=-std=gnu++20 -O1 -Wall -Wextra"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr[-3000:]
    ours = [line for line in done.stderr.splitlines() if "warning" in line and "polysome" in line]
    assert not ours, "\n".join(ours)
    return package


def click(package: Path, *arguments: object) -> str:
    command = [str(fastclick() / "bin" / "click"), *map(str, arguments)]
    environment = {**os.environ, "CLICKPATH": "."}
    done = subprocess.run(command, cwd=package, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def handlers(text: str) -> tuple[int, int, int, dict[str, int]]:
    """What the capture configuration prints at its end: in, sent, held, drops by reason."""
    came, sent, held, *drops = [line for line in text.splitlines() if line]
    by_reason = {reason: int(count) for count, reason in (line.split(" ", 1) for line in drops)}
    return int(came), int(sent), int(held), by_reason


@pytest.mark.slow
@pytest.mark.parametrize("example", INPUTS)
def test_captures_give_what_the_interpreter_gives(example: str, tmp_path: Path) -> None:
    fastclick()
    nf = program(example)
    captures = {port: EXAMPLES / example / file for port, file in INPUTS[example].items()}
    machine, expected = interpreted(nf, captures)
    package = built(tmp_path, nf)
    inputs = [f"in_{port}={path}" for port, path in captures.items()]
    text = click(package, f"{example}-capture.click", *inputs)
    for port in nf.ports:
        assert packets(package / f"{port}-out.pcap") == expected.get(port, []), port
    counters = machine.counters
    assert handlers(text) == (counters.packets_in, counters.sent, machine.held, counters.dropped)
    assert sum(map(len, expected.values())) > 0


@contextmanager
def control(package: Path, configuration: str) -> Iterator[socket.socket]:
    """A running configuration with a control socket."""
    path = package / "control"
    (package / "live.click").write_text(configuration, encoding="utf-8")
    command = [str(fastclick() / "bin" / "click"), "-u", str(path), "live.click"]
    running = subprocess.Popen(command, cwd=package, env={**os.environ, "CLICKPATH": "."}, stderr=subprocess.PIPE)
    try:
        end = time.monotonic() + 30
        while not path.exists() and running.poll() is None and time.monotonic() < end:
            time.sleep(0.05)
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(path))
            connection.settimeout(10)
            connection.recv(1000)
            yield connection
    finally:
        running.terminate()
        running.communicate(timeout=20)


def ask(connection: socket.socket, line: str) -> str:
    connection.sendall(line.encode() + b"\n")
    time.sleep(0.2)
    return connection.recv(10_000).decode()


@pytest.mark.slow
def test_handlers_read_counters_and_replace_config(tmp_path: Path) -> None:
    fastclick()
    package = built(tmp_path, program("load_balancer", sticky=100))
    blob = tmp_path / "config.bin"
    source = (
        'require(package "polysome_load_balancer"); nf :: PolysomeLoadBalancer;\n'
        f"FromDump({EXAMPLES / 'load_balancer' / 'clients.pcap'}, STOP false, ACTIVE false) -> [0]nf; Idle -> [1]nf;\n"
        "nf[0] -> Discard; nf[1] -> Discard;\n"
    )
    with control(package, source) as connection:
        assert "no config of this NF" in ask(connection, "write nf.config 0001")
        assert "cannot read" in ask(connection, "write nf.config no_such_file")
        assert ask(connection, f"write nf.config {blob}").startswith("200")
        assert ask(connection, f"write nf.config {blob.read_bytes().hex()}").startswith("200")
        assert ask(connection, "write FromDump@2.active true").startswith("200")
        time.sleep(1)
        assert ask(connection, "read nf.in").split()[-1] == "222"
        assert ask(connection, "read nf.drops").split("\n", 2)[2].strip() == "2 not TCP or UDP over IPv4"
        assert ask(connection, "read nf.flows").split()[-1] == "sticky"


@pytest.mark.parametrize("example", sorted(path.parent.name for path in EXAMPLES.glob("*/*.nf")))
def test_every_port_is_connected(example: str) -> None:
    nf = program(example)
    files = emit(nf)
    for kind in ("capture", "dpdk"):
        text = files[f"fastclick/{example}-{kind}.click"].decode()
        for k in range(len(nf.ports)):
            assert text.count(f"-> [{k}]nf;") == 1 and text.count(f"\nnf[{k}] -> ") == 1, (kind, k)


def test_names_do_not_clash_with_those_of_fastclick() -> None:
    text = emit(program("load_balancer"))["fastclick/load_balancer.hh"].decode()
    assert "class PolysomeLoadBalancer " in text and 'port_count() const override { return "2/2"; }' in text
