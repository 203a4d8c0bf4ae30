"""Troubles of a deployment, one after the other, while wrk asks: what each cost, and whether service came back."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event, Thread
from typing import Any

from tests.up.load.examples import VIP, Balanced
from tests.up.load.steady import steady
from tests.up.trouble.kinds import Trouble, during
from tests.up.trouble.place import Place

from polysome.cli.deployment_text import WELL, healthy
from polysome.deploy.client import open_client
from polysome.deploy.errors import DeployError
from polysome.deploy.find import endpoint_in
from polysome.deploy.messages import control

URL = f"http://{VIP}/who"
BEFORE = 1.5  # s in which the rate before is measured
BOUND = 60.0  # s until service must be as before: what takes long is that ever rarer restarts follow each other
LEAST = 0.5  # of the rate before
LOOK = 0.2  # s between two looks
CARRIES_ON = 1.5  # s: longer than any pause on a loaded machine while what carries packets is there


@dataclass(frozen=True)
class Cost:
    """Of a trouble. `pause`: the longest time without an answer; `after`: from its end until all served again, None if
    not in time; both in s. `lost`: requests that failed. `said`: what was not well, as `status` said meanwhile."""

    trouble: Trouble
    pause: float
    after: float | None
    asked: int
    lost: int
    said: tuple[str, ...]

    @property
    def problems(self) -> list[str]:
        """What should not have been."""
        found = []
        if self.after is None:
            found.append(f"not as before {BOUND:g} s after its end")
        if self.trouble.carries and self.pause > CARRIES_ON:
            found.append(f"requests waited {self.pause:.1f} s, and nothing that carries them was away")
        if self.trouble.seen and not self.said:
            found.append("status said nothing of it")
        return found

    def __str__(self) -> str:
        after = "never" if self.after is None else f"{self.after:.1f}"
        told = f"{self.pause:8.2f} {after:>8} {self.lost:6} {self.asked:8}"
        return f"{self.trouble!s:18} {self.trouble.part:11} {told}  {', '.join(self.said) or '-'}"


HEAD = f"{'trouble':18} {'part':11} {'pause, s':>8} {'after, s':>8} {'lost':>6} {'requests':>8}  status said"


def cost(place: Place, trouble: Trouble, number: int) -> Cost:
    lb = place.lb
    assert settled(lb, time.monotonic(), 0.0, lambda _: 0) is not None, (
        f"before {trouble} of {trouble.part}: {status(lb)}\n{lb.up.said}"
    )
    folder = place.disk.parent / f"wrk-{number}"
    with steady(lb.made, lb.client, URL, lb.servers, folder) as load:
        began = time.monotonic()
        time.sleep(BEFORE)
        before = load.logged(began) / (time.monotonic() - began)
        at = time.monotonic()
        with watched(lb) as said:
            with during(place, trouble):
                time.sleep(trouble.seconds)
            over = time.monotonic()
            after = settled(lb, over, LEAST * before, load.logged)
        pause = load.pause(at)
    result = load.result()
    return Cost(trouble, pause, after, result.requests, result.errors, tuple(sorted(said)))


def settled(lb: Balanced, since: float, least: float, logged: Callable[[float], int]) -> float | None:
    """Until all parts are well for a second, and requests too: `logged` says `least` of it, in bytes; how long after
    `since` that began."""
    good = None
    while (now := time.monotonic()) < since + BOUND:
        found = status(lb)
        if len(found.parts) < 4 or not healthy(found):
            good = None
        elif good is None:
            good = now
        elif now > good + 1:
            if logged(good) >= least * (now - good):
                return good - since
            good = None
        time.sleep(LOOK)
    return None


def status(lb: Balanced) -> Any:
    """A ControllerStatus; an empty one if there is no answer soon."""
    with open_client(endpoint_in(lb.up.folder)) as client:
        try:
            return client.status(1.0)
        except DeployError:
            return control().ControllerStatus()


@contextmanager
def watched(lb: Balanced) -> Iterator[set[str]]:
    """What status says meanwhile of parts that are not well."""
    said: set[str] = set()
    over = Event()

    def look() -> None:
        while not over.wait(LOOK):
            found = status(lb)
            if not found.parts:
                said.add("no answer")
            said.update(f"{part.name} {part.state}" for part in found.parts if part.state not in WELL)

    watch = Thread(target=look)
    watch.start()
    try:
        yield said
    finally:
        over.set()
        watch.join()
