"""Recorded instructions to the lines of the spec that they come from, by line tables and the generated comments."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from polysome.backends.cost.disassembly import mapped_at
from polysome.backends.cost.tracing import Recording, output

_COMMENT = re.compile(r"\s*//+ (\S+\.nf):(\d+)\b")
_END = "    }"  # of a member function


@dataclass(frozen=True)
class Place:
    """Where an instruction comes from: `file` (its last part) and `line` of the spec, "" and 0 if from none of its
    lines; `part`: the header of the runtime it is in, such as `flow_map/table`, "" if in none.
    """

    file: str
    line: int
    part: str


NO_PLACE = Place("", 0, "")


class Places:
    """Of one recording."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self._frames: dict[int, list[tuple[str, int]]] = {}
        self._found: dict[tuple[int, tuple[int, ...]], Place] = {}

    def find(self, addresses: Iterable[int]) -> None:
        """Looks up instructions that `of` is then asked for; in libraries there is nothing to find."""
        program = str(self.recording.program)
        own = sorted({a for a in addresses if (m := mapped_at(self.recording, a)) is not None and m.file == program})
        if not own:
            return
        options = (f"--obj={program}", "--inlines", "--output-style=JSON")
        said = output("llvm-symbolizer", *options, given="".join(f"{a:#x}\n" for a in own))
        for address, line in zip(own, said.splitlines(), strict=True):
            frames = json.loads(line)["Symbol"]
            self._frames[address] = [(str(frame["FileName"]), int(frame["Line"])) for frame in frames]

    def of(self, address: int, calls: tuple[int, ...]) -> Place:
        """The place of an instruction that `calls`, the outermost first, led to."""
        if (address, calls) not in self._found:
            self._found[address, calls] = self._place(address, calls)
        return self._found[address, calls]

    def _place(self, address: int, calls: tuple[int, ...]) -> Place:
        outer = [frame for call in calls for frame in reversed(self._frames.get(call, []))]
        frames = [*outer, *reversed(self._frames.get(address, []))]
        parts = (m[1] for file, _ in reversed(frames) if (m := re.search(r"/nf/([\w/]+)\.hpp$", file)))
        part = next(parts, "")
        for file, line in frames:
            if Path(file).name == self.recording.source.name and (spec := self._spec_lines.get(line)) is not None:
                return Place(*spec, part)
        return Place("", 0, part)

    @cached_property
    def _spec_lines(self) -> dict[int, tuple[str, int]]:
        """Lines of the generated header, from 1, to those of the spec: a comment holds for what follows it and is
        indented at least as far, up to the end of the function.
        """
        found: dict[int, tuple[str, int]] = {}
        open_: list[tuple[int, tuple[str, int]]] = []  # indentation and line of the spec, the innermost last
        for number, text in enumerate(self.recording.source.read_text(encoding="utf-8").splitlines(), 1):
            if not text.strip():
                continue
            indentation = len(text) - len(text.lstrip())
            while open_ and open_[-1][0] > indentation:
                open_.pop()
            if (comment := _COMMENT.match(text)) is not None:
                open_ = [one for one in open_ if one[0] < indentation]
                open_.append((indentation, (comment[1], int(comment[2]))))
            elif text == _END:
                open_ = []
            if open_:
                found[number] = open_[-1][1]
        return found
