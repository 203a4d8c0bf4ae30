"""A system as its C ABI has it: a run in pieces, what records and names say, and errors as words."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.system.at_work import START, AtWork, Frame, at, at_work, designed, run_of, running, through, whole
from tests.system.test_rare_values import parkable

from polysome.backends.nf_cpp.config_blob import encode
from polysome.backends.nf_cpp.library import Failed, arrivals
from polysome.backends.system import structs
from polysome.backends.system.abi import NEVER, Kind, Running, Stop, load
from polysome.backends.system.cables import CABLE
from polysome.backends.system.configure import configure
from polysome.backends.system.library import build
from polysome.engines import ENGINES
from polysome_controller.program import PRIMARIES

pytestmark = [
    pytest.mark.skipif(ENGINES["system"].missing() is not None, reason=str(ENGINES["system"].missing())),
    pytest.mark.slow,
]

NAME = "load_balancer"
POLL = 1_000_000  # ns between two looks


# ---------------------------------------------------------------- what is told


def stranger() -> bytes:
    """A packet that the NF drops: it is not for the VIP."""
    data = whole()
    return data[:30] + bytes([10, 9, 9, 9]) + data[34:]


def test_a_run_from_create_to_report() -> None:
    with at_work(*designed(NAME)) as system:
        system.arrive([at(0, parkable(NAME)[2]), at(6_000, stranger())])
        system.finish()
        assert [it.kind for it in system.records] == [
            *(Kind.decided, Kind.answered, Kind.decided, Kind.dropped, Kind.left, Kind.end),
        ]
        found = list(system.running.report().items())
        assert found[:5] == [(f"packets {what}", n) for what, n in zip(FATES, (2, 1, 1, 0, 0), strict=True)]
        assert ("nf dropped: not for the VIP", 1) in found
        assert not list(system.running.records()), "they were told"


FATES = ("in", "left", "dropped", "held", "lost")


def test_names_of_numbers() -> None:
    with at_work(*designed(NAME)) as system:
        system.arrive([at(0, stranger())])
        system.finish()
        assert system.running.reason(system.of(Kind.dropped)[0].port) == "not for the VIP"
        links = [system.running.link(n) for n in range(11)]
        names = ("traffic0", "traffic1", "nf", "server0", "server1")
        assert links == [*(f"{name} {way}" for name in names for way in ("out", "in")), ""]
        assert system.running.cause(1) == "switch: a packet went nowhere"
        assert system.running.reason(999) == system.running.cause(9999) == ""


@pytest.mark.parametrize("capture", [True, False])
def test_captured_links_tell_every_frame(capture: bool) -> None:
    spec, design = designed(NAME)
    with at_work(spec, design, run_of(spec, design, capture=capture)) as system:
        system.arrive([at(0, parkable(NAME)[2])])
        system.finish()
        path = sorted(system.running.link(it.port) for it in system.of(Kind.frame))
        carried = ["nf in", "nf out", "server0 in", "server0 out", "server0 out", "traffic0 in", "traffic1 out"]
        assert path == (carried if capture else [])


def test_config_changes_happen_at_their_time() -> None:
    """From then on there is one other backend; a flow of before, too, loses the one that it had."""
    spec, _ = designed(NAME)
    new = {"backends": ((0x0A000909, 0x020000000B09, 1),)}
    with at_work(*designed(NAME)) as system:
        system.running.change_at(START + 50_000, encode(spec.program, new))
        system.arrive([at(0, whole()), at(48_000, whole()), at(52_000, whole())])
        system.finish()
        assert [it.time - START > 50_000 for it in system.of(Kind.decided)] == [False, False, True]
        assert [it.data[30:34].hex() for it in system.of(Kind.left)] == ["0a000101", "0a000101", "0a000909"]


# ---------------------------------------------------------------- errors


def refused(system: AtWork, frame: Frame) -> str:
    with pytest.raises(Failed) as failed:
        system.arrive([frame])
    return str(failed.value)


def test_errors_are_words() -> None:
    with at_work(*designed(NAME)) as system:
        assert refused(system, at(0, whole(), 7)) == "there is no port 7"
    with at_work(*designed(NAME)) as system:
        system.running.change_at(START + 1, b"\1\2")
        system.arrive([at(0, whole())])
        with pytest.raises(Failed, match=r"^a config change is malformed$"):
            system.finish()


def test_a_system_that_makes_no_sense_is_refused() -> None:
    def error(changed: Callable[[structs.System], None], mix: str = "") -> str:
        spec, design = designed(NAME)
        with pytest.raises(Failed) as failed, running(spec, design, run_of(spec, design, mix), changed):
            pass
        return str(failed.value)

    def second_cable(system: structs.System) -> None:
        system.servers[1].cable.port = 32

    def nowhere(system: structs.System) -> None:
        system.faults[0].index = 2

    assert error(second_cable) == "port 32 of the switch has two cables"
    assert error(nowhere, "server1:dead@1ms") == "a fault is at a server, port or NF that there is not"
    spec, design = designed(NAME)
    with pytest.raises(Failed, match=r"^the config is malformed$"):
        Running(load(build(design, counted=True)), configure(design, run_of(spec, design)), b"\0")


def test_what_a_controller_asks_of_nobody_is_refused() -> None:
    with at_work(*designed(NAME)) as system:
        switch, agents = system.running.switch, system.running.agents
        for ask in (
            lambda: switch.put("Ingress.nothing", [1], "send", [1]),
            lambda: switch.put("Ingress.verdicts", [1], "nothing", [1]),
            lambda: switch.put("Ingress.verdicts", [1, 2], "send", [1]),
            lambda: switch.set_register("Ingress.nothing", 0, 0),
            lambda: switch.set_register(PRIMARIES, 1 << 20, 0),
            lambda: switch.watch("Ingress.nothing", 1, POLL),
            lambda: switch.counters("Ingress.nothing", 0, 1),
            lambda: agents.state(2, 1),
            lambda: agents.reset(0, 1, 77),
        ):
            with pytest.raises(Failed, match=r"."):
                ask()
        assert switch.port(99) is None and agents.state(1, 1) == (1, (True,))


def test_a_port_that_is_held_keeps_its_frames_until_it_is_not() -> None:
    spec, design = designed(NAME)
    nf = design.site.nf_servers[0].port
    with at_work(spec, design) as system:
        system.running.switch.hold(nf, True)
        system.arrive([at(0, whole()), at(POLL, whole())])
        assert not system.of(Kind.decided)
        system.running.switch.hold(nf, False)
        system.finish()
        decided = system.of(Kind.decided)
        assert [it.packet for it in decided] == [0, 1] and decided[0].time >= START + POLL
        assert system.counters["packets left"] == 2


# ---------------------------------------------------------------- a run in pieces


def test_a_run_stops_when_it_is_due_and_goes_on_with_what_was_not_taken() -> None:
    frames = [at(n * 10_000, data) for n, data in enumerate((parkable(NAME)[2], whole(), stranger()))]
    expected = through(designed(NAME), *frames).records
    with at_work(*designed(NAME)) as system:
        run, batch = system.running, arrivals(frames)

        def until(first: int, time: int) -> tuple[Stop, int, int]:
            stop = run.arrive(batch, first, time)
            return stop, run.progress().taken, run.progress().now - START

        assert until(0, START - 1) == (Stop.due, 0, -1)
        assert until(0, START + 9_999) == (Stop.due, 1, 9_999)
        system.note()
        assert [it.kind for it in system.records] == [Kind.decided, Kind.answered], "and nothing later"
        assert until(1, START + 10_000) == (Stop.due, 1, 10_000), "what comes just then has come"
        assert until(2, NEVER) == (Stop.done, 1, 20_000)
        assert run.finish_by(START + 20_000) is Stop.due and run.finish_by(START + 21_000) is Stop.due
        assert run.progress().now == START + 21_000
        assert run.finish_by(NEVER) is Stop.done
        system.note()
        assert system.records == expected


def test_a_run_stops_at_a_look_that_finds_something() -> None:
    """A look each 3 us from the first thing on that happens; it finds what is not as it was."""
    with at_work(*designed(NAME)) as system:
        run, data = system.running, whole()
        period, came = 3_000, (len(data) + 24) * 8 + CABLE
        run.switch.watch(PRIMARIES, 2, period)
        batch = arrivals([at(0, data), at(20_000, data), at(40_000, parkable(NAME)[2])])
        assert run.arrive(batch, 0, START + 20_000) is Stop.due and run.progress().taken == 2, "nothing has changed"
        run.switch.set_register(PRIMARIES, 2, 1)
        assert run.arrive(batch, 2, START + 30_000) is Stop.due, "it is none of those that are looked at"
        run.switch.set_register(PRIMARIES, 1, 0)
        for looks in (10, 11):
            assert run.arrive(batch, 2, NEVER) is Stop.seen
            assert (run.progress().taken, run.progress().now - START) == (0, came + looks * period)
        run.switch.watch(PRIMARIES, 2, period)
        assert run.arrive(batch, 2, NEVER) is Stop.done and run.progress().taken == 1
        run.switch.set_register(PRIMARIES, 1, 1)
        assert run.finish_by(NEVER) is Stop.seen and run.finish_by(START + 50_000) is Stop.seen
        run.switch.watch(PRIMARIES, 0, period)
        assert run.finish_by(NEVER) is Stop.done


def test_packets_of_no_time_at_all_and_none_at_all() -> None:
    with at_work(*designed(NAME)) as system:
        run = system.running
        assert run.arrive(arrivals([]), 0, NEVER) is Stop.done and run.progress().taken == 0
        assert run.finish_by(NEVER) is Stop.done
        system.note()
        assert [it.kind for it in system.records] == [Kind.end]
