"""The classes that an NF behind a switch takes as fields frames and answers with edits; all others go to it whole.

What the plan splits and what the generated NF knows (`backends/nf_cpp/frames_code.py`) is decided here, for both.
"""

from __future__ import annotations

from polysome.analysis.layout import WIRE, Carry, ClassLayout, Whole, layout
from polysome.analysis.relevance import packet_reads
from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.ir.reads import PacketRead
from polysome.ir.walk import walk
from polysome_protocol import VERDICTS

MOST_PORTS = VERDICTS.ports
MOST_INSTANCES = 64  # a mask of headers in one word


def framed_classes(program: ir.Program, carry: Carry = "fields") -> tuple[ClassLayout, ...]:
    """The layouts with a number of which every field is bytes of the frame and every edit a field's value.

    Left out are classes that lose or get headers, or are cut, and those of which the NF reads how long a part is or a
    string of bytes: the frame does not say that. None is left if copies of a packet could leave at different times,
    because what a server keeps is had back once: one edits frame merges all copies.
    """
    layouts = layout(program, carry).classes
    return tuple(c for c, why in zip(layouts, unframed(program, carry), strict=True) if why is None)


def edits_frame(program: ir.Program, carry: Carry = "fields") -> int:
    """Bytes of every frame of edits, those of the largest class: so a switch knows where they end."""
    return WIRE.frame(max((c.edits_size for c in framed_classes(program, carry)), default=0))


def unframed(program: ir.Program, carry: Carry = "fields") -> tuple[Whole | None, ...]:
    """For each layout of `layout(program, carry)` why its packets go to the NF whole; None: they may be split."""
    common = None
    if len(program.parser.instances) > MOST_INSTANCES:
        count = len(program.parser.instances)
        common = Whole(f"the spec's parser knows {count} headers, and a frame can tell {MOST_INSTANCES}", program.span)
    elif _copies_part(program):
        why = "copies of a packet may leave at different times, and what is parked is had back once"
        common = Whole(why, program.schedule.span)
    lengths = [read for read in packet_reads(program) if not is_number(read.node)]
    return tuple(c.whole or common or _why(program, c, lengths) for c in layout(program, carry).classes)


def _why(program: ir.Program, c: ClassLayout, lengths: list[PacketRead]) -> Whole | None:
    if c.operations:
        return Whole(_DONE[type(c.operations[0])], c.operations[0].span)
    read = next((read for read in lengths if read.classes & c.classes), None)
    if read is not None:
        return Whole(_READ.get(type(read.node), "bytes are read that have no fixed place and number"), read.span)
    if c.number is not None and c.number > WIRE.class_numbers:
        return Whole(f"it is beyond the {WIRE.class_numbers} classes that a tag can tell apart", program.span)
    return None


_DONE: dict[type, str] = {
    ir.Push: "a header is pushed, and the switch changes fields only",
    ir.Pop: "a header is popped, and the switch changes fields only",
    ir.Truncate: "the packet is cut short, and the switch changes fields only",
}
_READ: dict[type, str] = {
    ir.PayloadLen: "`payload.len` is read, which a frame of fields does not say",
    ir.PacketFrom: "`packet_from` takes the packet as it arrived",
}


def is_number(read: ir.Expr) -> bool:
    """Is what is read a number in bytes at a place that is known, or the packet's length or port?"""
    if isinstance(read, ir.PayloadLen | ir.PacketFrom) or isinstance(read.type, t.ByteString):
        return False
    return not (isinstance(read, ir.RestBytes) and read.low is None)


def _copies_part(program: ir.Program) -> bool:
    """Is there a set of ports to which a schedule sends each copy when, and if, it likes?"""
    if program.schedule.plain:
        return False
    bodies = [handler.body for handler in program.packet_handlers]
    return any(isinstance(n, ir.Send) and isinstance(n.target.type, t.SetOf) for n in walk(bodies))
