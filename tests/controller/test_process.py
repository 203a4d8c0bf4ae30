"""The program as it is started on a switch: exit codes, messages, metrics; and that it needs no compiler."""

from __future__ import annotations

import ast
import asyncio
import os
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from google.protobuf import json_format

from polysome_controller import control_pb2 as pb

from .conftest import CONTROLLER, SiteMaker
from .site import Site
from .test_trust import free_address

PACKAGE = CONTROLLER / "polysome_controller"


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "polysome_controller", *arguments]


ENVIRONMENT = {**os.environ, "PYTHONPATH": str(CONTROLLER)}


def finished(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command(*arguments), env=ENVIRONMENT, capture_output=True, text=True, check=False, timeout=60)


def written(s: Site) -> str:
    file = s.folder / "controller.json"
    file.write_text(json_format.MessageToJson(s.config()))
    return str(file)


def test_command_lines() -> None:
    assert finished().returncode == 2
    done = finished("/nowhere/controller.json")
    assert done.returncode == 2 and "No such file" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("changes", "code", "text"),
    [
        ({"tls": {"authority": "/nowhere/a.pem"}}, 3, "tls.authority: /nowhere/a.pem: No such file"),
        ({"tls": {}}, 2, "tls.authority: no file is named"),
        ({"config": "/nowhere/config.bin"}, 2, "`config`: /nowhere/config.bin"),
        ({"model": "tofino"}, 3, "the client of the switch's SDE is missing"),
        ({"listen": "192.0.2.1:1"}, 3, "cannot listen at 192.0.2.1:1"),
        ({"metrics": "192.0.2.1:1"}, 3, "cannot serve metrics at 192.0.2.1:1"),
        ({"metrics": "nonsense"}, 2, "`metrics`"),
        ({"state": "/dev/null/state"}, 3, "the state folder /dev/null/state cannot be used"),
    ],
)
def test_what_is_missing_is_said(
    certificates: Path, tmp_path: Path, changes: dict[str, object], code: int, text: str
) -> None:
    done = finished(written(Site(certificates, tmp_path, **changes)))
    assert (done.returncode, "Traceback" in done.stderr) == (code, False), done.stderr
    assert text in done.stderr


def test_it_runs_and_ends_when_told(site: SiteMaker) -> None:
    async def scenario() -> None:
        async with site() as s:
            s.changes["metrics"] = await free_address()
            await s.start_parts()
            process = await asyncio.create_subprocess_exec(
                *command(written(s)), env=ENVIRONMENT, stderr=asyncio.subprocess.PIPE
            )
            try:
                await s.until(lambda: all(s.switch.up(pair) for pair in range(4)))
                status: pb.ControllerStatus = await s.ask("Status", pb.Nothing())
                assert status.nf == "balancer" and {pair.state for pair in status.queue_pairs} == {"up"}
                text = await asyncio.to_thread(scrape, s.changes["metrics"])
                assert 'polysome_part_up{part="switch",role="switch"} 1.0' in text
                assert 'polysome_queue_pairs{server="memory0",state="up"} 2.0' in text
                assert 'polysome_server_own_buckets{server="memory1"} 8.0' in text
                second = await asyncio.to_thread(finished, written(s))
                assert second.returncode == 3 and "another controller runs" in second.stderr
            finally:
                process.send_signal(signal.SIGTERM)
                _, errors = await process.communicate()
            assert process.returncode == 0
            lines = errors.decode().splitlines()
            assert all(re.match(r"polysome-controller: (info|warning|error): \S+: ", line) for line in lines), lines

    asyncio.run(scenario())


def scrape(address: object) -> str:
    with urllib.request.urlopen(f"http://{address}/metrics", timeout=5) as answer:
        return str(answer.read().decode())


def test_killed_and_started_again_it_changes_nothing(site: SiteMaker) -> None:
    async def scenario() -> None:
        async with site() as s:
            await s.start_parts()
            for turn in range(2):
                process = await asyncio.create_subprocess_exec(*command(written(s)), env=ENVIRONMENT)
                try:
                    await s.until(lambda: all(part.calls.count("Describe") for part in s.parts))
                    await s.until(lambda: all(s.switch.up(pair) for pair in range(4)))
                    await s.until(lambda: all(nf.calls[-1:] == ["Statistics"] for nf in s.nfs))
                    await s.pause(3)
                finally:
                    process.kill()
                    await process.wait()
                if turn == 0:
                    for part in s.parts:
                        part.calls.clear()
                    s.switch.requests.clear()
            changes = {"Write", "Reset", "Clear", "Prepare", "Commit"}
            assert not changes & {call for part in s.parts for call in part.calls}

    asyncio.run(scenario())


def test_it_needs_only_its_own_packages() -> None:
    own = {"polysome_controller", "polysome_protocol"}
    allowed = {*own, "cryptography", "grpc", "google", "prometheus_client", *sys.stdlib_module_names}
    for path in PACKAGE.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 9))):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert all(name.split(".")[0] in allowed for name in names), path.name
