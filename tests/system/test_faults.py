"""One thing that goes wrong at a time, and what it costs to the packet; and that faults have nothing to do with others.

What leaves is right under all mixes (test_fault_mixes.py). Here are the costs, and where faults are.
"""

from __future__ import annotations

import pytest
from tests.system.at_work import START, at, at_work, designed, run_of, whole
from tests.system.outcome import Frame, Outcome, balanced, ran, right, traffic

from polysome.backends.system import structs
from polysome.backends.system.abi import Kind
from polysome.backends.system.cables import CABLE
from polysome.engines import ENGINES
from polysome.plan.architectures.ribosome.store import queue_pairs

pytestmark = [
    pytest.mark.skipif(ENGINES["system"].missing() is not None, reason=str(ENGINES["system"].missing())),
    pytest.mark.slow,
]

NAME = "load_balancer"
MS = 1_000_000
US = 1_000


def busy(count: int = 1500, gap: int = 6_000) -> tuple[Frame, ...]:
    return traffic(designed(NAME)[0], count, 31, gap)


def under(mix: str, frames: tuple[Frame, ...] = (), seed: int = 4, capture: bool = False) -> Outcome:
    """What left is right, and every packet, and every frame on a link, is accounted for."""
    outcome = ran(NAME, frames or busy(), mix, seed, capture=capture)
    right(outcome)
    balanced(outcome)
    return outcome


def test_nothing_is_lost_without_any() -> None:
    outcome = under("")
    assert outcome.counters["packets left"] == len(outcome.frames) and not outcome.lost
    assert outcome.events["merged"] == outcome.events["parked"] > 500
    assert outcome.events["merged"] + outcome.events["returned"] == len(outcome.frames)
    assert outcome.counters["nf out fields bytes"] == 60 * outcome.events["parked"]
    assert outcome.total("lost", "down", "fcs errors", "duplicated", "reordered", "flipped") == 0


def test_loss_on_the_nfs_link_costs_exactly_the_packets_that_it_hits() -> None:
    outcome = under("nf:loss=0.01")
    out, back = (outcome.counters[f"nf {way} lost"] for way in ("out", "in"))
    assert out > 5 and back > 5
    assert (outcome.losses("nf out: lost"), outcome.losses("nf in: lost")) == (out, back)
    assert len(outcome.lost) == out + back
    assert len(outcome.decisions) == len(outcome.frames) - out


def test_loss_at_a_port_costs_exactly_the_packets_that_it_hits() -> None:
    outcome = under("clients:loss=0.02;servers:loss=0")
    lost = outcome.counters["traffic0 in lost"]
    assert lost > 10 and len(outcome.lost) == outcome.losses("traffic0 in: lost") == lost


def test_repeated_frames_harm_nobody() -> None:
    outcome = under("all:dup=0.05")
    assert not outcome.lost and outcome.counters["packets left"] == len(outcome.frames)
    twice = outcome.counters["nf out duplicated"]
    assert len(outcome.decisions) == len(outcome.frames) + twice and twice > 50
    assert outcome.events["repeated_edits"] > 50 and outcome.total(" repeated") > 50


def test_frames_that_others_overtake_are_told_apart() -> None:
    outcome = under("all:reorder=0.01/20us")
    assert outcome.counters["nf out reordered"] > 10 and outcome.total("server0 in reordered") > 2
    assert outcome.counters["packets left"] > 0.9 * len(outcome.frames)
    assert outcome.losses("lost", "fcs error", "down") == 0


def test_flipped_bits_are_caught_by_the_checksum_or_by_the_icrc() -> None:
    """A quarter of those to a server pass its MAC; what comes from it, or goes to the NF, never does."""
    outcome = under("all:corrupt=0.02")
    flipped = {name: n for name, n in outcome.counters.items() if name.endswith(" flipped") and n}
    assert set(flipped) == {"server0 out flipped", "server1 out flipped"}
    for server in ("server0", "server1"):
        assert outcome.counters[f"{server} out fcs errors"] > flipped[f"{server} out flipped"] > 0
        assert outcome.counters[f"{server} in fcs errors"] > 0
    drops = {name: n for name, n in outcome.counters.items() if name.startswith("server") and " dropped: " in name}
    damaged = sum(n for name, n in drops.items() if not name.endswith(": out of sequence"))
    assert outcome.counters["nf out fcs errors"] > 0 and outcome.counters["nf in fcs errors"] > 0
    assert outcome.total("dropped: bad ICRC") > 0 and damaged <= sum(flipped.values())
    assert outcome.total("not ready") == 0 and outcome.counters["queue pairs taken down"] == 0


