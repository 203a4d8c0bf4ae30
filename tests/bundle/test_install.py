"""What a bundle's scripts do on a machine: checks, certificates, units."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest
from tests.bundle.helpers import changed, needs, run
from tests.certificates import Authority

COREUTILS = ("cat", "cut", "head", "id", "mkdir", "mktemp", "mv", "rm", "sort", "tail", "tr", "uname")
# What a soft switch, an agent and an NF host are built and run with: tool, and the package that has it.
NEEDED = {
    "clang": "a C++20 compiler",
    "cmake": "cmake 3.18",
    "ninja-build": "ninja or make",
    "protobuf-compiler": "protoc",
    "protobuf-compiler-grpc": "grpc_cpp_plugin",
    "pkg-config": "pkg-config",
    "python3": "python3 3.11",
    "python3-grpcio": "grpcio 1.51",
    "python3-protobuf": "protobuf 3.20.3",
    "python3-prometheus-client": "prometheus-client 0.19",
    "python3-cryptography": "cryptography 3.3",
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


NAMES = ("controller", "operator", "switch", "memory1", "memory2", "nf1")


def made(bundle: Path, folder: Path) -> Path:
    """All that a deployment has, in one folder."""
    needs("openssl")
    requested = run(bundle, "deploy/request.sh", folder, *(name for name in NAMES if name != "operator"))
    assert requested.returncode == 0, requested.stderr
    renewed = certificates(bundle, "renew", folder)
    assert renewed.returncode == 0, renewed.stderr
    return folder


def texts(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def test_certificates_are_valid_for_each_part_and_no_other(soft: Path, tmp_path: Path) -> None:
    folder = made(soft, tmp_path / "tls")
    authority = folder / "authority.pem"
    for name in NAMES:
        other = "memory1" if name != "memory1" else "nf1"
        for wanted, right in ((name, True), (f"{name}.g0", True), (f"{name}.g1", False), (other, False)):
            verify = run(folder, "openssl", "verify", "-CAfile", authority, "-verify_hostname", wanted, f"{name}.pem")
            assert (verify.returncode == 0) == right, verify.stderr
        assert stat.S_IMODE((folder / f"{name}.key").stat().st_mode) == 0o600
        text = run(folder, "openssl", "x509", "-in", f"{name}.pem", "-noout", "-text").stdout
        assert "prime256v1" in text and f"CN = {name}" in text and f"DNS:{name}" in text
    assert sorted(p.name for p in folder.iterdir() if p.name.startswith(".")) == []


def test_parts_are_certified_for_months_and_the_authority_for_years(soft: Path, tmp_path: Path) -> None:
    folder = made(soft, tmp_path / "tls")
    ends = Authority.opened(folder)
    assert {name: round(ends.days(name)) for name in NAMES} == dict.fromkeys(NAMES, 90)
    assert round(ends.days("authority")) == 3650


def test_only_what_is_due_is_signed_and_keys_stay(soft: Path, tmp_path: Path) -> None:
    folder = made(soft, tmp_path / "tls")
    authority, before = Authority.opened(folder), texts(folder)
    again = certificates(soft, "renew", folder)
    assert again.returncode == 0 and again.stdout.strip().endswith(": nothing was due") and texts(folder) == before
    assert "nothing was missing" in run(soft, "deploy/request.sh", folder, "nf1").stdout
    authority.ending("nf1", 29)
    authority.ending("memory1", 31)
    assert certificates(soft, "renew", folder).stdout.strip().endswith(": nf1")
    assert certificates(soft, "renew", folder, "memory1", "switch").stdout.strip().endswith(": memory1 switch")
    every = certificates(soft, "renew", folder, "--all")
    assert every.stdout.strip().endswith(": controller memory1 memory2 nf1 operator switch")
    after = texts(folder)
    assert {name for name in after if after[name] != before[name]} == {f"{name}.pem" for name in NAMES}
    authority.ending("authority", 29)
    assert "certificates in" in certificates(soft, "renew", folder).stdout
    assert round(authority.days("authority")) == 3650  # with its key: all that it signed stays valid
    verify = run(folder, "openssl", "verify", "-CAfile", "authority.pem", "nf1.pem")
    assert verify.returncode == 0, verify.stderr


def test_what_is_revoked_needs_a_new_key(soft: Path, tmp_path: Path) -> None:
    folder = made(soft, tmp_path / "tls")
    certificates(soft, "renew", folder, "nf1")
    old = texts(folder)
    done = certificates(soft, "revoke", folder, "nf1")
    assert done.returncode == 0 and "nf1 is revoked (2 of its certificates)" in done.stdout
    listed = run(folder, "openssl", "crl", "-in", "revoked.pem", "-CAfile", "authority.pem", "-noout", "-text").stdout
    assert listed.count("Serial Number:") == 2
    (folder / "nf1.csr").write_bytes(old["nf1.csr"])  # of the key that was stolen
    again = certificates(soft, "renew", folder)
    assert again.returncode == 2 and "the key of nf1 was revoked" in again.stderr and "request.sh" in again.stderr
    assert (folder / "nf1.pem").read_bytes() == old["nf1.pem"]
    (folder / "nf1.csr").unlink()
    waits = certificates(soft, "renew", folder)
    assert waits.returncode == 0 and "nf1 is not signed anew, as there is no request of it" in waits.stdout
    assert run(soft, "deploy/request.sh", folder, "nf1", "memory1").stdout.strip().endswith(": nf1")
    assert certificates(soft, "renew", folder).stdout.strip().endswith(": nf1")
    new = texts(folder)
    assert new["nf1.key"] != old["nf1.key"] and new["memory1.key"] == old["memory1.key"]
    checked = ("-crl_check", "-CAfile", "authority.pem", "-CRLfile", "revoked.pem")
    assert run(folder, "openssl", "verify", *checked, "-verify_hostname", "nf1.g1", "nf1.pem").returncode == 0
    certificates(soft, "revoke", folder, "operator")  # the key of which is here
    assert certificates(soft, "renew", folder).stdout.strip().endswith(": operator")
    assert texts(folder)["operator.key"] != old["operator.key"]


def test_runs_at_the_same_time_lose_nothing(soft: Path, tmp_path: Path) -> None:
    folder = made(soft, tmp_path / "tls")
    words = [("revoke", folder, name) for name in NAMES] + [("renew", folder, "--all")] * 2
    command = ["sh", str(soft / "deploy" / "certificates.sh")]
    runs = [subprocess.Popen([*command, *map(str, one)], stdout=subprocess.DEVNULL) for one in words]
    assert [one.wait(60) for one in runs] == [0] * len(words)
    listed = run(folder, "openssl", "crl", "-in", "revoked.pem", "-noout", "-text").stdout
    assert listed.count("Serial Number:") >= len(NAMES)
    for name in NAMES:
        verify = run(
            folder, "openssl", "verify", "-CAfile", "authority.pem", "-verify_hostname", f"{name}.g0", f"{name}.pem"
        )
        assert verify.returncode == 0
    assert len((folder / "revoked.index").read_text().splitlines()) == listed.count("Serial Number:")


def test_a_request_for_another_name_is_not_signed_and_the_others_are(soft: Path, tmp_path: Path) -> None:
    folder = made(soft, tmp_path / "tls")
    shutil.copy(folder / "nf1.csr", folder / "controller.csr")
    (folder / "memory1.csr").write_text("no request")
    (folder / "nf1.pem").unlink()
    done = certificates(soft, "renew", folder)
    assert done.returncode == 2 and done.stdout.strip().endswith(": nf1")
    for name in ("controller", "memory1"):
        assert f"{name}.csr is no request for the name {name}" in done.stderr


def test_an_authority_that_is_not_whole_signs_nothing(soft: Path, tmp_path: Path) -> None:
    folder = made(soft, tmp_path / "tls")
    assert certificates(soft, "revoke", folder, "nobody").returncode == 2
    assert certificates(soft, "revoke", folder, "authority").returncode == 2
    (folder / "revoked.index").rename(tmp_path / "index")
    done = certificates(soft, "renew", folder)
    assert done.returncode == 2 and "revoked.pem but not revoked.index" in done.stderr
    (tmp_path / "index").rename(folder / "revoked.index")
    (folder / "authority.key").unlink()
    done = certificates(soft, "renew", folder, "--all")
    assert done.returncode == 2 and "authority.pem but not authority.key" in done.stderr
    for words in ((), ("renew",), ("renew", "--all"), ("revoke", folder), ("sign", folder), ("renew", folder, "../x")):
        assert certificates(soft, *words).returncode == 2, words


def test_the_check_of_certificates_knows_bad_ones(soft: Path, tmp_path: Path) -> None:
    folder = made(soft, tmp_path / "tls")
    bundle = tmp_path / "bundle"
    shutil.copytree(soft / "deploy", bundle / "deploy")
    conf = bundle / "deploy" / "bundle.conf"
    conf.write_text(conf.read_text().replace("TLS=/etc/polysome/load_balancer/tls", f"TLS={folder}"))
    check = ("deploy/preflight/tls.sh", "memory1")
    good = ["ok\tcertificate of memory1\t\t"]
    assert run(bundle, *check).stdout.splitlines()[1:] == good
    authority = Authority.opened(folder)
    authority.list_due(-1)  # the part itself tells of that
    assert run(bundle, *check).stdout.splitlines()[1:] == good
    list_, certificate = (folder / "revoked.pem").read_bytes(), (folder / "memory1.pem").read_bytes()
    authority.replace("revoked.pem", list_[:200])
    assert "missing\ta valid certificate of memory1" in run(bundle, *check).stdout
    authority.replace("revoked.pem", list_)
    authority.ending("memory1", 29)
    assert "warning\tthe certificate of memory1 ends within 30 days" in run(bundle, *check).stdout
    authority.ending("memory1", -1)
    assert "missing\ta valid certificate of memory1" in run(bundle, *check).stdout
    authority.replace("memory1.pem", certificate)
    shutil.copy(folder / "memory2.key", folder / "memory1.key")
    assert "missing\tthe key of memory1" in run(bundle, *check).stdout
    shutil.copy(folder / "memory2.pem", folder / "memory1.pem")
    assert "missing\ta valid certificate of memory1" in run(bundle, *check).stdout
    certificates(soft, "revoke", folder, "memory1")
    authority.replace("memory1.pem", certificate)
    assert "missing\ta certificate of memory1 that is not revoked" in run(bundle, *check).stdout
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
