"""Queue pairs that went down, and restarts of agents and of the controller itself."""

from __future__ import annotations

import asyncio
import time

from polysome_controller import control_pb2 as pb

from .conftest import SiteMaker
from .site import Site

# s, in ns: a stopped agent misses its calls' deadlines
PATIENT = {"queuePairs": 10**7, "load": 10**10, "health": 5 * 10**7, "deadline": 10**10, "misses": 3, "probes": 10**9}
STOPPED = {"queuePairs": 10**7, "load": 10**10, "health": 10**9, "deadline": 3 * 10**8, "misses": 3, "probes": 10**9}


def writes_of(s: Site, register: str, index: int) -> list[list[int]]:
    """The values that each request wrote there; requests without any are left out."""
    found = []
    for request in s.switch.requests:
        cells = [u.register for u in request.updates if u.WhichOneof("what") == "register"]
        values = [c.value for c in cells if c.register == register and c.index == index]
        if values:
            found.append(values)
    return found


def test_a_pair_that_went_down_is_restored_alone(site: SiteMaker) -> None:
    async def scenario() -> None:
        async with site() as s:
            await s.start()
            before = {pair: s.agents[0].pairs[pair].peer for pair in (0, 1)}
            s.switch.requests.clear()
            s.agents[0].log.clear()
            s.switch.take_down(1)
            await s.until(lambda: s.switch.up(1))
            await s.until(s.all_up)
            assert [pair.restores for pair in s.status().queue_pairs] == [0, 1, 0, 0]
            assert s.agents[0].log == ["reset 1"]  # the other pair's memory is in use
            assert writes_of(s, "Ingress.primaries", 1) == [[0], [1]]
            assert writes_of(s, "Ingress.primaries", 0) == []
            assert writes_of(s, "Ingress.silence", 1) == [[0], [0]]
            made = s.agents[0].pairs[1]
            assert made.peer != before[1] and made.peer & 15 == 1
            answers = {key for key, row in s.switch.rows["Ingress.answers"].items() if row[1] == (1,)}
            assert answers == {(40, made.peer)}
            status = s.status().queue_pairs[1]
            assert (status.restores, status.number) == (1, made.peer) and "switch" in status.reason

    asyncio.run(scenario())


def test_all_that_it_needs_is_there_before_it_is_up(site: SiteMaker) -> None:
    async def scenario() -> None:
        async with site() as s:
            await s.start()
            s.switch.requests.clear()
            s.switch.cells["Egress.epochs", "", 0] = 3  # ingress lost count, as its port was down
            s.switch.take_down(0)
            await s.until(s.all_up)
            assert s.switch.cells["Egress.epochs", "", 0] == s.switch.cells["Ingress.epochs", "", 0] == 0
            down, needed, up = s.switch.requests
            assert [u.WhichOneof("what") for u in down.updates] == ["register"] * 5
            assert {u.put.table for u in needed.updates if u.WhichOneof("what") == "put"} == {
                *("Ingress.answers", "Egress.queue_pairs", "Egress.servers", "Ingress.stations"),
            }
            assert [u.register.register for u in up.updates] == ["Ingress.primaries", "Ingress.backups"]

    asyncio.run(scenario())


def test_the_switch_may_be_filled_anew_while_an_agent_makes_queue_pairs(site: SiteMaker) -> None:
    """The numbers that they are made for are of no use then: they are made once more."""

    async def scenario() -> None:
        async with site(polling=PATIENT) as s:
            await s.start()
            s.agents[0].slow = 0.5
            numbered = s.status().queue_pairs[0].number
            s.switch.take_down(0)
            await s.until(lambda: s.status().queue_pairs[0].number not in (0, numbered))  # asked for by now
            s.switch.restart()
            await s.until(lambda: s.happened("is filled")[1:])
            s.agents[0].slow = 0.0
            await s.until(s.all_up)
            made = [pair.peer for agent in s.agents for pair in agent.pairs]
            assert [pair.number for pair in s.status().queue_pairs] == made

    asyncio.run(scenario())


def test_a_look_from_before_it_came_up_is_no_news(site: SiteMaker) -> None:
    async def scenario() -> None:
        async with site() as s:
            await s.start()
            s.switch.slow = 0.1  # a restore is quicker
            s.switch.take_down(0)
            await s.until(lambda: s.status().queue_pairs[0].restores == 1)
            await s.pause(8)
            assert s.status().queue_pairs[0].restores == 1

    asyncio.run(scenario())


def test_a_pair_stays_down_while_the_agent_does_not_answer(site: SiteMaker) -> None:
    async def scenario() -> None:
        async with site() as s:
            await s.start()
            await s.agents[0].stop()
            s.switch.take_down(0)
            await s.until(lambda: s.part("memory0").state == "down")
            assert not s.switch.up(0) and s.switch.up(1)  # the other one goes on
            assert s.switch.rows["Ingress.buckets"][(1, 0)] == ("choose", (0, 40, 2, 41))  # backups carry
            await s.agents[0].start()
            await s.until(s.all_up)

    asyncio.run(scenario())


