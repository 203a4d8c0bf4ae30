"""What a bundle's scripts do on a machine: checks, certificates, units."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest
from tests.bundle.helpers import changed, needs, run

COREUTILS = ("cat", "cut", "head", "id", "mkdir", "mktemp", "mv", "rm", "sort", "tail", "tr", "uname")
# What a soft switch, an agent and an NF host are built and run with: tool, and the package that has it.
NEEDED = {
    "clang": "a C++20 compiler",
    "cmake": "cmake 3.18",
    "ninja-build": "ninja or make",
    "protobuf-compiler": "protoc",
    "protobuf-compiler-grpc": "grpc_cpp_plugin",
    "pkg-config": "pkg-config",
    "python3": "python3 3.9",
    "python3-grpcio": "grpcio 1.51",
    "python3-protobuf": "protobuf 3.20.3",
    "python3-prometheus-client": "prometheus-client 0.19",
    "openssl": "openssl",
}


def bare(folder: Path) -> Path:
    """A folder for PATH with little more than a machine needs to start."""
    folder.mkdir()
    for name in COREUTILS:
        found = shutil.which(name)
        if found is not None:
            (folder / name).symlink_to(found)
    return folder


def script(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)


def test_it_lists_the_machines(soft: Path) -> None:
    done = run(soft, "./install.sh")
    assert done.returncode == 0
    assert [line.split()[:2] for line in done.stdout.splitlines()[1:5]] == [
        ["switch", "switch"],
        ["memory1", "rdma"],
        ["memory2", "rdma"],
        ["nf1", "nf"],
    ]


def test_everything_that_is_missing_is_listed_at_once(soft: Path, tmp_path: Path) -> None:
    done = run(soft, "./install.sh", "--check", env={"PATH": str(bare(tmp_path / "bin"))})
    assert done.returncode == 3, done.stdout + done.stderr
    assert not done.stderr
    missing = [line for line in done.stdout.splitlines() if line.startswith("missing ")]
    for package, what in NEEDED.items():
        assert any(what in line for line in missing), (what, done.stdout)
        assert f"-> apt install {package}" in done.stdout
    together = done.stdout.splitlines()[-1]
    assert together.startswith("packages at once: apt install ")
    assert set(NEEDED) <= set(together.split())
    assert f"{len(missing)} things are missing" in done.stdout


def test_a_machine_lacks_its_own_hardware_too(soft: Path, tmp_path: Path) -> None:
    done = run(soft, "./install.sh", "--check", "memory1", env={"PATH": str(bare(tmp_path / "bin"))})
    assert done.returncode == 3
    if not Path("/sys/class/net/eth1").exists():
        assert "missing  network interface eth1" in done.stdout
    assert "python3" not in done.stdout  # an RDMA server runs none
    assert "TCP port 50051" in done.stdout


def test_old_tools_do_not_count(soft: Path, tmp_path: Path) -> None:
    tools = bare(tmp_path / "bin")
    script(tools, "clang++", "echo 'Debian clang version 11.0.1-2'")
    script(tools, "g++", "echo 'g++ (Debian 12.2.0-14) 12.2.0'")
    script(tools, "cmake", "echo 'cmake version 3.9.6'")
    done = run(soft, "./install.sh", "--check", env={"PATH": str(tools)})
    assert "ok       g++ 12.2.0" in done.stdout
    assert "missing  cmake 3.18 or newer, not 3.9.6" in done.stdout


def test_a_tofino_needs_its_sde(tofino: Path, tmp_path: Path) -> None:
    done = run(tofino, "./install.sh", "--check", "switch", env={"PATH": str(bare(tmp_path / "bin"))})
    assert "missing  the environment variable SDE" in done.stdout
    sde = tmp_path / "sde"
    schema = "share/bf_rt_shared/bf_rt_tm_tf1.json"
    for name in ("bin/bf-p4c", "bin/bf_switchd", "lib/python3.11/site-packages/tofino/bfrt_grpc/client.py", schema):
        path = sde / "install" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\n")
        path.chmod(0o755)
    done = run(tofino, "./install.sh", "--check", "switch", env={"PATH": os.environ["PATH"], "SDE": str(sde)})
    assert f"ok       SDE in {sde}" in done.stdout and "SDE_INSTALL" not in done.stdout
    assert "ok       tables of the traffic manager" in done.stdout
    (sde / "install" / schema).unlink()
    done = run(tofino, "./install.sh", "--check", "switch", env={"PATH": os.environ["PATH"], "SDE": str(sde)})
    assert f"missing  {sde}/install/share/bf_rt_shared/bf_rt_tm_*.json" in done.stdout


def test_ports_in_use_are_found(soft: Path) -> None:
    """By the kernel's tables, so with no tool: here one of ours that listens."""
    import socket

    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        port = str(server.getsockname()[1])
        checked = run(
            soft,
            "/bin/sh",
            "-c",
            f"LISTEN={port} UNIT=none.service; export LISTEN UNIT; exec deploy/preflight/ports.sh",
        )
        assert checked.stdout.startswith(f"missing\tTCP port {port}"), checked.stdout
    checked = run(
        soft, "/bin/sh", "-c", f"LISTEN={port} UNIT=none.service; export LISTEN UNIT; exec deploy/preflight/ports.sh"
    )
    assert checked.stdout == f"ok\tTCP port {port} is free\t\t\n"


