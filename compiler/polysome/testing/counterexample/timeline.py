"""What happened in a run, packet by packet, for a person who has never seen the project."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator

from polysome.analysis.summary import summary
from polysome.analysis.values_text import duration, moment, text
from polysome.engines.interp import explain_text
from polysome.engines.interp.explain import explain
from polysome.engines.interp.seen import Eyes, difference
from polysome.engines.record import Copy, Fate
from polysome.testing.counterexample.touched import ended, touched
from polysome.testing.execution import Execution, Failure

WIDTH = 100
_LABEL = 9  # columns of "before", "saw", "state", …


def timeline(execution: Execution, failure: Failure | None, explained: bool = False) -> list[str]:
    """A block of lines per packet, at most 100 columns wide, and what was expected.

    Packets count from 1, as in packet analysers. With `explained`, those that the failure is about also show every
    statement that they ran (the interpreter's run, which defines what a spec means).
    """
    writer = _Writer(execution)
    lines: list[str] = []
    about = failure.packets if failure is not None else ()
    for fate in execution.record.fates:
        lines += [*writer.packet(fate, fate.number in about), *writer.before(fate), *writer.around(fate)]
        if explained and fate.number in about:
            found = explain(execution.record.program, execution.trace, fate.number)
            lines += writer.labelled("why", explain_text.step_lines(found.steps, WIDTH - _LABEL - 2))
        lines.append("")
    if execution.record.crash is not None:
        lines += [*writer.crash(execution.record.crash), ""]
    if failure is not None:
        lines += [*writer.wrapped(failure.said, "", ""), *_where(execution, failure)]
    return lines


def style(line: str) -> str:
    """How a terminal may show a line of a timeline: a style of the library `rich`, "" for none."""
    label = line[2 : 2 + _LABEL].strip()
    if not line.startswith("  "):
        return "bold" if line.startswith(("packet", "> packet")) else ""
    return {
        "before": "yellow",
        "state": "cyan",
        "out": "green",
        "dropped": "red",
        "held": "red",
        "crash": "red",
        "why": "dim",
    }.get(label, "")


def _where(execution: Execution, failure: Failure) -> list[str]:
    if failure.span is None:
        return []
    return [f"expected by {execution.spec.program.place(failure.span)}"]


class _Writer:
    def __init__(self, execution: Execution) -> None:
        self.record = execution.record
        self.program = execution.record.program
        self.start = self.record.fates[0].at if self.record.fates else 0
        self.eyes = Eyes.of(self.program, execution.trace)

    # ------------------------------------------------------------ lines

    def wrapped(self, texts: Iterable[str], first: str, other: str) -> list[str]:
        """Each text in lines of at most 100 columns; the very first begins with `first`, the others with `other`."""
        lines: list[str] = []
        for said in texts:
            for part in textwrap.wrap(
                explain_text.glued(said), WIDTH - len(other), break_long_words=False, subsequent_indent="  "
            ) or [""]:
                lines.append((first if not lines else other) + part.replace(explain_text.GLUE, " "))
        return lines

    def labelled(self, label: str, texts: Iterable[str]) -> list[str]:
        indent = " " * (_LABEL + 2)
        return self.wrapped(texts, f"  {label:<{_LABEL}}", indent)

    # ------------------------------------------------------------ a packet

    def packet(self, fate: Fate, marked: bool) -> list[str]:
        """Its headline."""
        since = "start" if fate.at == self.start else f"+{duration(fate.at - self.start)}"
        port = self.program.ports[fate.arrival.port]
        head = f"{'> ' if marked else ''}packet {fate.number + 1}  {since}  {port}  {summary(fate.arrival.data)}"
        return self.wrapped([head], "", "    ")

    def crash(self, said: str) -> list[str]:
        """The packet at which the engine failed, which has no fate."""
        arrivals, number = self.record.trace.arrivals, len(self.record.fates)
        if number >= len(arrivals):
            return self.wrapped([f"after the last packet the engine fails: {said}"], "", "    ")
        arrival = arrivals[number]
        head = f"> packet {number + 1}  {self.program.ports[arrival.port]}  {summary(arrival.data)}"
        return [*self.wrapped([head], "", "    "), *self.labelled("crash", [said])]

    def before(self, fate: Fate) -> list[str]:
        """What was due by it."""
        previous = self.record.fates[fate.number - 1].at if fate.number else None
        found: list[tuple[int, str]] = []
        for change in self.record.trace.changes:
            if (previous is None or change.time > previous) and change.time <= fate.at:
                config = self.program.config
                values = (
                    f"{n} = {text(v, config[n].type, self.program, self.start)}" for n, v in change.values.items()
                )
                found.append((change.time, f"config changes: {', '.join(values)}"))
        found += [(e.time, ended(self.program, e, self.start)) for e in self.record.ends if e.stamp == 2 * fate.number]
        if previous is not None:
            found += self._timers(previous, fate.at)
            found += self._left(previous, fate.at)
        lines = [f"{moment(time, self.start)}: {what}" for time, what in sorted(found, key=lambda due: due[0])]
        return self.labelled("before", lines)

    def _timers(self, previous: int, at: int) -> Iterator[tuple[int, str]]:
        for timer in self.program.timers:
            first, last = ((time - self.start) // timer.period for time in (previous, at))
            if last > first:
                often = "" if last == first + 1 else f" ({last - first} times since the packet before)"
                yield self.start + last * timer.period, f"`on every {duration(timer.period)}` runs{often}"

    def _left(self, previous: int, at: int) -> Iterator[tuple[int, str]]:
        """Packets that had to wait, and those that no packet's handler made."""
        for fate in self.record.fates:
            for copy in fate.copies:
                if fate.at < copy.time and previous < copy.time <= at:
                    yield copy.time, f"packet {fate.number + 1} leaves {self.program.ports[copy.port]}"
        for made in self.record.emitted:
            if made.cause is None and previous < made.time <= at:
                yield made.time, f"emits to {self.program.ports[made.port]}: {summary(made.data)}"

    def around(self, fate: Fate) -> list[str]:
        """What it saw, did and became."""
        p = self.eyes.parse(fate.arrival.port, fate.arrival.data)
        path = " / ".join(self.eyes.headers(p)) or "no header"
        seen = ", ".join(f"{name} = {value}" for name, value in self.eyes.relevant(p).items())
        saw = path if self.eyes.passes(p) else f"{path}: not what the NF demands, so no handler runs"
        lines = self.labelled("saw", [f"{saw}: {seen}" if seen else saw])
        if self.record.history is not None:
            state = touched(self.program, self.record.history, fate.number, self.start)
            inside = [e for e in self.record.ends if e.stamp == 2 * fate.number + 1]
            state += [ended(self.program, e, self.start) for e in inside]
            lines += self.labelled("state", state)
        lines += self._verdict(fate)
        for made in self.record.emitted:
            if made.cause == fate.number:
                lines += self.labelled("emits", [f"to {self.program.ports[made.port]}: {summary(made.data)}"])
        return lines

    def _verdict(self, fate: Fate) -> list[str]:
        if fate.reason is not None:
            return self.labelled("dropped", [fate.reason])
        if not fate.copies:
            return self.labelled("held", ["in the schedule when the trace ended"])
        return [line for copy in fate.copies for line in self.labelled("out", self._copy(fate, copy))]

    def _copy(self, fate: Fate, copy: Copy) -> list[str]:
        when = "" if copy.time == fate.at else f" after {duration(copy.time - fate.at)}"
        port = f"{self.program.ports[copy.port]}{when}"
        if copy.data == fate.arrival.data:
            return [f"{port}, unchanged"]
        found = difference(self.eyes, fate.arrival.port, fate.arrival.data, copy.data)
        size = len(copy.data), len(fate.arrival.data)
        changes = [*found.headers, *found.fields, *([f"len {size[1]} -> {size[0]}"] if size[0] != size[1] else [])]
        return [f"{port}: {summary(copy.data)}", "changed: " + (", ".join(changes) or "bytes that no header has")]