def test_pairs_stay_down_while_their_server_has_no_link(site: SiteMaker) -> None:
    """Its management network still works, so it could be reset; what is then sent there would be lost all the same."""

    async def scenario() -> None:
        async with site() as s:
            await s.start()
            s.agents[0].link = False
            await s.until(lambda: not s.switch.up(0) and not s.switch.up(1))
            s.agents[0].log.clear()
            await asyncio.sleep(0.5)
            assert s.agents[0].log == [] and not s.switch.up(0)
            assert s.status().queue_pairs[0].reason == "its port has no link"
            s.agents[0].link = True
            await s.until(s.all_up)
            assert s.agents[0].log.count("reset 0") == 1

    asyncio.run(scenario())


def test_numbers_of_attempts_do_not_pile_up(site: SiteMaker) -> None:
    async def scenario() -> None:
        async with site() as s:
            await s.start()
            await s.agents[0].stop()
            s.switch.take_down(0)
            await s.pause(8)
            await s.agents[0].start()
            await s.until(s.all_up)
            assert len(s.switch.rows["Ingress.answers"]) == 4

    asyncio.run(scenario())


def test_a_restart_of_an_agent_restores_all_its_pairs(site: SiteMaker) -> None:
    async def scenario() -> None:
        async with site() as s:
            await s.start()
            s.agents[1].log.clear()
            await s.agents[0].stop()
            s.agents[0].restart()
            await s.agents[0].start()
            await s.until(lambda: s.agents[0].log.count("reset 1"))
            await s.until(s.all_up)
            assert s.agents[1].log == []
            assert len(s.switch.rows["Ingress.answers"]) == 4
            assert len(s.happened("queue pairs 0 to 1 are down: the agent began anew")) == 1

    asyncio.run(scenario())


def test_an_agent_with_a_new_address(site: SiteMaker) -> None:
    async def scenario() -> None:
        async with site() as s:
            await s.start()
            s.agents[0].restart()
            s.agents[0].number = 9
            await s.until(lambda: (0x020000000109,) in s.switch.rows["Ingress.stations"])
            await s.until(s.all_up)
            assert (0x020000000100,) not in s.switch.rows["Ingress.stations"]
            assert s.switch.rows["Egress.servers"][(40,)][1][0] == 0x020000000109

    asyncio.run(scenario())


def test_a_pair_that_somebody_else_reset_is_restored(site: SiteMaker) -> None:
    async def scenario() -> None:
        async with site() as s:
            await s.start()
            s.agents[0].pairs[0].ready = False
            await s.until(lambda: s.agents[0].pairs[0].ready)
            await s.until(s.all_up)
            assert s.happened("not ready at the agent")

    asyncio.run(scenario())


def test_the_controller_takes_over_without_a_single_change(site: SiteMaker) -> None:
    async def scenario() -> None:
        async with site() as s:
            await s.start()
            await s.stop_controller()
            for part in s.parts:
                part.calls.clear()
            await s.start_controller()
            await s.until(s.all_up)
            await s.pause(4)
            assert {call for part in s.parts for call in part.calls} <= {"Describe", "Health", "Statistics", "Read"}
            assert all(part.calls for part in s.parts)

    asyncio.run(scenario())


def test_what_changed_while_it_was_away_is_repaired_alone(site: SiteMaker) -> None:
    async def scenario() -> None:
        async with site() as s:
            await s.start()
            await s.stop_controller()
            s.agents[0].restart()
            s.agents[1].log.clear()
            s.switch.requests.clear()
            await s.start_controller()
            await s.until(lambda: s.agents[0].log.count("reset 1"))
            await s.until(s.all_up)
            assert s.agents[1].log == [] and len(s.switch.requests) == 3
            assert [pair.restores for pair in s.status().queue_pairs] == [1, 1, 0, 0]

    asyncio.run(scenario())


def test_the_switch_restarts_while_the_controller_is_away(site: SiteMaker) -> None:
    async def scenario() -> None:
        async with site() as s:
            await s.start()
            await s.stop_controller()
            s.switch.restart()
            for agent in s.agents:
                agent.log.clear()
            await s.start_controller()
            await s.until(s.all_up)
            assert all(agent.log[0] == "clear" for agent in s.agents)

    asyncio.run(scenario())


def test_a_server_that_was_away_for_long_is_cleared(site: SiteMaker) -> None:
    """Nobody knows for how long its queue pairs were down while there was no controller."""

    async def scenario() -> None:
        async with site() as s:
            await s.start()
            s.agents[0].log.clear()
            for pair in (0, 1):
                s.switch.take_down(pair)
            await s.until(s.all_up)
            assert "clear" not in s.agents[0].log  # no second has passed
            await s.stop_controller()
            for pair in (0, 1, 2):
                s.switch.take_down(pair)
            for agent in s.agents:
                agent.log.clear()
            await s.start_controller()
            await s.until(lambda: all(s.switch.up(pair) for pair in range(4)))
            assert s.agents[0].log == ["clear", "reset 0", "reset 1"] and s.agents[1].log == ["reset 0"]

    asyncio.run(scenario())


