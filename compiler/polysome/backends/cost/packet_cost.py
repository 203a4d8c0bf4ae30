"""What one recorded packet costs: cycles of each part of its way, and the cache lines that it touches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from polysome.backends.cost import memory
from polysome.backends.cost.analyser import Cycles, Processor, cycles
from polysome.backends.cost.disassembly import disassembled, mapped_at
from polysome.backends.cost.places import NO_PLACE, Place, Places
from polysome.backends.cost.tracing import MOST, CostError, Recording, Steps

# Columns of a cost, in order of the packet's way: where its headers are and what its fields hold; keys, their hashes
# and prefetches; the handler; the bytes that change; all else: clock and expiry, counters, the schedule.
PARTS = ("parse", "keys", "decide", "apply", "rest")
_PART = {"parse": "parse", "prepare": "keys", "prefetch": "keys", "decide": "decide", "apply": "apply"}
_RSP = 5  # in a step


@dataclass(frozen=True)
class StateLines:
    """Distinct cache lines of state and config that one place of the handler is the first to touch; `ahead`: how many
    of them were fetched before it began. NO_PLACE: they were fetched in vain.
    """

    place: Place
    lines: int
    ahead: int


@dataclass(frozen=True)
class PacketCost:
    """`parts`: by name, all PARTS. `state`: the lines that the handler touches. `frame`: lines of the packet itself.
    `spec_lines`: instructions of the handler by file and line of the spec. `in_libraries`: instructions outside of the
    NF, such as allocations.
    """

    parts: Mapping[str, Cycles]
    state: tuple[StateLines, ...]
    frame: int
    spec_lines: Mapping[tuple[str, int], int]
    in_libraries: int

    @property
    def cycles(self) -> float:
        return sum(part.cycles for part in self.parts.values())


@dataclass(frozen=True)
class _Step:
    address: int
    registers: Sequence[int]
    part: str
    text: str
    calls: tuple[int, ...]


def costs(recording: Recording, packets: Sequence[Steps], model: Processor) -> list[PacketCost]:
    """The costs of some of the packets that were recorded. CostError if one has more instructions than are recorded."""
    if any(steps.cut for steps in packets):
        raise CostError(f"a packet takes more than {MOST} instructions, which is more than can be recorded")
    texts = disassembled(recording, {step[0] for steps in packets for step in steps})
    taken = [list(_steps(recording, steps, texts)) for steps in packets]
    places = Places(recording)
    places.find(a for steps in taken for s in steps if s.part == "decide" for a in (s.address, *s.calls))
    pieces = [[s.text for s in _once(steps, part)] for steps in taken for part in PARTS]
    found = iter(cycles(pieces, model))
    done = []
    for steps, packet in zip(taken, packets, strict=True):
        located = list(_located(steps, places))
        done.append(
            PacketCost(
                {part: next(found) for part in PARTS},
                tuple(_state(recording, steps, packet, located)),
                _frame(steps, packet),
                Counter((place.file, place.line) for place in located if place.line),
                sum(not _own(recording, step.address) for step in steps),
            )
        )
    return done


def _own(recording: Recording, address: int) -> bool:
    found = mapped_at(recording, address)
    return found is not None and found.file == str(recording.program)


def _steps(recording: Recording, steps: Steps, texts: Mapping[int, str]) -> Iterator[_Step]:
    """With the part of the way that each is in, which ends where its function returns, and the calls that led to it."""
    part, start = "rest", 0
    calls: list[tuple[int, int]] = []  # stack pointer before the call, address
    for step in steps:
        address, rsp, text = step[0], step[_RSP], texts.get(step[0], "nop")
        while calls and rsp >= calls[-1][0]:
            calls.pop()
        if part != "rest" and rsp > start:
            part = "rest"
        if part == "rest" and address in recording.stages:
            part, start, calls = _PART[recording.stages[address]], rsp, []
        yield _Step(address, step[1:], part, text, tuple(at for _, at in calls))
        if text.startswith("call"):
            calls.append((rsp, address))


def _located(steps: Sequence[_Step], places: Places) -> Iterator[Place]:
    """The places of a handler's steps, NO_PLACE for others. Code that the compiler shares between lines has no line of
    its own: it is at the line before it.
    """
    now = NO_PLACE
    for step in steps:
        if step.part != "decide":
            yield NO_PLACE
            continue
        place = places.of(step.address, step.calls)
        now = place if place.line else Place(now.file, now.line, place.part)
        yield now


def _once(steps: Sequence[_Step], part: str) -> Iterator[_Step]:
    """The steps of a part; a repeated string instruction, one step for each time, once."""
    last = 0
    for step in steps:
        if step.part == part and not (step.text.startswith("rep") and step.address == last):
            yield step
        last = step.address


def _touched(recording: Recording, steps: Sequence[_Step], packet: Steps) -> Iterator[tuple[int, int]]:
    """(number of the step, number of the line) of state that is touched: what is neither of the frame, the stack,
    the machine, the packet's working area, nor memory that a file was mapped to.
    """
    own = (packet.frame, packet.machine, packet.packet, packet.stack, *(m.region for m in recording.mapped))
    for at, step in enumerate(steps):
        for address_of, size in memory.operands(step.text):
            address = address_of(step.registers)
            if not any(address in region for region in own):
                for number in memory.lines(address, size):
                    yield at, number


def _frame(steps: Sequence[_Step], packet: Steps) -> int:
    """How many lines of the frame are touched."""
    touched = (
        number
        for step in steps
        for address_of, size in memory.operands(step.text)
        if (address := address_of(step.registers)) in packet.frame
        for number in memory.lines(address, size)
    )
    return len(set(touched))


def _state(
    recording: Recording, steps: Sequence[_Step], packet: Steps, located: Sequence[Place]
) -> Iterator[StateLines]:
    """By the place in the handler that touches them first, in its order; then those that nothing did.

    What keys are computed from is not counted: a table's own data, the same for all packets. Only what they fetch is.
    """
    fetched: set[int] = set()
    shared: set[int] = set()
    first: dict[int, Place] = {}
    for at, number in _touched(recording, steps, packet):
        step = steps[at]
        if memory.fetches(step.text):
            fetched.add(number)
        elif step.part == "keys" and number not in fetched:
            shared.add(number)
        elif step.part == "decide" and number not in first and number not in shared:
            first[number] = located[at]
    for place in dict.fromkeys(first.values()):
        numbers = [n for n, found in first.items() if found == place]
        yield StateLines(place, len(numbers), sum(n in fetched for n in numbers))
    vain = len(fetched - first.keys() - shared)
    if vain:
        yield StateLines(NO_PLACE, vain, vain)