@pytest.mark.skipif(shutil.which("ip") is None, reason="no iproute2")
def test_addresses_of_the_site_are_those_that_the_interface_has(soft: Path) -> None:
    """Loopback stands for it: zeros, and 127.0.0.1."""

    def checked(mac: str, ip: str) -> str:
        says = f"INTERFACE=lo MAC={mac} IP={ip}; export INTERFACE MAC IP; exec deploy/preflight/network.sh"
        return str(run(soft, "/bin/sh", "-c", says).stdout)

    right = checked("00:00:00:00:00:00", "127.0.0.1")
    assert right.count("ok\t") == 2 and "missing" not in right, right
    wrong = checked("02:00:00:00:00:21", "127.0.0.9")
    assert wrong.startswith("missing\tMAC address 02:00:00:00:00:21 on lo (it is 00:00:00:00:00:00)"), wrong
    assert "missing\taddress 127.0.0.9 on lo" in wrong


@pytest.mark.skipif(not os.access("/proc/net/fib_trie", os.R_OK), reason="the kernel does not list its addresses")
def test_a_machine_knows_itself_by_its_address(soft: Path, tmp_path: Path) -> None:
    shutil.copytree(soft / "deploy", tmp_path / "deploy")
    shutil.copytree(soft / "switch", tmp_path / "switch")
    shutil.copy(soft / "install.sh", tmp_path)
    changed(tmp_path / "deploy" / "machines" / "memory2.conf", "ADDRESS=192.0.2.22", "ADDRESS=127.0.0.1")
    done = run(tmp_path, "./install.sh", "--check")
    assert done.stdout.startswith("this is memory2\n") and "TCP port 50051" in done.stdout
    assert run(soft, "./install.sh", "--check").stdout.startswith("this is none of switch memory1 memory2 nf1: ")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--chekc",), "--chekc: there is no such option"),
        (("memory9",), "memory9: there is no such machine"),
        (("nf1", "switch"), "switch: only one machine at a time"),
    ],
)
def test_mistakes_on_the_command_line(arguments: tuple[str, ...], said: str, soft: Path) -> None:
    done = run(soft, "./install.sh", *arguments)
    assert done.returncode == 2 and said in done.stderr and "memory1" in done.stderr


def test_installing_without_what_is_needed_changes_nothing(soft: Path, tmp_path: Path) -> None:
    before = Path("/opt/polysome/load_balancer").exists()
    done = run(soft, "./install.sh", "nf1", env={"PATH": str(bare(tmp_path / "bin"))})
    assert done.returncode == 3 and "things are missing" in done.stdout
    assert Path("/opt/polysome/load_balancer").exists() == before


# ---------------------------------------------------------------- certificates


