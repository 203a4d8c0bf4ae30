"""The playbooks: what ansible-lint says, and that they run to their end without changing anything."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.bundle.helpers import needs, run


def lint() -> str:
    """Beside the Python of these tests, else on the PATH."""
    beside = Path(sys.executable).parent / "ansible-lint"
    return str(beside) if beside.exists() else needs("ansible-lint")


@pytest.mark.slow
def test_ansible_lint_has_nothing_to_say(tofino: Path, tmp_path: Path) -> None:
    program = lint()
    path = f"{Path(program).parent}:{os.environ['PATH']}"  # it must find the ansible that it belongs to
    env = {**os.environ, "PATH": path, "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path), "NO_COLOR": "1"}
    done = run(tofino / "deploy", program, "--offline", "--profile", "production", "-q", ".", env=env)
    assert done.returncode == 0, done.stdout + done.stderr


def playbook(bundle: Path, tmp_path: Path, name: str, *options: str) -> subprocess.CompletedProcess[str]:
    """All machines being this one."""
    program = needs("ansible-playbook")
    env = {**os.environ, "HOME": str(tmp_path), "ANSIBLE_LOCALHOST_WARNING": "False", "ANSIBLE_NOCOLOR": "1"}
    local = ("-e", "ansible_connection=local", "-e", f"polysome_certificates={tmp_path}/tls")
    return run(bundle / "deploy", program, "-i", "inventory.yml", *local, *options, name, env=env)


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="the playbooks become root, and only root needs no password for it")
@pytest.mark.parametrize("name", ["playbook.yml", "rolling-update.yml"])
def test_the_playbooks_run_to_their_end_in_check_mode(name: str, soft: Path, tmp_path: Path) -> None:
    before = Path("/opt/polysome").exists(), Path("/etc/polysome").exists()
    done = playbook(soft, tmp_path, name, "--check")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr
    recap = done.stdout.partition("PLAY RECAP")[2]
    assert "switch " in recap and "nf1 " in recap and "failed=0" in recap
    assert "failed=1" not in recap and "unreachable=1" not in recap
    assert (Path("/opt/polysome").exists(), Path("/etc/polysome").exists()) == before
    assert not (tmp_path / "tls").exists()


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="the playbooks become root, and only root needs no password for it")
def test_check_mode_compares_certificates_that_are_there(soft: Path, tmp_path: Path) -> None:
    needs("openssl")
    for words in (("request.sh", tmp_path / "tls", "nf1"), ("certificates.sh", "renew", tmp_path / "tls")):
        assert run(soft, f"deploy/{words[0]}", *words[1:]).returncode == 0
    done = playbook(soft, tmp_path, "playbook.yml", "--check")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr
    assert "changed: [nf1] => (item=nf1)" in done.stdout
    assert (tmp_path / "tls" / "nf1.key").read_text() not in done.stdout


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="the playbooks become root, and only root needs no password for it")
def test_certificates_alone_are_brought_to_the_machines(soft: Path, tmp_path: Path) -> None:
    """Keys stay where they are made; the second time there is nothing to do; then one name is revoked."""
    needs("openssl")
    there, here = tmp_path / "machines", tmp_path / "tls"
    only = ("--tags", "certificates", "-e", f"polysome_tls={there}")
    done = playbook(soft, tmp_path, "playbook.yml", *only)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr
    parts = {"switch", "controller", "memory1", "memory2", "nf1"}
    assert {path.stem for path in here.glob("*.key")} == {"authority", "operator"}
    assert {path.stem for path in there.glob("*.key")} == parts
    assert {path.stem for path in there.glob("*.pem")} == {*parts, "authority", "revoked"}
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in (*here.glob("*.key"), *there.glob("*.key")))
    assert not (there / "authority.key").exists() and "PRIVATE KEY" not in done.stdout
    again = playbook(soft, tmp_path, "playbook.yml", *only)
    assert again.returncode == 0 and "changed=0" in again.stdout and "changed=1" not in again.stdout, again.stdout
    keys = {path.stem: path.read_bytes() for path in there.glob("*.key")}
    certificates = {path.stem: path.read_bytes() for path in there.glob("*.pem")}
    assert run(soft, "deploy/certificates.sh", "revoke", here, "memory1").returncode == 0
    last = playbook(soft, tmp_path, "playbook.yml", *only)
    assert last.returncode == 0, last.stdout[-3000:] + last.stderr
    assert {name for name, text in keys.items() if (there / f"{name}.key").read_bytes() != text} == {"memory1"}
    new = {name for name, text in certificates.items() if (there / f"{name}.pem").read_bytes() != text}
    assert new == {"memory1", "revoked"}
    whole = ("-crl_check", "-CAfile", "authority.pem", "-CRLfile", "revoked.pem", "-verify_hostname", "memory1.g1")
    assert run(there, "openssl", "verify", *whole, "memory1.pem").returncode == 0
