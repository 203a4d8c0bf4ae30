"""The shares of a campaign on a Ray cluster."""

from __future__ import annotations

import importlib
import os
import socket
from functools import lru_cache
from typing import Any, cast

from polysome.engines.options import Unsupported
from polysome.testing.campaign.crews import TRIES
from polysome.testing.campaign.results import Result
from polysome.testing.campaign.share import Share, perform
from polysome.testing.spec import Spec

_PATIENCE = 10.0  # s until a cluster is not there


class Ray:
    """A worker on every CPU of the cluster at `RAY_ADDRESS` (else this machine), as many as it has at the time.

    The spec is sent along; Polysome and captures must be there on every node. What a lost node had is done on another.
    Raises Unsupported if Ray is not installed, or its cluster cannot be reached.
    """

    def __init__(self, spec: Spec) -> None:
        try:
            self._ray: Any = importlib.import_module("ray")
        except ImportError:
            raise Unsupported("Ray is not installed; install it with: pip install 'polysome[ray]'") from None
        self._ours = not self._ray.is_initialized()
        if self._ours:
            try:
                _answers(os.environ.get("RAY_ADDRESS", ""))
                self._ray.init(log_to_driver=False, include_dashboard=False)
            except (self._ray.exceptions.RayError, OSError, RuntimeError, ValueError) as error:
                raise Unsupported(f"the Ray cluster cannot be reached: {_first_line(error)}") from None
        self._spec = self._ray.put(spec)
        self._perform = self._ray.remote(num_cpus=1, max_retries=TRIES - 1)(_perform)
        self._running: dict[Any, Share] = {}

    @property
    def size(self) -> int:
        return max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def submit(self, share: Share) -> None:
        self._running[self._perform.remote([self._spec], share)] = share

    def next(self) -> tuple[Share, Result]:
        done, _ = self._ray.wait(list(self._running), num_returns=1)
        share = self._running.pop(done[0])
        try:
            return share, self._ray.get(done[0])
        except self._ray.exceptions.RayTaskError as error:
            raise error.cause if isinstance(error.cause, Exception) else error from None
        except self._ray.exceptions.RayError as error:
            raise Unsupported(f"the Ray cluster does not do share {share.number}: {_first_line(error)}") from None

    def close(self) -> None:
        for task in self._running:
            self._ray.cancel(task, force=True)
        self._running.clear()
        if self._ours:
            self._ray.shutdown()


def _perform(spec: list[Any], share: Share) -> Result:
    return perform(_fetched(spec[0]), share)


@lru_cache(maxsize=2)
def _fetched(spec: Any) -> Spec:
    """Once for each worker, which compiles it once then."""
    return cast(Spec, importlib.import_module("ray").get(spec))


def _answers(address: str) -> None:
    """Raises OSError if nobody listens at `HOST:PORT`, perhaps behind `ray://`: Ray itself would try for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if port.isdecimal():
        socket.create_connection((host, int(port)), timeout=_PATIENCE).close()


def _first_line(error: BaseException) -> str:
    return next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
