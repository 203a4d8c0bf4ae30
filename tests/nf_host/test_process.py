"""The host as a process: its configuration, its rights, its end; and where it is built."""

from __future__ import annotations

import json
import pwd
import shutil
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.backends import examples
from tests.nf_host import hosts
from tests.nf_host.test_af_packet import traffic
from tests.testing.traffic.kit import written

from polysome.backends.folder import contents
from polysome.backends.manifest import write
from polysome.ir import program as ir

pytestmark = pytest.mark.slow
NOBODY = "nobody"


def test_it_gives_up_root_and_still_does_all(tls: Path, cable: hosts.Cable, tmp_path: Path) -> None:
    nf = examples.program("load_balancer")
    (tmp_path / "state").mkdir()
    shutil.chown(tmp_path / "state", NOBODY)
    for place in (tmp_path, *tmp_path.parents[:3]):
        place.chmod(place.stat().st_mode | 0o011)
    with hosts.running(hosts.built(nf), tmp_path, cable.far, hosts.config(nf), tls, user=NOBODY, cores=[0, 1]) as host:
        assert "warning: decisions are made on one core, 0" in host.log()
        users = set[str]()
        for task in Path(f"/proc/{host.process.pid}/task").iterdir():
            with suppress(FileNotFoundError, ProcessLookupError):  # gRPC's threads come and go
                users |= {line for line in (task / "status").read_text().splitlines() if line.startswith("Uid")}
        assert users == {"Uid:" + f"\t{pwd.getpwnam(NOBODY).pw_uid}" * 4}
        host.commit(host.prepare(hosts.config(nf)))
        cable.remove()
        hosts.until(lambda: host.describe().mac == bytes(6))
        cable.socket.close()
        cable.make()
        cable.open()
        hosts.until(lambda: host.describe().mac == cable.mac())
        sent, answers = traffic(nf, cable.mac())
        assert cable.ask(sent[0]) == answers[0]
        assert host.end() == 0 and host.log().splitlines()[-1].endswith("info: ends")


def _without(name: str) -> Callable[[Path], None]:
    def change(place: Path) -> None:
        settings = json.loads((place / "nf.json").read_text())
        del settings[name]
        (place / "nf.json").write_text(json.dumps(settings))

    return change


def _file(name: str, text: bytes | None) -> Callable[[Path], None]:
    def change(place: Path) -> None:
        (place / name).unlink(missing_ok=True)
        if text is not None:
            (place / name).write_bytes(text)

    return change


@pytest.mark.parametrize(
    ("more", "change", "code", "words"),
    [
        ({}, _file("nf.json", b"{"), 2, "no configuration"),
        ({"colour": 1}, None, 2, "colour"),
        ({}, _file("nf.json", None), 3, "cannot be read"),
        ({}, _without("interface"), 2, "`interface`"),
        ({}, _without("listen"), 2, "`listen`"),
        ({}, _file("config.bin", b"\xff\xff"), 2, "this is no config of load_balancer"),
        ({}, _file("config.bin", None), 3, "config.bin"),
        ({"interface": "nothing0"}, None, 3, "no network interface `nothing0`"),
        ({"user": "nobody-of-that-name"}, None, 3, "no user `nobody-of-that-name`"),
        ({"state": "/nowhere"}, None, 3, "`state` names /nowhere"),
        ({"listen": "192.0.2.77:1"}, None, 3, "cannot listen on 192.0.2.77:1"),
        ({"cores": [4000]}, None, 2, "core 4000"),
        ({}, _without("tls"), 2, "authority"),
    ],
)
def test_what_is_wrong_is_said(
    more: dict[str, Any], change: Callable[[Path], None] | None, code: int, words: str, tls: Path, tmp_path: Path
) -> None:
    nf = examples.program("load_balancer")
    interface = more.pop("interface", "lo")
    hosts.configured(tmp_path, interface, hosts.config(nf), tls, **more)
    if change is not None:
        change(tmp_path)
    ended = hosts.ended(hosts.built(nf), tmp_path)
    assert ended.returncode == code and words in ended.stderr.splitlines()[-1], ended.stderr
    assert ended.stderr.startswith("load_balancer_fields_af_packet: ")


def test_it_takes_one_argument(tls: Path) -> None:
    program = hosts.built(examples.program("load_balancer"))
    ended = subprocess.run([program], capture_output=True, text=True, check=False, timeout=10)
    assert ended.returncode == 2 and "CONFIG.json" in ended.stderr


def targets(nf: ir.Program, place: Path, *options: str) -> set[str]:
    """What CMake would build of the NF's folder."""
    if shutil.which("cmake") is None:
        pytest.skip("needs the Debian package cmake")
    write(place / "source", contents(nf, b""), {"nf": nf.name})
    options = ("-DCMAKE_INTERPROCEDURAL_OPTIMIZATION=OFF", *options)
    command = ["cmake", "-S", place / "source", "-B", place / "build", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == 0, done.stderr
    listed = subprocess.run(["cmake", "--build", place / "build", "--target", "help"], capture_output=True, text=True)
    return {line.removeprefix("... ").split(":")[0] for line in listed.stdout.splitlines()}


def test_hosts_are_built_where_grpc_is(tls: Path, tmp_path: Path) -> None:
    nf = examples.program("load_balancer")
    here = targets(nf, tmp_path / "with")
    assert {"load_balancer_fields_af_packet", "load_balancer_af_packet"} <= here
    assert ("load_balancer_dpdk" in here) == ("load_balancer_fields_dpdk" in here)
    # Without what finds it, gRPC is not there.
    lacking = targets(nf, tmp_path / "without", "-DCMAKE_DISABLE_FIND_PACKAGE_PkgConfig=ON")
    assert "load_balancer_af_packet" in lacking and not any("fields" in name for name in lacking)


def test_an_nf_with_too_many_ports_has_no_hosts_behind_a_switch(tmp_path: Path) -> None:
    ports = ", ".join(f"p{n}" for n in range(16))
    spec = written(tmp_path, f"use net.l4; nf wide {{ port {ports}; on packet {{ send ports - in_port; }} }}")
    files = contents(spec.program, b"")
    assert "af_packet_host.cpp" in files and not any(name.startswith("fields_") for name in files)
    assert b"fields_af_packet" not in files["CMakeLists.txt"] + files["README.md"]
