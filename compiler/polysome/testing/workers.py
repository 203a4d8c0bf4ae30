"""Campaigns on several workers: processes of this machine, or a Ray cluster.

Every worker has a seed of its own and loads the spec by itself; all share one database of failing examples, so what one
finds the others start with next time.
"""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hypothesis.database import DirectoryBasedExampleDatabase

from polysome.engines.options import Unsupported
from polysome.testing.campaign import Result, run
from polysome.testing.plan import Plan
from polysome.testing.spec import load


@dataclass(frozen=True)
class Task:
    """One worker's share, as plain data. Paths must be valid where the worker runs."""

    path: Path
    params: tuple[tuple[str, str], ...]
    config: tuple[str, ...]
    plan: Plan
    database: Path | None


def perform(task: Task) -> Result:
    """The task in this process."""
    spec = load(task.path, dict(task.params), list(task.config))
    database = DirectoryBasedExampleDatabase(task.database) if task.database is not None else None
    return run(spec, task.plan, database)


def shares(task: Task, workers: int) -> list[Task]:
    """The same task with a seed for each worker."""
    plans = [dataclasses.replace(task.plan, seed=task.plan.seed + n) for n in range(workers)]
    return [dataclasses.replace(task, plan=plan) for plan in plans]


def on_processes(task: Task, workers: int) -> Result:
    """`workers` processes of this machine."""
    if workers == 1:
        return perform(task)
    with ProcessPoolExecutor(workers) as pool:
        return _together(f.result() for f in as_completed([pool.submit(perform, t) for t in shares(task, workers)]))


def on_ray(task: Task) -> Result:
    """A worker on every CPU of the Ray cluster (`RAY_ADDRESS`, else this machine).

    The spec, its libraries and the database's folder must be there on every node. Raises Unsupported without Ray.
    """
    try:
        ray: Any = importlib.import_module("ray")
    except ImportError:
        raise Unsupported("Ray is not installed; install it with: pip install 'polysome[ray]'") from None
    ours = not ray.is_initialized()
    if ours:
        ray.init(log_to_driver=False, include_dashboard=False)
    try:
        workers = max(1, int(ray.cluster_resources().get("CPU", 1)))
        remote = ray.remote(perform)
        return _together(_as_they_come(ray, [remote.remote(t) for t in shares(task, workers)]))
    finally:
        if ours:
            ray.shutdown()


def _as_they_come(ray: Any, running: list[Any]) -> Iterator[Result]:
    while running:
        done, running = ray.wait(running)
        yield from ray.get(done)


def _together(results: Iterable[Result]) -> Result:
    total: Result | None = None
    for result in results:
        if total is None:
            total = result
        else:
            total.add(result)
    assert total is not None, "there is at least one worker"
    return total
