"""The DPDK program on net_pcap devices, without hugepages and without root, sends what the interpreter sends."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.backends.examples import EXAMPLES, interpreted, packets, program, write_folder

from polysome.backends.nf_cpp import build

pytestmark = pytest.mark.slow

CLIENTS = EXAMPLES / "load_balancer" / "clients.pcap"
EAL = ["--no-huge", "-m", "256", "--no-shconf", "--no-pci", "--no-telemetry", "-l", "0", "--log-level=lib.*:error"]


def flags(kind: str) -> list[str]:
    """DPDK's flags; its headers count as the system's, and without the generic -march."""
    if shutil.which("pkg-config") is None or subprocess.run(["pkg-config", "--exists", "libdpdk"]).returncode != 0:
        pytest.skip("needs DPDK. Debian, Ubuntu: apt install libdpdk-dev pkg-config")
    found = subprocess.run(["pkg-config", kind, "libdpdk"], check=True, capture_output=True, text=True).stdout.split()
    return [flag.replace("-I", "-isystem", 1) for flag in found if not flag.startswith("-march")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The load balancer as `polysome compile` writes it, with its DPDK program built."""
    missing = build.missing()
    if missing is not None:
        pytest.skip(missing)
    compiler = build.compiler()
    assert compiler is not None
    headers, libraries = flags("--cflags"), flags("--libs")
    target = tmp_path_factory.mktemp("dpdk")
    write_folder(target, program("load_balancer", sticky=10_000))
    options = ["-std=c++20", "-O1", "-march=native", "-Wall", "-Wextra", "-Werror"]
    sources = ["-I", str(target / "runtime"), str(target / "dpdk.cpp"), "-o", str(target / "program")]
    done = subprocess.run(
        [*compiler, *options, *headers, *sources, *libraries], capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return target


@contextmanager
def running(
    folder: Path, place: Path, inputs: Mapping[str, Path], *arguments: object
) -> Iterator[subprocess.Popen[str]]:
    devices = []
    for k, port in enumerate(("clients", "servers")):
        receive = f"rx_pcap={inputs[port]}," if port in inputs else ""
        devices += ["--vdev", f"net_pcap{k},{receive}tx_pcap={place / port}.pcap"]
    command = [str(folder / "program"), *EAL, *devices, "--", *map(str, arguments)]
    # DPDK keeps a folder for itself in one of these.
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(place), "RUNTIME_DIRECTORY": str(place)}
    process = subprocess.Popen(
        command, cwd=place, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    watchdog = threading.Timer(60, process.kill)
    watchdog.start()
    try:
        yield process
    finally:
        watchdog.cancel()
        process.kill()
        process.communicate(timeout=60)


def until(process: subprocess.Popen[str], pattern: str) -> None:
    """Reads its messages, statistics of every second among them, up to one that `pattern` is found in."""
    assert process.stderr is not None
    lines = []
    for line in process.stderr:
        lines.append(line)
        if re.search(pattern, line):
            return
    raise AssertionError(f"the program ended: {''.join(lines)[-2000:]}")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_capture_gives_what_the_interpreter_gives(folder: Path, tmp_path: Path, number: signal.Signals) -> None:
    machine, expected = interpreted(program("load_balancer"), {"clients": CLIENTS})
    arrived = machine.counters.packets_in
    with running(folder, tmp_path, {"clients": CLIENTS}, "--config", folder / "config.bin") as process:
        until(process, r"in +[1-9][0-9]*/s")
        until(process, r"in +0/s")
        process.send_signal(number)
        out, error = process.communicate()
        assert process.returncode == 0, error
    counts = {name.strip(): int(count) for name, count in (line.rsplit(" ", 1) for line in out.splitlines())}
    dropped = {f"dropped: {reason}": n for reason, n in machine.counters.dropped.items()}
    sent = machine.counters.sent
    own = {"packets in": arrived, "sent": sent, "held": 0, "copies": sent, "emitted": 0}
    assert counts == {**own, **dropped, "lost before they were received": 0, "not taken for sending": 0}
    for port in ("clients", "servers"):
        assert packets(tmp_path / f"{port}.pcap") == expected.get(port, []), port


def test_sighup_reads_the_config_again_and_keeps_the_old_one_if_it_is_malformed(folder: Path, tmp_path: Path) -> None:
    blob = tmp_path / "config.bin"
    blob.write_bytes((folder / "config.bin").read_bytes())
    with running(folder, tmp_path, {}, "--config", blob) as process:
        until(process, "held 0")
        changes = (
            (blob.read_bytes(), "config replaced"),
            (b"\0\1", "not one of this NF: it stays"),
            (None, "cannot read"),
        )
        for data, said in changes:
            blob.unlink() if data is None else blob.write_bytes(data)
            process.send_signal(signal.SIGHUP)
            until(process, said)
        process.send_signal(signal.SIGTERM)
        process.communicate()
        assert process.returncode == 0


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--colour", "x"], 2, "no option `--colour`"),
        (["--config"], 2, "a value"),
        (["--config", "/no/such"], 3, "/no/such"),
    ],
)
def test_wrong_arguments(folder: Path, tmp_path: Path, arguments: list[str], code: int, said: str) -> None:
    with running(folder, tmp_path, {}, *arguments) as process:
        _, error = process.communicate()
        assert process.returncode == code and said in error


def test_the_number_of_ports_must_be_the_nfs(folder: Path, tmp_path: Path) -> None:
    command = [str(folder / "program"), *EAL, "--vdev", "net_null0", "--"]
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 3 and "the NF has 2 ports, but DPDK has 1" in done.stderr
