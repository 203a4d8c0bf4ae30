"""The classes that an NF behind a switch takes as fields frames and answers with edits; all others go to it whole.

What the plan splits and what the generated NF knows (`backends/nf_cpp/frames_code.py`) is decided here, for both.
"""

from __future__ import annotations

from polysome.analysis.layout import WIRE, Carry, ClassLayout, layout
from polysome.analysis.relevance import packet_reads
from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.ir.walk import walk

MOST_PORTS = 15  # a tag says a set of ports as 15 bits beside the one that says it is a set
MOST_INSTANCES = 64  # a mask of headers in one word


def framed_classes(program: ir.Program, carry: Carry = "fields") -> tuple[ClassLayout, ...]:
    """The layouts with a number of which every field is bytes of the frame and every edit a field's value.

    Left out are classes that lose or get headers, or are cut, and those of which the NF reads how long a part is or a
    string of bytes: the frame does not say that. None is left if copies of a packet could leave at different times,
    because what a server keeps is had back once: one edits frame merges all copies.
    """
    if len(program.parser.instances) > MOST_INSTANCES or _copies_part(program):
        return ()
    lengths = [read for read in packet_reads(program) if not is_number(read.node)]
    return tuple(
        c
        for c in layout(program, carry).classes
        if c.number is not None
        and c.number <= WIRE.class_numbers
        and not c.operations
        and not any(read.classes & c.classes for read in lengths)
    )


def is_number(read: ir.Expr) -> bool:
    """Is what is read a number in bytes at a place that is known, or the packet's length or port?"""
    if isinstance(read, ir.PayloadLen | ir.PacketFrom) or isinstance(read.type, t.ByteString):
        return False
    return not (isinstance(read, ir.RestBytes) and read.low is None)


def _copies_part(program: ir.Program) -> bool:
    """Is there a set of ports to which a schedule sends each copy when, and if, it likes?"""
    if program.schedule.policy == "fifo" and not program.schedule.options:
        return False
    bodies = [handler.body for handler in program.packet_handlers]
    return any(isinstance(n, ir.Send) and isinstance(n.target.type, t.SetOf) for n in walk(bodies))
