"""What the switch remembers is right at every time: slots, cells, queue pairs, PSNs (DESIGN 14, "State").

From the text of the register actions and of the controls around them; each packet is one step, whatever it is and
whenever it comes, and what is claimed is shown by induction. Where that fails, a run of at most eight frames that shows
why is looked for (`runs`).
"""

from __future__ import annotations

from collections.abc import Iterator

from polysome.prove.case import Case
from polysome.prove.once import Once
from polysome.prove.p4.code import told
from polysome.prove.result import NOTHING, Result, Status
from polysome.prove.state.answered import Answered, acknowledged, pairs_up
from polysome.prove.state.claims import STATE, Missing, inductive
from polysome.prove.state.down import down
from polysome.prove.state.epochs import epochs
from polysome.prove.state.guard import Guard
from polysome.prove.state.memory import Memory, bounds
from polysome.prove.state.runs import Runs
from polysome.prove.state.slots import Slots
from polysome.prove.state.steps import Does, Step, steps
from polysome.prove.traffic import Traffic


def state(seen: Traffic) -> Iterator[Result]:
    """One result for each step of a packet's memory and of a queue pair's, and for each kind of answer.

    None where nothing is parked: nothing is remembered then.
    """
    if not seen.parked:
        return
    try:
        yield from _state(seen)
    except Missing as missing:
        yield Result(STATE, "registers", Status.refuted, str(missing))


def _state(seen: Traffic) -> Iterator[Result]:
    case, every = seen.case, steps(seen)
    declared = told((tuple(case.p4.registers.items()), tuple(case.p4.register_actions.items())))
    of = (every, declared, case.timeout, case.cells, case.most_reads)
    guard, results = _REMEMBERED.get(of, lambda: _remembered(case, every))
    yield from results
    up = pairs_up(every, guard)
    of_reads = epochs(seen, guard)
    yield from of_reads.results(seen)
    goes_on = acknowledged(every, guard, (*up, of_reads.ingress))
    yield from Answered(seen, guard, up, goes_on, of_reads).results()
    yield from down(seen, up)


_REMEMBERED: Once[tuple[Guard, list[Result]]] = Once()


def _remembered(case: Case, every: tuple[Step, ...]) -> tuple[Guard, list[Result]]:
    """What follows from the steps and the registers alone."""
    memory = Memory(case.p4, every)
    mine = [r for r in memory.registers if memory.of_packet(r) or memory.only(r)]
    slots = Slots(memory.only_about(mine), case.timeout, case.cells)
    guard = Guard(memory.only_about([r for r in memory.registers if r not in mine]), case.most_reads)
    runs = Runs(slots)
    packet = [*inductive(slots, runs.breaks), _reached(runs)]
    pair = [*inductive(guard, Runs(guard).breaks), _rest(guard)]
    return guard, packet + pair


def _reached(runs: Runs) -> Result:
    match runs.reaches(Does.parks, Does.reads, Does.leaves):
        case True:
            return Result(STATE, "a packet", Status.proved)
        case False:
            return Result(STATE, "a packet", Status.refuted, "no packet is parked, read, and leaves")
        case None:
            return Result(STATE, "a packet", Status.undecided, "no answer in time")


def _rest(guard: Guard) -> Result:
    known = guard.bounded([term for _, term in bounds(guard.memory.only_about([guard.reads]))])
    forgotten = guard.forgotten()
    right = NOTHING.prove(known, forgotten.term)
    return Result(STATE, "a rest", Status.proved if right else Status.refuted, "" if right else forgotten.why)