# ---------------------------------------------------------------- at their times


def test_a_link_that_is_down_loses_everything_and_nothing_else() -> None:
    """From its first ns to the one before its last."""
    outcome = under("nf:down@2ms..3ms", capture=True)
    within = range(START + 2 * MS, START + 3 * MS)
    for way in ("out", "in"):
        sent = sum(time in within for time, _ in outcome.links[f"nf {way}"])
        assert outcome.losses(f"nf {way}: down") == outcome.counters[f"nf {way} down"] == sent
    assert len(outcome.lost) == outcome.counters["nf out down"] + outcome.counters["nf in down"] > 100
    assert not any(time in range(within.start + 60 * US, within.stop) for time in (d.time for d in outcome.decisions))


@pytest.mark.parametrize(("late", "lost"), [(0, 1), (1, 0)])
def test_an_interval_ends_before_its_end(late: int, lost: int) -> None:
    """The frame's last bit is on the link at the last ns of the interval, or one later."""
    data = whole()
    leaves = (len(data) + 24) * 8
    spec, design = designed(NAME)
    run = run_of(spec, design, f"clients:down@1us..{leaves + 10_001}ns")
    with at_work(spec, design, run) as system:
        system.arrive([at(10_000 + late, data)])
        system.finish()
        assert system.counters["traffic0 in down"] == system.counters["packets lost"] == lost


def test_a_stuck_nf_loses_what_its_queue_does_not_hold() -> None:
    def changed(system: structs.System) -> None:
        system.nf_queue = 16

    spec, design = designed(NAME)
    run = run_of(spec, design, "nf:stuck@2ms..4ms", capture=True)
    with at_work(spec, design, run, changed) as system:
        system.arrive(busy())
        system.finish()
        stuck = range(START + 2 * MS, START + 4 * MS)
        assert not any(it.time in stuck for it in system.of(Kind.decided))
        assert sum(it.time == stuck.stop for it in system.of(Kind.decided)) == 16
        captured = (it for it in system.of(Kind.frame) if system.running.link(it.port) == "nf out")
        came = sum(it.time + CABLE in stuck for it in captured)
        full = [it.packet for it in system.of(Kind.lost)]
        assert system.counters["lost by nf: receive queue full"] == len(full) == came - 16 > 100


def test_a_fatal_nak_takes_each_queue_pair_down_until_it_is_reset() -> None:
    """Two of each server: the failing one's both refuse a request, once; the other server's none."""
    frames = traffic(designed("telemetry")[0], 600, 31)
    outcome = ran("telemetry", frames, "server1:nak@1ms", 4, capture=True)
    right(outcome)
    balanced(outcome)
    assert queue_pairs(outcome.design.plan) == (0, 0, 1, 1)
    found = {
        name: n
        for name, n in outcome.counters.items()
        if " nak " in name and "frames" not in name and "bytes" not in name
    }
    assert found["server1 nak 3"] == outcome.counters["server1 refused"] == 2 and "server0 nak 3" not in found
    assert outcome.events["down"] == outcome.counters["queue pairs taken down"] == 2
    assert outcome.counters["queue pairs restored"] == outcome.counters["server1 resets"] == 2
    assert outcome.counters["server0 resets"] == 0 and 2 <= len(outcome.lost) < 40


# ---------------------------------------------------------------- and their chance


def decided(outcome: Outcome) -> list[int]:
    return [decision.packet for decision in outcome.decisions]


def test_one_more_does_not_move_the_others() -> None:
    alone, both = under("clients:loss=0.01"), under("clients:loss=0.01;servers:loss=0.3")
    assert alone.counters["traffic0 in lost"] == both.counters["traffic0 in lost"] > 5
    assert decided(alone) == decided(both) and len(both.lost) > len(alone.lost) + 100


def test_a_seed_repeats_what_goes_wrong() -> None:
    first, second, other = (under("all:loss=0.01", seed=seed) for seed in (1, 1, 2))
    assert first.counters == second.counters and first.lost == second.lost
    assert first.lost != other.lost and other.lost
