"""The controller that ships, on a simulated system's time: how it brings queue pairs back, and how often it looks."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from tests.system.asked import Asked, asked
from tests.system.at_work import SECOND, START, Frame, at, at_work, designed, run_of, whole
from tests.system.outcome import traffic

from polysome.backends.system.abi import Kind
from polysome.engines import ENGINES
from polysome.engines.system.control.controller import POLL
from polysome.plan.architectures.ribosome.simulated import Agent
from polysome.plan.architectures.ribosome.store import parking_of
from polysome.plan.site import BackOff
from polysome_controller import control_pb2 as pb
from polysome_controller.errors import ConfigurationError, Refused, Unreachable
from polysome_controller.program import PRIMARIES

pytestmark = [
    pytest.mark.skipif(ENGINES["system"].missing() is not None, reason=str(ENGINES["system"].missing())),
    pytest.mark.slow,
]

__all__ = ["asked"]  # the fixture

NAME = "load_balancer"
MS = 1_000_000
HOUR = 3600 * SECOND


def busy(count: int) -> tuple[Frame, ...]:
    """A packet each 6 us or so."""
    return traffic(designed(NAME)[0], count, 9)


def to_server(number: int) -> bytes:
    """A packet that is parked on this server, if that is up."""
    spec, design = designed(NAME)
    for _, _, data in traffic(spec, 300, 5):
        with at_work(spec, design) as system:
            system.arrive([at(0, data)])
            system.finish()
            [decided] = system.of(Kind.decided)
            if not decided.data[0] & 15 and decided.data[7] == number:
                return data
    raise AssertionError("none is")


# ---------------------------------------------------------------- back again


def test_a_queue_pair_is_restored_in_its_order(asked: Asked) -> None:
    """Found at a look, one each millisecond; down; what waits in the switch leaves; new numbers and up, all at once."""
    spec, design = designed(NAME)
    parking = parking_of(design.plan)
    assert parking is not None
    with at_work(spec, design, run_of(spec, design, "server0:nak@1ms")) as system, asked.of(system):
        system.arrive(busy(400))
        looks = asked.times("look")
        first = asked.lines.index((looks[0], "look"))
        assert [text for _, text in asked.lines[first:]] == [
            *("look", "memory0 health", "down 0", "Ingress.backups 0", *["Ingress.reads 0"] * 2, "Ingress.silence 0"),
            *("memory0 reset", "Ingress.stations", "Egress.servers", "no Ingress.answers", "Ingress.answers"),
            *("Egress.queue_pairs", "Egress.psns 0", "Ingress.acknowledged 0", "Ingress.epochs 0", "Egress.epochs 0"),
            *(*["Ingress.reads 0"] * 2, "Ingress.silence 0", "up 0", "Ingress.backups 0"),
            "look",
        ]
        [down], [reset], [up] = (asked.times(what) for what in ("down 0", "memory0 reset", "up 0"))
        assert down == looks[0] and reset - down == parking.queueing.value and up == reset
        assert [later - before for before, later in pairwise(looks)] == [POLL]
        assert system.counters["packets in"] == 400, "what was interrupted went on where it was"


def test_a_dead_server_comes_back_as_another_run(asked: Asked) -> None:
    """It is silent at first, then its queue pair is down, then it answers, and at last it serves again."""
    spec, design = designed(NAME)
    seen: list[tuple[int, int, bool, int]] = []  # when first, run, ready, up
    with at_work(spec, design, run_of(spec, design, "server0:dead@1ms..3ms")) as system, asked.of(system):
        agents, frames = system.running.agents, busy(1500)
        for n in range(0, 1500, 5):
            system.arrive(frames[n : n + 5])
            state = agents.state(0, 1)
            [up, other] = system.running.switch.registers(PRIMARIES, 0, 2)
            run, [ready] = state or (0, [False])
            if not seen or seen[-1][1:] != (run, ready, up):
                seen.append((system.running.progress().now - START, run, ready, up))
            assert other == 1 and agents.state(1, 1) == (1, (True,)), "nothing is wrong with the other one"
        system.finish()
        assert [now[1:] for now in seen] == [(1, True, 1), (0, False, 1), (2, False, 1), (2, False, 0), (2, True, 1)]
        died, back = seen[1][0], seen[2][0]
        assert 0 <= died - 1 * MS < 60_000 and 0 <= back - 3 * MS < 60_000
        assert (system.counters["queue pairs taken down"], system.counters["queue pairs restored"]) == (1, 1)
        assert (asked.count("reset"), asked.count("clear")) == (1, 0), "it was away for less than a second"
        [up] = asked.times("up 0")
        assert up < 5 * MS, "the switch finds it silent, and the controller looks each millisecond"
        lost = [frames[it.packet or 0][1] - START for it in system.of(Kind.lost)]
        assert len(lost) > 50 and min(lost) > 1 * MS - 20_000 and max(lost) < up


@pytest.mark.parametrize(("mix", "left"), [("dead@1ms..2ms", [2]), ("nak@1ms", [0, 2])])
def test_a_server_that_died_has_forgotten_what_was_parked(mix: str, left: list[int]) -> None:
    """One whose queue pair was only reset has not. The NF answers when all is up again; the second packet is lost."""
    spec, design = designed(NAME)
    data = to_server(0)
    with at_work(spec, design, run_of(spec, design, f"nf:stuck@0us..3s;server0:{mix}")) as system:
        system.arrive([at(time, data) for time in (0, 3 * MS // 2, 5 * SECOND // 2)])
        system.finish()
        assert system.counters["queue pairs restored"] == 1
        assert [it.packet for it in system.of(Kind.left)] == left
        assert system.events["foreign_cell"] == 3 - len(left)


def test_an_agent_says_which_of_its_queue_pairs_are_of_use() -> None:
    spec, design = designed(NAME)
    with at_work(spec, design, run_of(spec, design, "server0:nak@0us,dead@100us..200us")) as system:
        agent = Agent(design, 0, system.running.agents, 4096)

        def found() -> tuple[int, list[bool]]:
            health = agent.health(pb.Nothing())
            return health.boot, [pair.ready for pair in health.queue_pairs]

        assert found() == (1, [True])
        system.arrive([at(0, to_server(0)), at(50 * 1000, whole())])
        assert found() == (1, [False]), "it has refused a request"
        system.arrive([at(150 * 1000, whole())])
        with pytest.raises(Unreachable):
            found()
        with pytest.raises(Unreachable):
            agent.reset(pb.ResetRequest(boot=1, pair=0, peer=77))
        system.arrive([at(250 * 1000, whole())])
        with pytest.raises(Refused, match="this is run 2, not 1"):
            agent.clear(pb.ClearRequest(boot=1))
        assert found() == (2, [False])
        made = agent.reset(pb.ResetRequest(boot=2, pair=0, peer=77))
        assert (made.peer, made.ready) == (77, True) and found() == (2, [True])


# ---------------------------------------------------------------- how often it looks


# By the mix: how often a queue pair goes down; the seconds in which it comes back, if it does; packets that are lost.
GAPS: dict[str, tuple[int, list[range], list[int]]] = {
    "": (0, [], []),
    "server0:dead@1ms..": (1, [], [2]),
    "servers:dead@1ms..": (2, [], [2, 3]),
    "server0:dead@1ms..5000s": (1, [range(5000, 7199)], [2]),
    "server0:dead@1s..2000s": (1, [range(2000, 3599)], []),
    "server0:nak@1ms": (1, [range(3600, 3601)], [2]),
}


@pytest.mark.parametrize("mix", GAPS)
def test_gaps_of_hours_cost_few_looks(mix: str, asked: Asked) -> None:
    """Two packets each hour, one for each server: what is dead is asked a few times before the next packet comes."""
    spec, design = designed(NAME)
    data = [to_server(0), to_server(1)]
    with at_work(spec, design, run_of(spec, design, mix)) as system, asked.of(system):
        for n in range(4):
            system.arrive([at(n * HOUR, data[0]), at(n * HOUR + 20_000, data[1])])
        found = system.counters
        system.finish()
        assert asked.count("look", "health", "describe") <= (40 if mix else 3)
        assert found["sweeps"] < 3 * 25, "no generator runs while nothing moves"
        downs, back, lost = GAPS[mix]
        ups = asked.times("up 0")
        assert [up // SECOND in seconds for up, seconds in zip(ups, back, strict=True)] == [True] * len(back)
        assert (system.counters["queue pairs taken down"], system.counters["queue pairs restored"]) == (downs, len(ups))
        assert [it.packet for it in system.of(Kind.lost)] == lost


def test_sweeps_go_on_after_a_gap() -> None:
    spec, design = designed(NAME)
    with at_work(spec, design) as system:
        sweeps = []
        for time in (0, HOUR, HOUR + 10 * MS):
            system.arrive([at(time, whole())])
            sweeps.append(system.counters["sweeps"])
        assert sweeps[0] == 0 and 4 < sweeps[1] < 30 and sweeps[2] > sweeps[1] + 4


def test_it_takes_only_what_the_shipped_controller_takes() -> None:
    spec, design = designed(NAME)
    wrong = replace(design.site.controller, back_off=BackOff(high=0.1, low=0.9))
    refused = at_work(spec, replace(design, site=replace(design.site, controller=wrong)))
    with pytest.raises(ConfigurationError, match="0 < low < high"), refused:
        pass
