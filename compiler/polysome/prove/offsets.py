"""The NF's C++ takes each field from where the layout of its class has it, and writes each edit to where it has it.

That the layout's bytes are the packet's, and that the words of an edit go to the packet's bytes, `fields` and `merge`
prove of the switch. Here it is the text that the NF is compiled from, as far as it reads frames: which member is
loaded from which bits, which edit is stored where. What the host's functions do (`load_bytes`, `read_bits`, `Writer`)
is taken for granted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from polysome import smt
from polysome.analysis.layout import ClassLayout
from polysome.analysis.relevance import PAYLOAD, members
from polysome.ir import program as ir
from polysome.prove.cpp.expressions import WIDE, NotRead, evaluate
from polysome.prove.cpp.frames import Class, Frames
from polysome.prove.result import NOTHING, Result, Status
from polysome.prove.window import Frame, Term

CONTENT = Frame("content")
# What every frame says of its packet, whatever its class.
OF_ALL = {"len": "h.length()", "in_port": "h.in_port"}
# Names of strings, and of how many bytes there are of something: no frame says that.
OF_NONE = re.compile(r"payload_len|\w+_len|\w+_bytes|\w+_from_\d+")


@dataclass(frozen=True)
class Bits:
    """`width` bits from bit `first` of a header (or PAYLOAD)."""

    instance: int
    first: int
    width: int


def offsets(program: ir.Program, layouts: tuple[ClassLayout, ...], text: str) -> Iterator[Result]:
    """One result for each class that the NF knows."""
    prover = _Offsets(program, Frames(text))
    for layout in layouts if text else ():
        subject = f"class {layout.number}"
        try:
            why = prover.wrong(layout)
        except NotRead as error:
            why = f"the NF's text is not understood: {error}"
        yield Result("fields", subject, Status.refuted if why else Status.proved, why)


class _Offsets:
    def __init__(self, program: ir.Program, frames: Frames) -> None:
        self.parser, self.frames = program.parser, frames
        self.proved: dict[tuple[int, int], tuple[Term, Term]] = {}  # by numbers of terms, with the terms

    def wrong(self, layout: ClassLayout) -> str:
        """What is wrong with a class, in words; "" if nothing is."""
        taken = self.frames.classes.get(layout.number or 0)
        if taken is None:
            return "the NF does not take its frames"
        paths = [self.parser.classes[n] for n in members(layout.classes)]
        if taken.valid not in [sum(1 << i for i in path) for path in paths]:
            return "the NF takes its packets for others"
        if taken.least != layout.fields_size:
            return f"the NF takes frames of {taken.least} bytes, and it has {layout.fields_size}"
        return self._fields(layout, taken) or self._edits(layout, taken)

    # ------------------------------------------------------------ fields

    def _fields(self, layout: ClassLayout, taken: Class) -> str:
        struct = self.frames.struct(taken.shape)
        data = [CONTENT.byte(k) for k in range(layout.fields_size)]
        known, places = {"valid": taken.valid}, _places(layout)
        for name, text in struct.members.items():
            if name in OF_ALL:
                if text != OF_ALL[name]:
                    return f"`{name}` is read from `{text}`"
                continue
            if not text and name not in self._fields_named and OF_NONE.fullmatch(name):
                continue
            wanted = _carried(self._named(name), places)
            if wanted is not None:
                read = evaluate(text or "0", data, known, lambda i: struct.holds(i, taken.valid))
                if not self._same(read, wanted):
                    return f"`{name}` is not what its frames carry of it"
        return ""

    def _same(self, read: Term, wanted: Term) -> bool:
        wide = smt.simplify(smt.ZeroExt(WIDE - wanted.size(), wanted))
        key = (read.get_id(), wide.get_id())
        if key not in self.proved:
            if not read.eq(wide) and not NOTHING.prove((), read == wide):
                return False
            self.proved[key] = (read, wide)
        return True

    # ------------------------------------------------------------ edits

    def _edits(self, layout: ClassLayout, taken: Class) -> str:
        found, size = self.frames.writes(taken.shape, taken.valid)
        places = _places(layout)
        wanted = []
        for edit in layout.edits:
            shape = self.parser.instances[edit.instance].header.fields[edit.field]
            wanted.append((Bits(edit.instance, shape.offset, shape.width), edit.offset, edit.length))
        if [(self._named(write.name), write.offset, write.size) for write in found] != wanted:
            return "the NF does not write its edits to where they are taken from"
        for write, (bits, _, _) in zip(found, wanted, strict=True):
            if not write.kept and _carried(bits, places) is not None:
                return f"`{write.name}` is 0 if nothing is written to it, and not what it had"
        return "" if size == layout.edits_size else f"the NF writes {size} bytes of edits"

    # ------------------------------------------------------------ names

    def _named(self, name: str) -> Bits:
        """What a name of the NF's stands for. Raises NotRead if that is nothing, or not one thing."""
        if name in self._fields_named:
            return self._fields_named[name]
        part = re.fullmatch(r"(\w+)_(\d+)_(\d+)", name)
        if part is not None:
            low, high = int(part[2]), int(part[3])
            if part[1] == "payload":
                return Bits(PAYLOAD, 8 * low, 8 * (high - low))
            rest = self._fields_named.get(part[1])
            if rest is not None:
                behind = self.parser.instances[rest.instance].header.fixed
                return Bits(rest.instance, 8 * (behind + low), 8 * (high - low))
        raise NotRead(f"`{name}` is the name of nothing, or of more than one thing")

    @cached_property
    def _fields_named(self) -> Mapping[str, Bits]:
        """`ipv4.src` is ipv4_src; where two fields are called so, each has its numbers behind it."""
        found: dict[str, list[tuple[str, Bits]]] = {}
        for i, instance in enumerate(self.parser.instances):
            for f, field in enumerate(instance.header.fields):
                plain = re.sub(r"\W+", "_", f"{instance.name}.{field.name}").strip("_")
                found.setdefault(plain, []).append((f"{plain}_{i}_{f}", Bits(i, field.offset, field.width)))
        alone = {plain: fields[0][1] for plain, fields in found.items() if len(fields) == 1}
        return alone | {name: bits for fields in found.values() if len(fields) > 1 for name, bits in fields}


def _places(layout: ClassLayout) -> dict[tuple[int, int], int]:
    """Where each byte of a header is in the frame's content."""
    return {(s.instance, s.first + k): s.offset + k for s in layout.fields for k in range(s.length)}


def _carried(bits: Bits, places: Mapping[tuple[int, int], int]) -> Term | None:
    """What the frame has of them; None if it does not have all of them."""
    first, last = bits.first // 8, (bits.first + bits.width + 7) // 8
    if not bits.width or any((bits.instance, k) not in places for k in range(first, last)):
        return None
    octets = [CONTENT.byte(places[bits.instance, k]) for k in range(first, last)]
    high = 8 * last - bits.first - 1
    return smt.Extract(high, high - bits.width + 1, smt.Concat(*octets) if len(octets) > 1 else octets[0])