def certificates(bundle: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    return run(bundle, "deploy/certificates.sh", *arguments)


def test_certificates_are_valid_for_each_part_and_no_other(soft: Path, tmp_path: Path) -> None:
    needs("openssl")
    folder = tmp_path / "tls"
    assert certificates(soft, folder).returncode == 0
    authority = folder / "authority.pem"
    for name in ("controller", "operator", "switch", "memory1", "memory2", "nf1"):
        for wanted, code in ((name, 0), ("memory1" if name != "memory1" else "nf1", 2)):
            verify = run(folder, "openssl", "verify", "-CAfile", authority, "-verify_hostname", wanted, f"{name}.pem")
            assert (verify.returncode == 0) == (code == 0), verify.stderr
        assert stat.S_IMODE((folder / f"{name}.key").stat().st_mode) == 0o600
        text = run(folder, "openssl", "x509", "-in", f"{name}.pem", "-noout", "-text").stdout
        assert "prime256v1" in text and f"CN = {name}" in text and f"DNS:{name}" in text
    assert sorted(p.name for p in folder.iterdir() if p.name.startswith(".")) == []


def test_certificates_are_never_overwritten(soft: Path, tmp_path: Path) -> None:
    needs("openssl")
    folder = tmp_path / "tls"
    certificates(soft, folder)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    again = certificates(soft, folder)
    assert again.returncode == 2 and "nothing is overwritten" in again.stderr
    for name in ("nf1.pem", "nf1.key"):
        (folder / name).unlink()
    added = certificates(soft, "--add", folder)
    assert added.returncode == 0 and added.stdout.strip().endswith(": nf1")
    after = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert {name for name in after if after[name] != before[name]} == {"nf1.pem", "nf1.key"}
    assert "nothing was missing" in certificates(soft, "--add", folder).stdout
    (folder / "nf1.key").unlink()
    half = certificates(soft, "--add", folder)
    assert half.returncode == 2 and "nf1.pem but not nf1.key" in half.stderr
    (folder / "nf1.pem").unlink()
    (folder / "authority.key").unlink()
    assert certificates(soft, "--add", folder).returncode == 2


def test_the_check_of_certificates_knows_bad_ones(soft: Path, tmp_path: Path) -> None:
    needs("openssl")
    folder = tmp_path / "tls"
    certificates(soft, folder)
    bundle = tmp_path / "bundle"
    shutil.copytree(soft / "deploy", bundle / "deploy")
    conf = bundle / "deploy" / "bundle.conf"
    conf.write_text(conf.read_text().replace("TLS=/etc/polysome/load_balancer/tls", f"TLS={folder}"))
    check = ("deploy/preflight/tls.sh", "memory1")
    assert run(bundle, *check).stdout.splitlines()[1:] == ["ok\tcertificate of memory1\t\t"]
    shutil.copy(folder / "memory2.key", folder / "memory1.key")
    assert "missing\tthe key of memory1" in run(bundle, *check).stdout
    shutil.copy(folder / "memory2.pem", folder / "memory1.pem")
    assert "missing\ta valid certificate of memory1" in run(bundle, *check).stdout
    (folder / "memory1.key").unlink()
    assert f"missing\tcertificate of memory1: {folder}/memory1.key" in run(bundle, *check).stdout


# ---------------------------------------------------------------- what others say of scripts and units


def test_shellcheck_has_nothing_to_say(soft: Path, tofino: Path) -> None:
    shellcheck = needs("shellcheck")
    for bundle in (soft, tofino):
        scripts = sorted(path.relative_to(bundle).as_posix() for path in bundle.rglob("*.sh"))
        # Variables come from files that shellcheck does not follow.
        done = run(bundle, shellcheck, "--exclude=SC1090,SC1091,SC2153,SC2154", *scripts)
        assert done.returncode == 0, done.stdout


def test_systemd_knows_all_of_the_units(soft: Path, tofino: Path, tmp_path: Path) -> None:
    needs("systemd-analyze")
    for bundle in (soft, tofino):
        units = tmp_path / bundle.parent.name
        units.mkdir()
        for path in bundle.rglob("*.service"):
            lines = path.read_text().splitlines()
            # What they start is not installed here.
            text = "\n".join("ExecStart=/bin/true" if line.startswith("ExecStart=") else line for line in lines)
            (units / path.name).write_text(text + "\n")
        assert len(list(units.iterdir())) == 4
        done = run(units, "systemd-analyze", "verify", *(f"./{path.name}" for path in units.iterdir()))
        said = [line for line in done.stderr.splitlines() if "polysome" in line]
        assert not said, "\n".join(said)


# ---------------------------------------------------------------- installing


def installed(bundle: Path, tools: Path, machine: str) -> list[str]:
    """What the installation of a machine says that has changed and has to be done."""
    env = {"PATH": f"{tools}:{os.environ['PATH']}"}
    done = run(bundle, "/bin/sh", "deploy/install-machine.sh", machine, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()[:-1]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root installs")
def test_an_installation_says_what_has_to_be_done(soft: Path, tmp_path: Path) -> None:
    """In folders of the test's, as an account that exists; a stand-in for cmake makes the programs."""
    bundle, place = tmp_path / "bundle", tmp_path / "place"
    shutil.copytree(soft, bundle)
    conf = bundle / "deploy" / "bundle.conf"
    text = conf.read_text().replace("=/", f"={place}/").replace("ACCOUNT=polysome", "ACCOUNT=root")
    conf.write_text(text)
    tools = tmp_path / "tools"
    tools.mkdir()
    script(
        tools,
        "cmake",
        'case $1 in --build) mkdir -p "$2" && cat nf/CMakeLists.txt rdma/agent/CMakeLists.txt >"$2/$4" ;; esac',
    )
    script(tools, "systemctl", "exit 0")

    first = installed(bundle, tools, "nf1")
    assert "restart polysome-nf.service" in first
    etc, units = place / "etc/polysome/load_balancer", place / "etc/systemd/system"
    assert (etc / "nf.json").read_bytes() == (bundle / "nf" / "nf1.json").read_bytes()
    assert os.access(place / "opt/polysome/load_balancer/bin/polysome-nf", os.X_OK)
    assert (units / "polysome-nf.service").is_file()
    assert installed(bundle, tools, "nf1") == ["restart polysome-nf.service"]  # as long as it was not done
    pending = place / "opt/polysome/load_balancer/pending"
    assert (
        "ExecStartPre=+-/bin/rm -f /opt/polysome/load_balancer/pending/%n"
        in (units / "polysome-nf.service").read_text()
    )
    (pending / "polysome-nf.service").unlink()
    assert installed(bundle, tools, "nf1") == []

    # What it is built from has changed, to older times than the build's: it is built from nothing.
    work = place / "opt/polysome/load_balancer/build/nf"
    (work / "old.o").touch()
    changed(bundle / "manifest.json", '"nf/CMakeLists.txt": "', '"nf/CMakeLists.txt": "0')
    (bundle / "nf" / "CMakeLists.txt").write_text("# newer\n")
    os.utime(bundle / "nf" / "CMakeLists.txt", (0, 0))
    changes = installed(bundle, tools, "nf1")
    assert [line.rpartition("/")[2] for line in changes] == ["polysome-nf", "restart polysome-nf.service"]
    assert not (work / "old.o").exists()
    (work / "new.o").touch()
    (pending / "polysome-nf.service").unlink()
    assert installed(bundle, tools, "nf1") == [] and (work / "new.o").exists()

    (bundle / "nf" / "config.bin").write_bytes(b"other")
    assert installed(bundle, tools, "nf1") == [f"changed {etc}/config.bin"]
    with (bundle / "nf" / "nf1.json").open("a") as config:
        config.write("\n")
    assert installed(bundle, tools, "nf1") == [f"changed {etc}/nf.json", "restart polysome-nf.service"]

    tls = etc / "tls"
    tls.mkdir()
    (bundle / "nf" / "config.bin").write_bytes(b"one more")
    (tls / "controller.key").touch()
    switch = installed(bundle, tools, "switch")
    assert {"configure", "restart polysome-switch.service", "restart polysome-controller.service"} <= set(switch)
    program = place / "opt/polysome/load_balancer/bin/polysome-operate"
    assert "-m polysome_controller.operate" in program.read_text()
    for path in pending.iterdir():
        path.unlink()
    (bundle / "nf" / "config.bin").write_bytes(b"another")
    assert installed(bundle, tools, "switch") == [f"changed {etc}/config.bin", "configure"]
