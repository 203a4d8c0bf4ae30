"""Those who do shares: they may end, and somebody may end them."""

from __future__ import annotations

import dataclasses
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

import pytest
from tests.testing.campaign.gates import PLAN, RIGHT, WRONG, spec, until

from polysome.captures.errors import CaptureError
from polysome.engines.options import Unsupported
from polysome.testing.campaign import Campaign, Here, Processes, Ray, Result, crews
from polysome.testing.campaign.share import Share
from polysome.testing.campaign.traces import SHARE

LONG = dataclasses.replace(PLAN, only=("shut", "conservation"), seconds=600, traces=None)
ROOT = Path(__file__).parents[3]


def children(of: int) -> list[int]:
    """Processes whose parent this is."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = path.read_text().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if int(parent) == of and state != "Z":
            found.append(int(path.parent.name))
    return found


@pytest.mark.slow
def test_a_worker_that_ends_is_replaced_and_its_share_is_done(tmp_path: Path) -> None:
    gate = spec(tmp_path, RIGHT)
    crew = Processes(gate, 2)
    ended: list[int] = []

    def seen(result: Result) -> None:
        if len(ended) < 2:
            ended.append(next(iter(crew._busy.values()))[0].process.pid or 0)
            os.kill(ended[-1], signal.SIGKILL)

    plan = dataclasses.replace(LONG, traces=6 * SHARE)
    result = Campaign(gate, plan).run(crew, seen)
    alone = Campaign(gate, plan).run(Here(gate))
    assert len(ended) == 2 and (result.traces, result.packets) == (alone.traces, alone.packets)
    assert not set(ended) & set(children(os.getpid()))


def test_a_share_that_ends_every_worker_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crews, "perform", lambda spec, share: os._exit(9))
    with pytest.raises(Unsupported, match=r"a worker ended 3 times on share [01] of seed 1"):
        Campaign(spec(tmp_path, RIGHT), LONG).run(Processes(spec(tmp_path, RIGHT), 2))
    until(lambda: not children(os.getpid()))


def test_what_a_worker_raises_is_raised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def perform(spec: object, share: Share) -> Result:
        raise Unsupported("no such engine here")

    monkeypatch.setattr(crews, "perform", perform)
    with pytest.raises(Unsupported, match="no such engine here"):
        Campaign(spec(tmp_path, RIGHT), LONG).run(Processes(spec(tmp_path, RIGHT), 1))


def test_nobody_waits_for_the_others_when_enough_was_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = crews.perform

    def perform(spec: object, share: Share) -> Result:
        if share.number == 1:
            time.sleep(600)
        return real(spec, share)  # type: ignore[arg-type]

    monkeypatch.setattr(crews, "perform", perform)
    gate = spec(tmp_path, WRONG)
    result = Campaign(gate, dataclasses.replace(LONG, first=True)).run(Processes(gate, 2))
    assert [o.name for o in result.failed] == ["shut"] and result.traces <= SHARE


def test_an_interrupted_campaign_has_the_result_so_far(tmp_path: Path) -> None:
    gate = spec(tmp_path, RIGHT)

    def seen(result: Result) -> None:
        raise KeyboardInterrupt

    result = Campaign(gate, LONG).run(Processes(gate, 2), seen)
    assert result.interrupted and result.traces == SHARE and not children(os.getpid())


PARENT = """
import sys
sys.path.insert(0, {root!r})
from tests.testing.campaign.test_crews import *
from polysome.testing.mutants import on_processes
gate, said = spec(Path({folder!r}), RIGHT), lambda *_: print("some work is done", flush=True)
"""
WORK = {
    "a campaign": "Campaign(gate, LONG).run(Processes(gate, 2), said)",
    "mutants": "on_processes(gate, LONG, 2, said)",
}


@pytest.mark.slow
@pytest.mark.parametrize("work", WORK.values(), ids=WORK)
def test_workers_end_with_the_process_that_has_them(tmp_path: Path, work: str) -> None:
    code = PARENT.format(root=str(ROOT), folder=str(tmp_path)) + work
    with subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None and parent.stdout.readline()
        workers = children(parent.pid)
        parent.kill()
    assert len(workers) == 2
    until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in workers))


def test_without_ray_it_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(Unsupported, match="pip install"):
        Ray(spec(tmp_path, RIGHT))


# ---------------------------------------------------------------- a cluster of two nodes


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterable[object]:
    ray_cluster = pytest.importorskip("ray.cluster_utils", reason="Ray is not installed: pip install 'polysome[ray]'")
    for name, value in {
        "RAY_worker_niceness": "0",
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_AUTH_MODE": "disabled",
    }.items():
        monkeypatch.setenv(name, value)
    made = ray_cluster.Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    monkeypatch.setenv("RAY_ADDRESS", made.address)
    for _ in range(2):
        made.add_node(num_cpus=1)
    yield made
    made.shutdown()


def workers_of(node: object) -> list[int]:
    """Processes of the node that work on a share."""
    (raylet,) = node.all_processes["raylet"]  # type: ignore[attr-defined]
    return [
        pid
        for pid in children(raylet.process.pid)
        if Path(f"/proc/{pid}/cmdline").read_bytes().startswith(b"ray::_perform")
    ]


@pytest.mark.slow
def test_a_cluster_of_two_nodes_one_of_which_is_lost(tmp_path: Path, cluster: object) -> None:
    gate = spec(tmp_path, RIGHT)
    (tmp_path / "gate.nf").unlink()  # nodes get the spec sent
    plan = dataclasses.replace(LONG, traces=8 * SHARE)
    nodes = set(cluster.worker_nodes)  # type: ignore[attr-defined]
    busy: set[object] = set()
    crew = Ray(gate)
    assert crew.size == 2

    def seen(result: Result) -> None:
        """While the other node has a share."""
        there = nodes - busy
        if there and result.traces < 5 * SHARE:
            busy.update(node for node in there if workers_of(node))
            if len(busy) == 2:
                (other,) = [node for node in nodes if workers_of(node)]
                cluster.remove_node(other, allow_graceful=False)  # type: ignore[attr-defined]

    result = Campaign(gate, plan).run(crew, seen)
    alone = Campaign(gate, plan).run(Here(gate))
    assert len(busy) == 2 and (result.traces, result.packets) == (alone.traces, alone.packets)
    assert result.dropped == alone.dropped and not result.failed


@pytest.mark.slow
def test_a_cluster_finds_what_one_process_finds(tmp_path: Path, cluster: object) -> None:
    gate = spec(tmp_path, WRONG)
    result = Campaign(gate, dataclasses.replace(LONG, traces=2 * SHARE)).run(Ray(gate))
    assert [(o.name, f.packets) for o in result.failed for f in o.findings] == [("shut", 1)]


@pytest.mark.slow
def test_what_a_node_raises_is_raised(tmp_path: Path, cluster: object) -> None:
    gate = spec(tmp_path, RIGHT)
    with pytest.raises(CaptureError, match=r"none\.pcap: cannot be read"):
        Campaign(gate, dataclasses.replace(LONG, captures=(tmp_path / "none.pcap",))).run(Ray(gate))


def test_a_cluster_that_is_not_there_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'polysome[ray]'")
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:1")
    with pytest.raises(Unsupported, match=r"the Ray cluster cannot be reached: .*refused"):
        Ray(spec(tmp_path, RIGHT))
