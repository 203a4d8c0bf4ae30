"""Bundles of examples, and the programs that look at them."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from polysome.cli.main import app

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "load_balancer"
HARDWARE = """
[switch]
model = "{model}"
address = "192.0.2.1"
cpu_interface = "enp4s0f0"
icrc = "the vendor's, of ports to RDMA servers"
nic_icrc = "the firmware's, of frames that come in"
traffic_rate = "{rate}"

[ports]
{ports}

[[nf_servers]]
name = "nf1"
switch_port = 24
address = "192.0.2.11"
nic = "0000:3b:00.0"

[[nf_servers]]
name = "nf2"
switch_port = 28
address = "192.0.2.12"
nic = "enp1s0"

[[rdma_servers]]
name = "memory1"
switch_port = 32
address = "192.0.2.21"
nic = "mlx5_0"
interface = "enp59s0f0"
numa = 1
memory = "16GiB"

[[rdma_servers]]
name = "memory2"
switch_port = 36
address = "192.0.2.22"
nic = "mlx5_0"
interface = "enp59s0f0"
memory = "16GiB"

[[rdma_servers]]
name = "memory3"
switch_port = 40
address = "192.0.2.23"
nic = "mlx5_0"
interface = "enp59s0f0"
memory = "16GiB"

[controller]
metrics = "0.0.0.0:9464"
listen = "192.0.2.1:50070"
"""


def polysome(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(a) for a in arguments], env={"NO_COLOR": "1"})


def compiled(spec: Path, site: Path, out: Path, *more: object) -> Path:
    """A bundle; the test fails if there is none. Proofs are tests/prove's business."""
    result = polysome("compile", spec, "--site", site, "-o", out, "--no-proof", *more)
    assert result.exit_code == 0, result.output
    return out


def hardware(folder: Path, model: str, *ports: str, rate: str = "100Gbps") -> Path:
    """A site file with a Tofino and NICs, for a spec with these ports."""
    bound = "\n".join(f"{name} = {8 + 4 * n}" for n, name in enumerate(ports))
    path = folder / f"{model}.toml"
    path.write_text(HARDWARE.format(model=model, rate=rate, ports=bound), encoding="utf-8")
    return path


def copied(target: Path) -> Path:
    """The load balancer's inputs in a folder of their own, to change them."""
    target.mkdir(parents=True)
    for name in ("load_balancer.nf", "site.toml", "config.toml"):
        shutil.copy(EXAMPLE / name, target / name)
    return target


def changed(path: Path, old: str, new: str) -> None:
    """Replaces a text that is there."""
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def files(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def without_hashes(text: str) -> str:
    """They are of long texts that others check."""
    return re.sub(r'"[0-9a-f]{64}"', '"HASH"', text)


def run(
    folder: Path, *command: object, env: Mapping[str, str] | None = None, timeout: int = 120
) -> subprocess.CompletedProcess[str]:
    """A command in a bundle, without a terminal: what asks for something gets nothing."""
    return subprocess.run(
        [str(c) for c in command],
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=timeout,
    )


def needs(program: str) -> str:
    """Where a program is; the test is skipped if it is not there."""
    found = shutil.which(program)
    if found is None:
        pytest.skip(f"{program} is not installed")
    return found
