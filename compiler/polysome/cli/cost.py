"""`polysome check --cost`: what each path through the packet handlers costs, as plain data.

`cost` of `--json`: `processor` (`model`, `own`: it is this machine's, `llvm`), `together` (packets of one path in a
row), `paths`, `missed` (outcomes that no generated packet had: each `outcome`, `file`, `line`). Each path:

- `handler` (`on packet from …`), `file`, `line`; `packets`: how many of the generated ones took it; `headers` of the
  packet that was measured; `small`: it was found with room for a few entries only.
- `label`: the path in words, with lines of the spec; `outcomes`: each `kind`, `text` (of the condition or the table),
  `outcome`, `file`, `line`; `changes` of maps: each `what`, `map`; `verdict`.
- `cycles`: `parse`, `keys`, `decide`, `apply`, `rest`, `all`; `instructions` likewise, and `handler_lines`, those of
  the handler by `file` and `line` of the spec; `unknown`: instructions that the
  model does not know; `in_libraries`: instructions outside of the NF.
- `lines`: of 64 bytes: `state`, `ahead` (of these, fetched before the handler began), `frame`; `places`: where the
  handler first touches lines of state, each `file`, `line` (null: outside of the spec), `part` (of the runtime; null:
  fetched in vain), `lines`, `ahead`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path as File
from typing import Any

from polysome.backends.cost.analyser import TOGETHER
from polysome.backends.cost.packet_cost import PARTS
from polysome.backends.cost.tracing import CostError, missing
from polysome.backends.nf_cpp.types_code import Unsupported
from polysome.cli.common import ENVIRONMENT, SPEC, fail
from polysome.cli.packet_findings import place_of
from polysome.ir import program as ir
from polysome.ir.walk import walk
from polysome.syntax.spans import Span
from polysome.testing.coverage.points import Outcome, Point, points
from polysome.testing.packet_paths import Path
from polysome.testing.path_costs import Costs, PathCost, path_costs
from polysome.testing.spec import Spec

Data = dict[str, Any]
_WIDEST = 32  # characters of a condition in a label


def cost(path: File, program: ir.Program) -> Data:
    """What is known about costs; ends with code 3 if this machine cannot tell."""
    lacking = missing()
    if lacking is not None:
        fail(ENVIRONMENT, str(lacking), lacking.mend)
    try:
        return _data(path_costs(Spec(path, program)))
    except Unsupported as error:
        fail(SPEC, f"{path} has no C++ yet: {error}")
    except CostError as error:
        fail(ENVIRONMENT, f"--cost: {error}", error.mend)


def _data(found: Costs) -> Data:
    program = found.spec.program
    words = _Words(program)
    labels = words.labels([one.path for one in found.paths])
    return {
        "processor": {"model": found.processor.name, "own": found.processor.own, "llvm": found.processor.llvm},
        "together": TOGETHER,
        "paths": [_path(words, one, label) for one, label in zip(found.paths, labels, strict=True)],
        "missed": [{"outcome": words.outcome(o), **place_of(program, o.point.span)} for o in found.missed],
    }


def _path(words: _Words, one: PathCost, label: str) -> Data:
    program, path, cost = words.program, one.path, one.cost
    handler = program.packet_handlers[path.handler]
    parts = {part: cost.parts[part] for part in PARTS}
    return {
        "handler": f"on packet from {', '.join(program.ports[p] for p in handler.ports)}",
        **place_of(program, handler.span),
        "packets": one.seen,
        "headers": [program.parser.instances[n].name for n in one.headers],
        "small": one.small,
        "label": label,
        "outcomes": [
            {"kind": o.point.kind, "text": words.text(o.point), "outcome": o.name, **place_of(program, o.point.span)}
            for o in words.outcomes(path)
        ],
        "changes": [{"what": what, "map": name} for what, name in path.changes],
        "verdict": words.verdict(path),
        "cycles": {**{part: round(c.cycles, 1) for part, c in parts.items()}, "all": round(cost.cycles, 1)},
        "instructions": {
            **{part: c.instructions for part, c in parts.items()},
            "all": sum(c.instructions for c in parts.values()),
        },
        "handler_lines": [
            {"file": file, "line": line, "instructions": count}
            for (file, line), count in sorted(cost.spec_lines.items())
        ],
        "unknown": sum(c.unknown for c in parts.values()),
        "in_libraries": cost.in_libraries,
        "lines": {
            "state": sum(s.lines for s in cost.state),
            "ahead": sum(s.ahead for s in cost.state),
            "frame": cost.frame,
            "places": [
                {
                    "file": s.place.file or None,
                    "line": s.place.line or None,
                    "part": s.place.part or None,
                    "lines": s.lines,
                    "ahead": s.ahead,
                }
                for s in cost.state
            ],
        },
    }


class _Words:
    """Paths in words, with the lines of the spec."""

    def __init__(self, program: ir.Program) -> None:
        self.program = program
        found = points(program)
        nodes = [[n for n in walk(h.body) if isinstance(n, _NAMED)] for h in program.packet_handlers]
        numbers = [[first for n in those if (first := found.first(n)) is not None] for those in nodes]
        self._nodes = {found.first(n): n for those in nodes for n in those}
        self._order = [{first: at for at, first in reversed(list(enumerate(those)))} for those in numbers]
        self._outcomes = found.outcomes

    def outcomes(self, path: Path) -> list[Outcome]:
        """In the order in which the handler comes to them."""
        order = self._order[path.handler]
        return sorted((self._outcomes[n] for n in path.outcomes), key=lambda o: order.get(o.point.first, -1))

    def text(self, point: Point) -> str:
        """The condition, or what is looked up, as the spec has it."""
        match self._nodes.get(point.first):
            case ir.If(condition=e) | ir.Choose(condition=e):
                return self._source(e.span)
            case ir.Lookup(source=source, index=index):
                return index or source
            case ir.ForEach():
                return "loop"
            case _:
                return "relevant"

    def outcome(self, o: Outcome) -> str:
        """`out found (85)`, `not icmp (50)`."""
        text = self.text(o.point)
        short = _shortened(text)
        if o.point.kind in ("lookup", "loop", "relevant"):
            said = f"{short} {o.name}"
        elif o.number == o.point.first:
            said = short
        else:
            said = f"not {short}" if re.fullmatch(r"[\w.]+", short) else f"not ({short})"
        return f"{said} ({self._line(o.point.span)})"

    def verdict(self, path: Path) -> str:
        """`send outside (92)`, `drop "no free port" (86)`."""
        if path.reason is not None:
            said = f'drop "{path.reason}"'
        else:
            said = "send" if path.verdict is None else _shortened(self._source(path.verdict))
        return said if path.verdict is None else f"{said} ({self._line(path.verdict)})"

    def labels(self, paths: Sequence[Path]) -> list[str]:
        """One for each: lookups, changes of maps, verdict; of other branches what tells a handler's paths apart."""
        shown: list[set[int]] = [{o.number for o in self.outcomes(path) if o.point.kind == "lookup"} for path in paths]
        told = [self._label(path, numbers) for path, numbers in zip(paths, shown, strict=True)]
        for number in range(len(self._outcomes)):
            for group in _alike(paths, told):
                having = [n for n in group if number in paths[n].outcomes]
                if 0 < len(having) < len(group):
                    for n in having:
                        shown[n].add(number)
            told = [self._label(path, numbers) for path, numbers in zip(paths, shown, strict=True)]
        return told

    def _label(self, path: Path, shown: set[int]) -> str:
        items = [self.outcome(o) for o in self.outcomes(path) if o.number in shown]
        changes = [f"{what} {name}" for what, name in path.changes]
        return " -> ".join([part for part in (", ".join([*items, *changes]), self.verdict(path)) if part])

    def _source(self, span: Span) -> str:
        """The text of the spec, on one line and without comments."""
        text = self.program.sources[span.file].text[span.start : span.end]
        return re.sub(r"\s+", " ", re.sub(r"//[^\n]*", "", text)).strip().rstrip(";")

    def _line(self, span: Span) -> str:
        place = self.program.place(span)
        return place.rpartition(":")[2] if span.file == self.program.file else place


def _shortened(text: str) -> str:
    return text if len(text) <= _WIDEST else text[: _WIDEST - 1].rstrip() + "…"


_NAMED = ir.If | ir.Choose | ir.Lookup | ir.ForEach


def _alike(paths: Sequence[Path], told: Sequence[str]) -> Iterator[list[int]]:
    """The numbers of paths of one handler that have the same label, if there are several."""
    groups: dict[tuple[int, str], list[int]] = {}
    for n, (path, label) in enumerate(zip(paths, told, strict=True)):
        groups.setdefault((path.handler, label), []).append(n)
    yield from (group for group in groups.values() if len(group) > 1)
