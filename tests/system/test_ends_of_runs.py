"""What ends a run of a system: what its controller refuses, and its faults; runs that know nothing of each other."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from tests.system.at_work import SECOND, Frame, at, at_work, designed, run_of, whole
from tests.system.outcome import SYSTEM, traffic

from polysome.backends.nf_cpp.library import Failed
from polysome.backends.system.abi import Happened
from polysome.engines import ENGINES
from polysome.engines.options import RunOptions
from polysome.engines.system.control.parts import Nf
from polysome.engines.system.control.switch import SimulatedSwitch
from polysome.engines.trace import Arrival, Trace
from polysome.plan.architectures.ribosome.simulated import Agent
from polysome.plan.architectures.ribosome.store import parking_of
from polysome_controller.errors import Refused

pytestmark = [
    pytest.mark.skipif(ENGINES["system"].missing() is not None, reason=str(ENGINES["system"].missing())),
    pytest.mark.slow,
    pytest.mark.filterwarnings("error"),
]

NAME = "load_balancer"
FAULTS = "server0:dead@0.2ms..0.9ms;all:loss=0.01,dup=0.01,reorder=0.01/20us,corrupt=0.01"


@pytest.fixture(autouse=True)
def nothing_pending(caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]) -> Iterator[None]:
    """No task of a controller outlives it, and nothing of one is forgotten: asyncio would say so."""
    yield
    gc.collect()
    assert not caplog.records and capfd.readouterr() == ("", "")


class Broken(Exception):
    """A fault of the controller, or of what it asks."""


def fails(patch: pytest.MonkeyPatch, of: type, name: str, error: Exception) -> None:
    def failing(*_: Any) -> Any:
        raise error

    patch.setattr(of, name, failing)


# ---------------------------------------------------------------- before the first packet


def test_a_port_that_is_not_as_it_was_set_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    async def found(driver: SimulatedSwitch) -> Any:
        return tuple(replace(p, role=1) if p.port == 40 else p for p in await read(driver))

    read = SimulatedSwitch.read_settings
    monkeypatch.setattr(SimulatedSwitch, "read_settings", found)
    with pytest.raises(Failed, match=r"up: .*port 40 is not as it was set"), at_work(*designed(NAME)):
        pass


def test_a_configuration_that_is_refused_leaves_nothing_open(monkeypatch: pytest.MonkeyPatch) -> None:
    def fixed_of(*_: Any) -> Any:
        raise Failed("too many sessions")

    monkeypatch.setattr("polysome.engines.system.control.controller.fixed_of", fixed_of)
    with pytest.raises(Failed, match="too many sessions"), at_work(*designed(NAME)):
        pass


@pytest.mark.parametrize(
    ("of", "method", "error", "said"),
    [
        (Agent, "describe", Refused("no registration"), "refused: no registration"),
        (Agent, "reset", Refused("no queue pair"), "refused: no queue pair"),
        (Nf, "describe", Refused("no description"), "refused: no description"),
    ],
)
def test_what_a_part_refuses_ends_the_run(
    of: type, method: str, error: Exception, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fails(monkeypatch, of, method, error)
    with pytest.raises(Failed, match=f"does not bring the system up: .*{said}"), at_work(*designed(NAME)):
        pass


@pytest.mark.parametrize(
    ("of", "method"),
    [(SimulatedSwitch, "_apply"), (SimulatedSwitch, "pause"), (Agent, "describe"), (Agent, "reset"), (Nf, "describe")],
)
def test_a_fault_while_it_is_brought_up_ends_the_run(of: type, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fails(monkeypatch, of, method, Broken("here"))
    with pytest.raises(Broken, match="here"), at_work(*designed(NAME)):
        pass


def test_the_engine_says_what_was_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    fails(monkeypatch, Agent, "describe", Refused("no registration"))
    spec, _ = designed(NAME)
    found = SYSTEM.run(spec.program, Trace(spec.config or {}, (Arrival(0, 0, whole()),)), RunOptions())
    assert found.crash is not None and "no registration" in str(found.crash)


# ---------------------------------------------------------------- at work


def busy(count: int = 300) -> tuple[Frame, ...]:
    return traffic(designed(NAME)[0], count, 9)


@pytest.mark.parametrize(
    ("of", "method"),
    [(SimulatedSwitch, "read_register"), (SimulatedSwitch, "_apply"), (SimulatedSwitch, "pause"), (Agent, "reset")],
)
def test_a_fault_at_work_ends_the_run(of: type, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a look, after it; while what went down is restored."""
    spec, design = designed(NAME)
    with at_work(spec, design, run_of(spec, design, "server0:nak@0.1ms")) as system:
        fails(monkeypatch, of, method, Broken("here"))
        with pytest.raises(Broken, match="here"):
            system.arrive(busy())
        assert list(system.running.records()), "what happened before is told"


def test_a_fault_of_the_runtime_ends_the_run() -> None:
    with at_work(*designed(NAME)) as system:
        system.arrive([at(0, whole())])
        with pytest.raises(Failed, match="there is no port 9"):
            system.arrive([at(1000, whole(), 9)])


# ---------------------------------------------------------------- several runs


def alone(seed: int = 1, mix: str = FAULTS) -> list[Happened]:
    spec, design = designed(NAME)
    with at_work(spec, design, run_of(spec, design, mix, seed, capture=True)) as system:
        system.arrive(busy())
        system.finish()
        return system.records


def test_the_same_seed_gives_the_same_records_and_another_one_others() -> None:
    first = alone(1)
    assert len(first) > 1500 and alone(1) == first
    assert alone(2) != first


def test_runs_of_one_design_one_after_another_know_nothing_of_each_other() -> None:
    quiet, faulty = alone(mix=""), alone()
    assert alone(mix="") == quiet and alone() == faulty
    assert quiet != faulty


def test_runs_at_the_same_time_know_nothing_of_each_other() -> None:
    """One with faults and one without, of one design, a few packets of each in turn."""
    spec, design = designed(NAME)
    frames = busy()
    with (
        at_work(spec, design, run_of(spec, design, FAULTS, capture=True)) as faulty,
        at_work(spec, design, run_of(spec, design, capture=True)) as quiet,
    ):
        for n in range(0, len(frames), 7):
            for system in (faulty, quiet):
                system.arrive(frames[n : n + 7])
        quiet.finish()
        faulty.finish()
    assert faulty.records == alone() and quiet.records == alone(mix="")


def test_a_system_whose_queues_drain_slowly_comes_up_too() -> None:
    spec, made = designed("load_balancer")
    parking = parking_of(made.plan)
    assert parking is not None
    slow = replace(parking, queueing=replace(parking.queueing, value=3 * SECOND))
    design = replace(made, plan=replace(made.plan, store=slow))
    with at_work(spec, design) as system:
        assert system.controller.seconds >= 3 and not any(server.waiting for server in system.controller.servers)
