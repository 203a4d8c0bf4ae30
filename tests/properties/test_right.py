"""NFs that are right, each with one line of tests, `use test.…;`; and what people get wrong in such NFs.

That line alone must let the right ones be, whatever style they are written in, and find every one of the faults.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from polysome.testing.campaign import names, run
from polysome.testing.counterexample import loads, read, replay, report
from polysome.testing.plan import Plan
from polysome.testing.spec import Spec, load

FOLDER = Path(__file__).parent / "right"
RIGHT = sorted(path.stem for path in FOLDER.glob("*.nf"))
ALARMS = sorted((Path(__file__).parent / "alarms").glob("*.json"))
FAULTS = tomllib.loads((Path(__file__).parent / "faults.toml").read_text(encoding="utf-8"))["fault"]
MOST_PACKETS = 8


def library(spec: Spec) -> tuple[str, ...]:
    return tuple(name for name in names(spec) if "." in name)


def wrong(fault: dict[str, Any]) -> Spec:
    path = (FOLDER / f"{fault['of']}.nf").resolve()
    text = path.read_text(encoding="utf-8")
    assert text.count(fault["old"]) == 1, fault
    return load(path, texts={path: text.replace(fault["old"], fault["new"])})


@pytest.mark.parametrize("name", RIGHT)
def test_no_alarm(name: str) -> None:
    spec = load(FOLDER / f"{name}.nf")
    result = run(spec, Plan(seed=2, seconds=600, traces=30))
    assert not result.failed, [o.name for o in result.failed]


@pytest.mark.slow
@pytest.mark.parametrize("name", RIGHT)
def test_no_alarm_for_longer(name: str) -> None:
    spec = load(FOLDER / f"{name}.nf")
    result = run(spec, Plan(seed=3, seconds=600, traces=400, only=library(spec)))
    assert not result.failed, [o.name for o in result.failed]


@pytest.mark.parametrize("path", ALARMS, ids=lambda path: path.stem)
def test_what_once_raised_a_false_alarm(path: Path) -> None:
    _, _, judgement = replay(read(path))
    assert judgement.failure is None


def test_every_right_one_has_faults() -> None:
    assert {fault["of"] for fault in FAULTS} == set(RIGHT)
    assert len({(fault["of"], fault["name"]) for fault in FAULTS}) == len(FAULTS) > 50


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault['of']}: {fault['name']}")
def test_one_line_finds_it(fault: dict[str, Any]) -> None:
    spec = wrong(fault)
    result = run(spec, Plan(seed=1, seconds=300, traces=6000, only=(fault["breaks"],), first=True, shrinking=300))
    assert result.failed, f"nothing found in {result.traces} traces"
    (outcome,) = result.failed
    assert outcome.findings[0].packets <= MOST_PACKETS
    told = "\n".join(report(loads(outcome.findings[0].counterexample, spec)))
    assert "expected" in told and f"{fault['of']}.nf" in told
