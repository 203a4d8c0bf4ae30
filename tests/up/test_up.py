"""`polysome up` itself: what it makes, keeps running and takes away, with parts that do nothing."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import select
import shutil
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from tests.up.needed import DEPLOYED, need
from tests.up.running import POLYSOME, Up, polysome
from tests.up.small_bundle import rewrite, write

from polysome.deploy import run

need("ping", "setpriv")
pytestmark = DEPLOYED

# Namespaces and /run/polysome are the machine's: no other run of these tests has these names.
NF, SHARED = f"small{os.getpid()}", f"shared{os.getpid()}"
PARTS = ("switch", "nf1", "memory1", "controller")


def namespaces(nf: str = NF) -> list[str]:
    shown = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True)
    return [line.split()[0] for line in shown.stdout.splitlines() if line.startswith(f"ps-{nf}-")]


def inside(namespace: str, *command: str) -> str:
    done = subprocess.run(["ip", "netns", "exec", f"ps-{SHARED}-{namespace}", *command], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("bundle"), NF)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """A run for all tests that only look at it, or mend what they do."""
    found = Up(write(tmp_path_factory.mktemp("shared"), SHARED), tmp_path_factory.mktemp("runs") / "run")
    try:
        found.wait_until_up()
        yield found
    finally:
        found.end(signal.SIGKILL)
        run.clean(found.folder)
        shutil.rmtree(run.PLACE / SHARED, ignore_errors=True)


@pytest.fixture(autouse=True)
def nothing_is_left(tmp_path: Path) -> Iterator[None]:
    assert not namespaces()
    yield
    try:
        run.clean(tmp_path / "run")
        assert not namespaces() and not (run.PLACE / NF).is_symlink()
    finally:
        shutil.rmtree(run.PLACE / NF, ignore_errors=True)


@pytest.fixture
def up(bundle: Path, tmp_path: Path) -> Iterator[Up]:
    found = Up(bundle, tmp_path / "run")
    try:
        yield found
    finally:
        found.end(signal.SIGKILL)


def test_machines_ports_and_cables(shared: Up) -> None:
    assert sorted(namespaces(SHARED)) == sorted(
        f"ps-{SHARED}-{name}" for name in ("management", "switch", "nf1", "memory1", "port-left", "port-right")
    )
    assert "ip netns exec ps-" in shared.said
    # A PCI address is no interface's name; the switch's end of a traffic cable has room for two VLAN tags.
    ends = {
        ("switch", "port0"): 1508,
        ("switch", "port2"): 1508,
        ("switch", "port32"): 9000,
        ("nf1", "data"): 9000,
        ("memory1", "lent"): 9000,
        ("port-left", "eth0"): 1500,
        ("port-right", "eth1"): 1500,
    }
    for (namespace, interface), mtu in ends.items():
        shown = json.loads(inside(namespace, "ip", "-j", "link", "show", interface))[0]
        assert (shown["mtu"], shown["operstate"]) == (mtu, "UP"), (namespace, interface)
        features = inside(namespace, "ethtool", "-k", interface).splitlines()
        kept = [
            line for line in features if line.startswith(("tx-checksumming", "tcp-seg", "generic-")) and ": on" in line
        ]
        assert not kept, (namespace, interface, kept)
    address = json.loads(inside("memory1", "ip", "-j", "address", "show", "lent"))[0]
    assert address["address"] == "02:00:00:00:00:21"
    assert [a["local"] for a in address["addr_info"]] == ["198.51.100.7"]
    inside("switch", "ping", "-c1", "-W2", "192.0.2.21")
    inside("nf1", "ping", "-c1", "-W2", "192.0.2.1")


def test_configurations_differ_only_in_what_is_of_the_machine(shared: Up, bundle: Path) -> None:
    agent = json.loads((shared.folder / "config" / "memory1.json").read_text())
    tls = {name: str(shared.folder / "tls" / f"{file}") for name, file in
           (("authority", "authority.pem"), ("certificate", "memory1.pem"), ("key", "memory1.key"),
            ("revoked", "revoked.pem"))}  # fmt: skip
    assert agent == {"server": "memory1", "device": "soft", "interface": "lent", "user": "nobody", "tls": tls}
    switch = json.loads((shared.folder / "config" / "switch.json").read_text())
    assert {(p["port"], p.get("interface", "")) for p in switch["ports"] if "port" in p} >= {
        (1, "port1"), (2, "port2"), (32, "port32"), (40, "port40"), (69, "")
    }  # fmt: skip
    assert switch["listen"] == "192.0.2.1:50052"
    controller = json.loads((shared.folder / "config" / "controller.json").read_text())
    assert controller["model"] == "software" and controller["admin"] == str(shared.folder / "controller.sock")
    assert controller["nf_servers"] == json.loads((bundle / "switch" / "controller.json").read_text())["nf_servers"]
    keys = {path.stem: path.owner() for path in (shared.folder / "tls").glob("*.key")}  # of who reads them again
    assert keys == {"memory1": "nobody"} | dict.fromkeys(("controller", "operator", "switch", "nf1"), "root")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_everything_goes_at_the_end(up: Up, number: int) -> None:
    up.wait_until_up()
    pids = [up.pid(part) for part in PARTS]
    assert all(pids)
    assert up.end(number) == 0
    assert not namespaces() and not [pid for pid in pids if Path(f"/proc/{pid}").exists()]
    left = {path.name for path in up.folder.iterdir()}
    assert left == {"logs", "lock"} and "everything is down" in up.said


def test_what_a_killed_run_left_behind_goes_first(up: Up, bundle: Path, tmp_path: Path) -> None:
    up.wait_until_up()
    pids = [up.pid(part) for part in PARTS]
    up.end(signal.SIGKILL)
    assert namespaces() and len(run.processes.of_run(pids, up.folder)) == len(PARTS)
    again = Up(bundle, tmp_path / "elsewhere")
    try:
        again.wait_until_up()
        assert not run.processes.of_run(pids, up.folder)
        assert not (up.folder / run.RECORD).exists()
    finally:
        assert again.end() == 0


def test_a_part_that_dies_is_started_again(shared: Up) -> None:
    before = shared.pid("memory1")
    os.kill(before, signal.SIGKILL)
    shared.wait_for("memory1 ended with signal SIGKILL; it is started again in 0.2 s (started with", 5)
    deadline = time.monotonic() + 5
    while shared.pid("memory1") in (0, before) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert shared.pid("memory1") not in (0, before)
    assert shared.log("memory1").count("started with") >= 1


def test_a_second_run_is_refused(shared: Up, tmp_path: Path) -> None:
    done = polysome("up", write(tmp_path / "bundle", SHARED), "--run-folder", tmp_path / "elsewhere")
    assert done.returncode == 3 and f"process {shared.process.pid} runs {SHARED}" in done.stderr, done.stderr
    assert shared.status().nf == SHARED


def test_namespaces_of_others_stay(bundle: Path, tmp_path: Path) -> None:
    name = f"ps-{NF}-nf1"
    subprocess.run(["ip", "netns", "add", name], check=True)
    try:
        done = polysome("up", bundle, "--run-folder", tmp_path / "run")
        assert done.returncode == 3 and name in done.stderr and f"ip netns del {name}" in done.stderr
        assert namespaces() == [name]
    finally:
        subprocess.run(["ip", "netns", "del", name], check=True)


def test_folders_of_others_stay(bundle: Path, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "kept").write_text("mine")
    done = polysome("up", bundle, "--run-folder", tmp_path / "run")
    assert done.returncode == 3 and "no run's of `polysome up`" in done.stderr
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["kept"]


@pytest.mark.parametrize("said", ["", "1234\n"])
def test_a_folder_with_a_lock_of_another_kind_stays(bundle: Path, tmp_path: Path, said: str) -> None:
    """As many programs have one: what is called as ours is there would go."""
    place = tmp_path / "run"
    for name in ("config", "state", "tls", "logs"):
        (place / name).mkdir(parents=True)
        (place / name / "kept").write_text("mine")
    (place / "lock").write_text(said)
    done = polysome("up", bundle, "--run-folder", place)
    assert done.returncode == 3 and "no run's of `polysome up`" in done.stderr
    assert sorted(path.parent.name for path in place.rglob("kept")) == ["config", "logs", "state", "tls"]


def test_a_start_that_fails_leaves_nothing(bundle: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(bundle, broken)
    rewrite(broken, "deploy/certificates.sh", "echo no entropy today >&2; exit 1\n")
    done = polysome("up", broken, "--run-folder", tmp_path / "run")
    assert done.returncode == 3 and "certificates.sh failed: no entropy today" in done.stderr
    assert not namespaces()


def test_the_compiler_is_heard(bundle: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(bundle, broken)
    rewrite(broken, "runtime/waits.cpp", "int main() { return none; }\n")
    done = polysome("up", broken, "--run-folder", tmp_path / "run")
    assert done.returncode == 3 and "does not build" in done.stderr and "'none'" in done.stderr
    assert not namespaces()


def test_building_ends_when_it_is_asked_to(bundle: Path, tmp_path: Path) -> None:
    slow = tmp_path / "slow"
    shutil.copytree(bundle, slow)
    waits = f"execute_process(COMMAND sleep 300.{os.getpid()})\n"
    rewrite(slow, "nf/CMakeLists.txt", (slow / "nf" / "CMakeLists.txt").read_text() + waits)
    up = Up(slow, tmp_path / "run")
    try:
        asleep = b"sleep\0" + f"300.{os.getpid()}".encode() + b"\0"
        deadline = time.monotonic() + 20
        while asleep not in commands() and time.monotonic() < deadline:
            time.sleep(0.05)
        assert asleep in commands()
        assert up.end(signal.SIGTERM) == 0 and asleep not in commands()
        assert {path.name for path in up.folder.iterdir()} == {"lock"}
    finally:
        up.end(signal.SIGKILL)


def commands() -> list[bytes]:
    """Of all processes."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            found.append((place / "cmdline").read_bytes())
    return found


