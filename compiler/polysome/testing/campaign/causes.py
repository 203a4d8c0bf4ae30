"""What a failure comes down to, so that the same fault, found twice, is told once."""

from __future__ import annotations

from dataclasses import dataclass

from polysome.syntax.spans import Span
from polysome.testing.execution import Execution, Failure, Judgement, Property
from polysome.testing.packet_paths import followed


@dataclass(frozen=True, order=True)
class Cause:
    """Failures of a property in the same `expected` place (empty for built-in ones), about packets whose fate was
    `decided` in the same places of the spec: a statement's, or the reason why it was dropped if no statement did that.

    Two faults in one statement have one cause, and a fault that shows at two statements has two.
    """

    expected: str
    decided: tuple[str, ...]

    def said(self) -> str:
        """For a person."""
        parts = [f"expected by {self.expected}"] if self.expected else []
        parts += [f"decided by {', '.join(self.decided)}"] if self.decided else []
        return "; ".join(parts) or "of the whole trace"


def cause(execution: Execution, failure: Failure) -> Cause:
    """Runs the interpreter on the trace, whatever the engine was: the cause is told in terms of the spec."""
    program, record = execution.spec.program, execution.record
    expected = _place(execution, failure.span)
    if record.crash is not None:
        return Cause(expected, (f"a crash ({record.crash.partition(':')[0]})",))
    places = []
    paths = {example.packet: path for path, example in followed(program, record.decided())} if failure.packets else {}
    for number in sorted(set(failure.packets)):
        path = paths.get(number)
        if path is not None and path.verdict is not None:
            places.append(_place(execution, path.verdict))
            continue
        reason = record.fates[number].reason
        places.append(f'"{reason}"' if reason is not None else "no handler" if path is None else "several statements")
    return Cause(expected, tuple(dict.fromkeys(places)))


def _place(execution: Execution, span: Span | None) -> str:
    return "" if span is None else execution.spec.program.place(span)


@dataclass(frozen=True)
class By:
    """A property that fails by one cause only."""

    whose: Property
    wanted: Cause

    @property
    def name(self) -> str:
        return self.whose.name

    @property
    def doc(self) -> str:
        return self.whose.doc

    @property
    def reruns(self) -> bool:
        return self.whose.reruns

    def judge(self, execution: Execution) -> Judgement:
        """As the property, which has nothing to say of failures by other causes."""
        judgement = self.whose.judge(execution)
        if judgement.failure is None or cause(execution, judgement.failure) == self.wanted:
            return judgement
        return Judgement(None, judgement.cases)
