"""What a fault changes on a trace: for whoever watches the ports, and for whoever also sees state."""

from __future__ import annotations

from dataclasses import dataclass

from polysome.engines.record import Copy, Fate, Made, Record
from polysome.testing.builtin.base import difference
from polysome.testing.builtin.compare import fate_text
from polysome.testing.execution import Execution, Failure, Judgement, execute
from polysome.testing.spec import Spec


def alike(one: Record, other: Record) -> bool:
    """The same packets, reasons and state?"""
    if (one.fates, one.emitted, one.crash) != (other.fates, other.emitted, other.crash):
        return False
    return one.history is None or other.history is None or one.history.like(other.history)


def differs(one: Record, other: Record) -> Failure | None:
    """The first difference that shows at the ports; None if there is none. Why a packet was dropped does not show."""
    for mine, theirs in zip(one.fates, other.fates, strict=False):
        if (mine.copies, mine.held) != (theirs.copies, theirs.held):
            return Failure((mine.number,), (*_fates(one, mine, other, theirs), *_bytes(mine.copies, theirs.copies)))
    for made, remade in zip(one.emitted, other.emitted, strict=False):
        if (made.port, made.time, made.data) != (remade.port, remade.time, remade.data):
            return Failure(_causes(made), ("another packet is emitted", *difference(made.data, remade.data)))
    if len(one.emitted) != len(other.emitted):
        extra = max(one.emitted, other.emitted, key=len)[min(len(one.emitted), len(other.emitted))]
        many = f"{len(other.emitted)} packets are emitted with the fault, {len(one.emitted)} without"
        return Failure(_causes(extra), (many,))
    if one.crash != other.crash:
        return Failure((), (f"the engine fails: {other.crash or one.crash}",))
    return None


def _fates(one: Record, mine: Fate, other: Record, theirs: Fate) -> tuple[str, str]:
    return f"without the fault: {fate_text(one, mine)}", f"with the fault:    {fate_text(other, theirs)}"


def _bytes(mine: tuple[Copy, ...], theirs: tuple[Copy, ...]) -> tuple[str, ...]:
    for a, b in zip(mine, theirs, strict=False):
        if a.data != b.data:
            return difference(a.data, b.data)
    return ()


def _causes(made: Made) -> tuple[int, ...]:
    return () if made.cause is None else (made.cause,)


@dataclass(frozen=True, eq=False)
class NoDifference:
    """A promise of a mutant: that it does what its spec does. It is broken where a property could notice the fault."""

    spec: Spec
    name: str

    @property
    def doc(self) -> str:
        return "The fault makes no difference."

    @property
    def reruns(self) -> bool:
        return True

    def judge(self, execution: Execution) -> Judgement:
        original = execute(self.spec, execution.trace, execution.engine)
        return Judgement(differs(original.record, execution.record), 1)
