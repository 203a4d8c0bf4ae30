"""Waiting for a deployment to be whole again."""

from __future__ import annotations

import time

from tests.up.load.examples import Balanced

from polysome.cli.deployment_text import healthy

LONGEST = 20.0  # s until service resumes: on a loaded machine; the figure that is recorded is the real one
CALM = 1.0  # s in which the controller must have seen what has gone


def wait_until_healthy(lb: Balanced, since: float) -> float:
    """Until all parts and queue pairs stay up for a while; how long after `since` that began (or was seen)."""
    bad = time.monotonic()
    while time.monotonic() < since + LONGEST:
        status = lb.up.status()
        if len(status.parts) < 4 or not healthy(status):
            bad = time.monotonic()
        elif time.monotonic() > bad + CALM:
            return bad - since
        time.sleep(0.05)
    raise AssertionError(f"not healthy after {LONGEST} s: {lb.up.status()}\n{lb.up.said}")
