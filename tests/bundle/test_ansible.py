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


def playbook(bundle: Path, tmp_path: Path, name: str) -> subprocess.CompletedProcess[str]:
    """In check mode, all machines being this one."""
    program = needs("ansible-playbook")
    env = {**os.environ, "HOME": str(tmp_path), "ANSIBLE_LOCALHOST_WARNING": "False", "ANSIBLE_NOCOLOR": "1"}
    local = ("-e", "ansible_connection=local", "-e", f"polysome_certificates={tmp_path}/tls")
    return run(bundle / "deploy", program, "-i", "inventory.yml", *local, "--check", name, env=env)


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="the playbooks become root, and only root needs no password for it")
@pytest.mark.parametrize("name", ["playbook.yml", "rolling-update.yml"])
def test_the_playbooks_run_to_their_end_in_check_mode(name: str, soft: Path, tmp_path: Path) -> None:
    before = Path("/opt/polysome").exists(), Path("/etc/polysome").exists()
    done = playbook(soft, tmp_path, name)
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
    assert run(soft, "deploy/certificates.sh", tmp_path / "tls").returncode == 0
    done = playbook(soft, tmp_path, "playbook.yml")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr
    assert "changed: [nf1] => (item=nf1)" in done.stdout
    assert (tmp_path / "tls" / "nf1.key").read_text() not in done.stdout