def test_a_state_that_is_lost_or_spoilt_means_all_anew(site: SiteMaker) -> None:
    async def scenario() -> None:
        async with site() as s:
            await s.start()
            for spoil in ("not json", '{"epoch": "x"}', None):
                before = s.status().epoch
                await s.stop_controller()
                file = s.folder / "state" / "state.json"
                file.unlink() if spoil is None else file.write_text(spoil)
                for agent in s.agents:
                    agent.log.clear()
                await s.start_controller()
                await s.until(lambda least=before: s.switch.newest[0] > least)
                await s.until(lambda: all(agent.log.count("reset 1") for agent in s.agents))
                await s.until(s.all_up)
                assert all(agent.log[0] == "clear" for agent in s.agents)
                assert s.status().epoch > before and len(s.switch.rows["Ingress.answers"]) == 4

    asyncio.run(scenario())


def test_ended_in_the_middle_of_a_restore(site: SiteMaker) -> None:
    """The old number and the one that was tried are both gone afterwards, and none is given twice."""

    async def scenario() -> None:
        async with site() as s:
            await s.start()
            s.agents[0].slow = 0.3
            s.agents[0].log.clear()
            old = s.agents[0].pairs[0].peer
            s.agents[0].calls.clear()
            s.switch.take_down(0)
            await s.until(lambda: "Reset" in s.agents[0].calls)
            await s.stop_controller()
            s.agents[0].slow = 0.0
            await s.start_controller()
            await s.until(s.all_up)
            numbers = {key[1] for key, row in s.switch.rows["Ingress.answers"].items() if row[1] == (0,)}
            assert numbers == {s.agents[0].pairs[0].peer} and old not in numbers
            assert s.agents[0].pairs[0].peer >> 4 == 3

    asyncio.run(scenario())


def test_an_earlier_controller_is_refused(site: SiteMaker) -> None:
    async def scenario() -> None:
        async with site() as s:
            await s.start()
            s.agents[0].newest = (s.status().epoch + 1, 0)  # another one has been here
            s.switch.take_down(0)
            await s.until(lambda: s.part("memory0").state == "refused")
            assert "not newer" in s.part("memory0").detail and not s.switch.up(0)

    asyncio.run(scenario())


def test_what_was_up_before_the_controller_began_anew_was_up_since_then(site: SiteMaker) -> None:
    """Not what began anew meanwhile, nor what was down between."""
    names = ("switch", "memory0", "memory1", "nf1", "nf2")

    async def scenario() -> None:
        async with site() as s:
            await s.start()
            since = {name: s.part(name).since for name in names}
            await s.stop_controller()
            s.nfs[0].restart()
            began = time.time_ns()
            await s.start_controller()
            await s.until(s.all_up)
            await s.until(lambda: s.part("nf1").state == "up")
            assert {name: s.part(name).since for name in names if name != "nf1"} == {
                name: when for name, when in since.items() if name != "nf1"
            }
            assert s.part("nf1").since >= began
            await s.agents[1].stop()
            await s.until(lambda: s.part("memory1").state == "down")
            await s.agents[1].start()
            await s.until(lambda: s.part("memory1").state == "up")
            assert s.part("memory1").since > began

    asyncio.run(scenario())


def test_statuses_say_who_is_down_and_since_when(site: SiteMaker) -> None:
    async def scenario() -> None:
        async with site() as s:
            await s.start()
            since = s.part("memory1").since
            await s.agents[1].stop()
            await s.until(lambda: s.part("memory1").state == "down")
            assert s.part("memory1").since > since
            answer: pb.ControllerStatus = await s.ask("Status", pb.Nothing())
            assert {part.name: part.state for part in answer.parts} == {
                **{"switch": "up", "memory0": "up", "memory1": "down"},
                **{"nf1": "up", "nf2": "standby"},
            }

    asyncio.run(scenario())


def test_an_agent_that_was_stopped_comes_back_with_all_its_queue_pairs_at_once(site: SiteMaker) -> None:
    """They went down one by one, and each attempt to restore some has failed."""

    async def scenario() -> None:
        async with site(pairs=6, polling=STOPPED) as s:
            await s.start()
            agent, goes_on = s.agents[0], asyncio.Event()
            agent.stopped = goes_on
            for pair in range(6):
                s.switch.take_down(pair)
                await s.until(lambda pair=pair: s.status().queue_pairs[pair].state != "up")  # type: ignore[misc]
                await asyncio.sleep(0.1)
            await s.until(lambda: s.part("memory0").state == "down")
            goes_on.set()
            await s.until(s.all_up)
            assert len(s.happened("queue pairs 0 to 5 are up")) == 2  # at the start, and now
            assert [pair.restores for pair in s.status().queue_pairs[:6]] == [1] * 6

    asyncio.run(scenario())
