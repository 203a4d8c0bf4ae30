"""Edits of packets of a common shape as C++: where each field is and which checksums cover it is known.

The meaning is `runtime/nf/apply.hpp`, which serves all other packets (LANGUAGE.md L10.1, L10.2).
"""

from __future__ import annotations

from collections.abc import Callable

from polysome.backends.nf_cpp.constants_code import instance_name
from polysome.backends.nf_cpp.expression_code import Shared
from polysome.backends.nf_cpp.reads import field_name
from polysome.backends.nf_cpp.shapes import Shape
from polysome.backends.nf_cpp.types_code import integer, number
from polysome.ir import program as ir


def edit_functions(shared: Shared, shapes: list[Shape]) -> list[str]:
    """`static void edit(const SHAPE&, const Edits&, frame)` for each shape."""
    return [
        line for shape in shapes for line in _Edits(shared.program.parser, shape, sorted(shared.written)).function()
    ]


class _Edits:
    """Positions count from the frame's start; those of a shape's last headers are all the last one."""

    def __init__(self, parser: ir.Parser, shape: Shape, written: list[tuple[int, int]]) -> None:
        self.parser, self.shape = parser, shape
        self.written = [(i, n) for i, n in written if i in (*shape.path, *shape.last)]
        # Checksum fields, the innermost first: an updated one counts for those further out.
        self.sums = [
            (i, n)
            for i in (*shape.last, *reversed(shape.path))
            for n, f in enumerate(self.header(i).fields)
            if f.checksum is not None
        ]

    def header(self, i: int) -> ir.Header:
        return self.parser.instances[i].header

    def position(self, i: int) -> int:
        return len(self.shape.path) if i in self.shape.last else self.shape.path.index(i)

    def function(self) -> list[str]:
        used = [s for k, s in enumerate(self.sums) if any(self._covers(s, w) for w in [*self.written, *self.sums[:k]])]
        lines = [
            f"[[gnu::always_inline]] static void edit([[maybe_unused]] const {self.shape.name}& f,",
            "    [[maybe_unused]] const Edits& e, [[maybe_unused]] uint8_t* frame) {",
            *(f"    SumChange {self._name(*s)};" for s in used),
        ]
        for w in self.written:
            if w[0] in self.shape.path:
                lines += ["    " + line for line in self._write(w, used)]
        last = [self._of_last(i, used) for i in self.shape.last]
        if len(last) == 1:
            lines += ["    " + line for line in last[0]]
        elif (either := self._of_either(used)) is not None:
            lines += ["    " + line for line in either]
        else:
            for i, inner in zip(self.shape.last, last, strict=True):
                if inner:
                    lines.append(f"    if (f.has({instance_name(self.parser, i)})) {{")
                    lines += ["        " + line for line in inner]
                    lines.append("    }")
        for s in used:
            if s[0] in self.shape.path:
                lines += ["    " + line for line in self._update(s, used)]
        return [*lines, "}"]

    def _of_either(self, used: list[tuple[int, int]]) -> list[str] | None:
        """The same for whichever of the last headers is there, without a branch that depends on which. None where they
        differ in more than where their checksums are and what 0 means there."""
        last = self.shape.last
        sums = [[s for s in used if s[0] == i] for i in last]
        writes = [[w for w in self.written if w[0] == i] for i in last]
        if any(len(s) != 1 for s in sums) or any(self._covers(o, s[0]) for s in sums for o in used):
            return None

        def place(w: tuple[int, int], s: tuple[int, int]) -> tuple[int, int, int, bool, int]:
            f = self.header(w[0]).fields[w[1]]
            start = self._start(s, w)
            return self._byte(w), f.offset % 8, f.width, start is None, 0 if start is None else start % 2

        places = [[place(w, s[0]) for w in each] for each, s in zip(writes, sums, strict=True)]
        if any(each != places[0] for each in places):
            return None
        own = [s[0] for s in sums]
        lines = []
        for alike in zip(*writes, strict=True):
            names = [self._name(*w) for w in alike]
            value = self._either([f"e.{name}" for name in names])
            counted = [s for s, w in zip(own, alike, strict=True) if self._covers(s, w)]
            change = self._counted(self._overwrite(alike[0], value), alike[0], [])
            if counted:
                odd = (self._byte(alike[0]) - (self._start(own[0], alike[0]) or 0)) % 2
                change = [f"const SumChange change = {change[0]}"]
                change += [f"{self._name(*s)}.{'add_odd' if odd else 'add'}(change);" for s in own]
            has = self._either([f"e.has_{name}" for name in names])
            lines += [f"if ({has}) {{", *("    " + line for line in change), "}"]
        kinds = [self.header(s[0]).fields[s[1]].checksum for s in own]
        texts = [
            self._either([f"frame + {self._byte(s)}" for s in own]),
            self._either_change([self._name(*s) for s in own]),
            self._either([str(k is not None and k.zero_is_none).lower() for k in kinds]),
            self._either([str(k is not None and k.never_zero).lower() for k in kinds]),
        ]
        return [*lines, f"update_either({', '.join(texts)});"]

    def _either(self, texts: list[str]) -> str:
        """Of the last header that is there."""
        return texts[0] if len(set(texts)) == 1 else self._chosen(texts, lambda has, a, b: f"({has} ? {a} : {b})")

    def _either_change(self, texts: list[str]) -> str:
        return self._chosen(texts, lambda has, a, b: f"either({has}, {a}, {b})")

    def _chosen(self, texts: list[str], choose: Callable[[str, str, str], str]) -> str:
        text = texts[-1]
        for i, other in reversed(list(zip(self.shape.last[:-1], texts[:-1], strict=True))):
            text = choose(f"f.has({instance_name(self.parser, i)})", other, text)
        return text

    def _of_last(self, i: int, used: list[tuple[int, int]]) -> list[str]:
        """Edits and checksums of one of the last headers."""
        lines = [line for w in self.written if w[0] == i for line in self._write(w, used)]
        return lines + [line for s in used if s[0] == i for line in self._update(s, used)]

    def _write(self, w: tuple[int, int], used: list[tuple[int, int]]) -> list[str]:
        name = self._name(*w)
        change = self._counted(self._overwrite(w, f"e.{name}"), w, [s for s in used if self._covers(s, w)])
        return [f"if (e.has_{name}) {{", *("    " + line for line in change), "}"]

    def _update(self, s: tuple[int, int], used: list[tuple[int, int]]) -> list[str]:
        checksum = self.header(s[0]).fields[s[1]].checksum
        assert checksum is not None
        kind = f"{str(checksum.zero_is_none).lower()}, {str(checksum.never_zero).lower()}"
        change = f"update_checksum<{kind}>(frame + {self._byte(s)}, {self._name(*s)})"
        lines = self._counted(change, s, [o for o in used[used.index(s) + 1 :] if self._covers(o, s)])
        return lines if len(lines) == 1 else ["{", *("    " + line for line in lines), "}"]

    def _name(self, i: int, n: int) -> str:
        return field_name(self.parser, i, n)

    def _byte(self, place: tuple[int, int]) -> int:
        """The first byte of the frame that a field touches."""
        return self.shape.offset(place[0]) + self.header(place[0]).fields[place[1]].offset // 8

    def _counted(self, change: str, place: tuple[int, int], sums: list[tuple[int, int]]) -> list[str]:
        """The statements that make a change and count it for the checksums over it."""
        if not sums:
            return [f"{change};"]
        lines = [f"const SumChange change = {change};"]
        for s in sums:
            start = self._start(s, place)
            assert start is not None
            lines.append(f"{self._name(*s)}.{'add_odd' if (self._byte(place) - start) % 2 else 'add'}(change);")
        return lines

    def _covers(self, s: tuple[int, int], place: tuple[int, int]) -> bool:
        """Is a field among what the checksum s is over? Its own word is not, nor is what never comes with it."""
        return s != place and self._start(s, place) is not None

    def _start(self, s: tuple[int, int], place: tuple[int, int]) -> int | None:
        """A byte at an even distance from the start of the sum s, in the part that a field is in; None if in none."""
        checksum = self.header(s[0]).fields[s[1]].checksum
        assert checksum is not None
        here, there = self.position(s[0]), self.position(place[0])
        if "header" in checksum.parts and (place[0] == s[0] or (there > here and "rest" in checksum.parts)):
            return self.shape.offset(s[0])
        if "pseudo" in checksum.parts:
            enclosing = next((i for i in reversed(self.shape.path[:here]) if self.header(i).pseudo), None)
            if place[0] == enclosing and place[1] in self.header(place[0]).pseudo:
                return self._byte(place)
        return None

    def _overwrite(self, place: tuple[int, int], value: str) -> str:
        f = self.header(place[0]).fields[place[1]]
        size = (f.offset % 8 + f.width + 7) // 8
        type = integer(size * 8)
        at = f"frame + {self._byte(place)}"
        if f.offset % 8 == 0 and f.width % 8 == 0:
            return f"overwrite<{type}, {size}>({at}, {value})"
        shift = size * 8 - f.offset % 8 - f.width
        mask = ((1 << f.width) - 1) << shift
        return f"overwrite_bits<{type}, {size}>({at}, {shift}, {number(mask, type)}, {value})"