@pytest.mark.parametrize(("what", "said"), [("nothing", "there is no folder"), ("no bundle", "is no bundle")])
def test_what_is_no_bundle(tmp_path: Path, what: str, said: str) -> None:
    folder = tmp_path / "x"
    if what == "no bundle":
        folder.mkdir()
    done = polysome("up", folder)
    assert done.returncode == 2 and said in done.stderr and "polysome compile" in done.stderr


def test_a_configuration_that_is_none(bundle: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(bundle, broken)
    rewrite(broken, "rdma/memory1.json", '{"serfer": "memory1"}')
    done = polysome("up", broken, "--run-folder", tmp_path / "run")
    assert done.returncode == 2 and "memory1.json is no AgentConfig" in done.stderr and "serfer" in done.stderr


def test_without_root() -> None:
    reads = "+dac_read_search"  # the tests' own files, wherever they are
    prefix = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", f"--inh-caps={reads}")
    prefix += (f"--ambient-caps={reads}",)
    done = polysome("up", "/usr", prefix=prefix)
    assert done.returncode == 3 and "the rights of root" in done.stderr, done.stderr


def test_everything_that_is_missing_is_said_at_once(
    bundle: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Without any program on the path; what is in /usr/sbin is found all the same."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CXX", "no-such-compiler")
    done = polysome("up", bundle)
    assert done.returncode == 3
    for what in ("`cmake`", "`protoc`", "`openssl`", "no-such-compiler", "apt install"):
        assert what in done.stderr, done.stderr


def test_status_and_top(shared: Up) -> None:
    done = polysome("status", SHARED)
    assert done.returncode == 0, done.stderr
    for text in (f"{SHARED} at unix:", "healthy", "memory1", "right", "1.25k", "ttl expired"):
        assert text in done.stdout, done.stdout
    assert polysome("top", shared.folder).stdout.startswith(f"{SHARED} at unix:")
    assert json.loads(polysome("status", shared.folder, "--json").stdout)["active"] == "nf1"


def test_status_of_nothing(tmp_path: Path) -> None:
    done = polysome("status", f"no-{NF}")
    assert done.returncode == 2 and f"there is no deployment no-{NF}" in done.stderr
    (tmp_path / "tls").mkdir()
    done = polysome("status", "--controller", "127.0.0.1:1", "--tls", tmp_path / "tls")
    assert done.returncode == 2 and "authority.pem cannot be read" in done.stderr
    done = polysome("status", "--controller", "127.0.0.1:1")
    assert done.returncode == 2 and "belong together" in done.stderr


def test_status_without_an_answer(shared: Up) -> None:
    os.kill(shared.pid("controller"), signal.SIGSTOP)
    try:
        done = polysome("status", shared.folder)
        assert done.returncode == 3 and "no answer from the controller" in done.stderr
    finally:
        os.kill(shared.pid("controller"), signal.SIGCONT)


def on_terminal(*arguments: str | Path, until: str, keys: bytes = b"") -> tuple[int, str]:
    """A command whose terminal this is: its code, and what it has shown; `keys` are pressed when it shows `until`."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 140, 0, 0))
    command = [*POLYSOME, *map(str, arguments)]
    process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, start_new_session=True)
    os.close(slave)
    shown, deadline = b"", time.monotonic() + 60
    try:
        while time.monotonic() < deadline:
            if not select.select([master], [], [], 1)[0]:
                continue
            try:
                shown += os.read(master, 65536)
            except OSError:  # it has ended
                break
            if keys and until.encode() in shown:
                os.write(master, keys)
                keys = b""
        return process.wait(30), shown.decode(errors="replace")
    finally:
        process.kill()
        process.wait()
        os.close(master)


def test_top_on_a_terminal_ends_at_q(shared: Up) -> None:
    code, shown = on_terminal("top", shared.folder, until="memory1", keys=b"q")
    assert code == 0 and "ttl expired" in shown and "healthy" in shown


def test_the_picture_of_a_run(bundle: Path, tmp_path: Path) -> None:
    code, shown = on_terminal("up", bundle, "--run-folder", tmp_path / "run", "--seconds", "4", until="")
    assert code == 0, shown
    for text in ("ip netns exec ps-", "healthy", "memory1", "all parts are up", "everything is down"):
        assert text in shown, shown
