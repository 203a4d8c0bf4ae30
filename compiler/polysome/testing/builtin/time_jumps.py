"""Long idleness and packets at one instant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from polysome.analysis.values_text import duration
from polysome.engines.options import RunOptions
from polysome.ir import program as ir
from polysome.testing.builtin.base import draw, some
from polysome.testing.builtin.invariants import hold
from polysome.testing.builtin.rerun import Comparison, rerun
from polysome.testing.execution import Execution

SECOND = 10**9
USUAL = (1, SECOND, 3600 * SECOND)
MOST_FIRINGS = 2000  # of a timer within one gap, so that a trace takes no longer than it should


@dataclass(frozen=True)
class TimeJumps(Comparison):
    """All that holds for a single run holds too when nothing arrives for a while in the middle of the trace (as long as
    a timeout of the spec, a nanosecond more or less, or a second, an hour) and when several packets have the same time.
    For a long trace, one gap and one number of packets are tried.
    """

    name: ClassVar[str] = "time jumps"
    place: ClassVar[int] = 11

    def cases(self, execution: Execution) -> int:
        trace = execution.record.trace
        cases = 0
        for gap in some(trace, "jump", jumps(execution.record.program)):
            options = RunOptions(jump=gap, seed=draw(trace, "where", 1 << 16))
            cases += hold(rerun(execution, options), f"after a gap of {duration(gap)} more")
        for ties in some(trace, "ties", (2, 5)):
            cases += hold(rerun(execution, RunOptions(ties=ties)), f"with {ties} packets at a time")
        return cases


def jumps(program: ir.Program) -> list[int]:
    """Gaps that are worth a try, ns; shorter than MOST_FIRINGS of each timer."""
    found = set(USUAL)
    for decl in program.state.values():
        for timeout in (decl.idle, decl.age) if isinstance(decl, ir.MapDecl) else ():
            most = None if timeout is None else timeout.maximum
            if timeout is not None and isinstance(timeout.value, ir.Const):
                most = timeout.value.value
            found |= {most - 1, most, most + 1} if most else set()
    idle = program.schedule.options.get("idle")
    found |= {idle - 1, idle} if isinstance(idle, int) else set()
    longest = min((timer.period * MOST_FIRINGS for timer in program.timers), default=1 << 60)
    return sorted(gap for gap in found if 0 < gap <= longest)


PROPERTY = TimeJumps()
