"""The native schedule policies do what the interpreter's do: every leaving and drop, at the nanosecond."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path
from typing import Any

import pytest

from polysome.backends.nf_cpp.build import compiler
from polysome.kinds.policy import POLICIES
from polysome.kinds.policy.base import Item, Settings

HERE = Path(__file__).resolve().parent
REASONS = ("policed", "longer than burst", "rate too low", "no free class", "queue full", "buffer full")
WHEN_FULL = {"drop": 0, "evict": 1, "pass": 2, None: 0}
LAST = 2**64 - 1
LINKS = ("fifo", "priority", "deadline", "drr")
ARGS = {"police": 2, "shape": 2, "priority": 1, "deadline": 1, "drr": 1}
CASES = 150  # of each policy

Offer = tuple[int, int, int, int, int, int, int]  # time, order, port, size, class, two values


def settings(rng: random.Random, kind: str) -> Settings:
    """Such that all limits are met."""
    queue = rng.choice([None, None, 64, 1000, 3000])
    if kind in LINKS:
        return Settings(
            serve=rng.choice([1, 7, 1000, 10**6, 10**9, 3 * 10**10, 10**13]),
            buffer=rng.choice([0, 100, 1500, 6000, 10**6]),
            queue=queue,
            classes=rng.choice([None, None, 1, 2, 5]),
            when_full="drop",
        )
    if kind == "reframe":
        return Settings(window=rng.choice([0, 1, 1000, 10**6, LAST - 1]), count=rng.choice([1, 2, 5, 40]))
    shapes = kind == "shape"
    return Settings(
        classes=rng.choice([1, 2, 5, 100]),
        idle=rng.choice([1, 1000, 10**6, 10**10, LAST - 1]),
        when_full=rng.choice(["drop", "evict", "pass"]),
        unit=rng.choice(["bytes", "packets"]),
        buffer=rng.choice([0, 1500, 10_000, 10**6]) if shapes else None,
        queue=queue if shapes else None,
    )


def offers(rng: random.Random, kind: str) -> list[Offer]:
    """Packets of few classes, often several at one instant, some to several ports."""
    time = rng.choice([0, 1, 10**9, 1_700_000_000 * 10**9])
    gap = rng.choice([1, 10, 1000, 10**5, 10**6, 10**9])
    classes = rng.choice([1, 3, 20])
    rates = rng.sample([0, 1, 3, 1000, 10**6, 8 * 10**9, 10**10, 10**12, 2**63], 2)
    bursts = rng.sample([0, 1, 14, 1500, 3000, 10**6, 2**40, LAST], 2)
    found = []
    for order in range(rng.choice([5, 30, 150])):
        time += rng.choice([0, 0, 1, gap, rng.randrange(gap + 1)])
        size = rng.choice([14, 60, 64, 1500, 1514, 9000, rng.randrange(14, 1600)])
        cls = rng.randrange(classes)
        bucket = (rng.choice(rates), rng.choice(bursts))
        value = (rng.choice([0, 1, 2, 3, 1000, 10**6, 2**32, LAST]), 0)
        for port in sorted(rng.sample(range(3), rng.choice([1, 1, 1, 2, 3]))):
            found.append((time, order, port, size, cls, *(bucket if ARGS.get(kind) == 2 else value)))
    return found


def expected(kind: str, settings: Settings, packets: list[Offer]) -> list[str]:
    """What the interpreter's policy does."""
    lines: list[str] = []

    def leave(item: Item, time: int) -> None:
        lines.append(f"L {item.order} {item.port} {time}")

    def drop(item: Item, reason: str) -> None:
        lines.append(f"D {item.order} {REASONS.index(reason) + 4}")

    policy = POLICIES[kind].make(settings, leave, drop)

    def until(time: int) -> None:
        while (due := policy.next_due()) is not None and due <= time:
            policy.run_due()

    for time, order, port, size, cls, *values in packets:
        until(time)
        policy.offer(Item(order, port, size, cls, order, tuple(values[: ARGS.get(kind, 0)])), time)
    until(LAST)
    return [*lines, f"H {policy.held()}"]


def text(kind: str, settings: Settings, packets: list[Offer]) -> str:
    """The case as the driver reads it."""

    def number(value: Any) -> int:
        return LAST if value is None else value

    names = ("serve", "classes", "idle", "buffer", "queue", "window", "count")
    numbers = [number(getattr(settings, name)) for name in names]
    words = [kind, *numbers, WHEN_FULL[settings.when_full], int(settings.unit == "packets"), len(packets)]
    return "\n".join(" ".join(map(str, row)) for row in (words, *packets)) + "\n"


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    command = compiler()
    if command is None:
        pytest.skip("no C++ compiler here")
    program = tmp_path_factory.mktemp("policies") / "driver"
    source = HERE / "policy_driver.cpp"
    flags = ["-std=c++20", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{HERE.parents[1] / 'runtime'}"]
    subprocess.run([*command, *flags, source, "-o", program], check=True, timeout=240)
    return program


@pytest.mark.parametrize("kind", [*LINKS, "police", "shape", "reframe"])
def test_native_policies_are_the_interpreters(kind: str, driver: Path) -> None:
    rng = random.Random(f"policy {kind}")
    cases = [(settings(rng, kind), offers(rng, kind)) for _ in range(CASES)]
    given = "".join(text(kind, s, packets) for s, packets in cases)
    done = subprocess.run([driver], input=given, capture_output=True, text=True, check=True, timeout=120)
    said = done.stdout.split("\n")
    told = iter(said)
    for s, packets in cases:
        wanted = expected(kind, s, packets)
        assert [next(told) for _ in wanted] == wanted, s
    assert list(told) == [""]
    refusals = {int(line.split()[2]) for line in said if line.startswith("D")}
    possible = {"police": {4, 7}, "shape": {5, 6, 7, 8, 9}, "reframe": set()}.get(kind, {7, 8, 9})
    assert refusals == possible
