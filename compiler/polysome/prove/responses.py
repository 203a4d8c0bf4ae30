"""Responses that bring a parked packet back from memory: what they are like, and what the switch makes of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from polysome import smt
from polysome.prove.answers import EDITS, Waiting
from polysome.prove.case import SERVER, Case, port_metadata
from polysome.prove.literals import Literal, literals
from polysome.prove.p4.control import Around
from polysome.prove.p4.parser import Path, paths
from polysome.prove.p4.pipe import Onward, Passed, bridged
from polysome.prove.park import LONGEST
from polysome.prove.traffic import Egress, Traffic
from polysome.prove.window import LENGTH, Frame, Term, Window
from polysome.prove.wire import ANSWER, LINK, OPCODE, SEQ, SEQ_SIZE, TOTAL_LENGTH, TYPE, at
from polysome_protocol import IPV4, OPCODES, ROCE, UDP

RESPONSE = Frame("response")
Pad = tuple[int, ...]  # the bytes between a cell's head and the packet


@dataclass(frozen=True)
class Held(Frame):
    """The packet's bytes as they come back in a response: how many there are is another question."""

    @cached_property
    def length(self) -> Term:
        return smt.BitVec("held.length", LENGTH)


@dataclass(frozen=True)
class Merged:
    """A response that leaves the switch: its pass through ingress, and what leaves egress."""

    pad: Pad
    passed: Passed
    out: Passed
    left: Window
    conditions: tuple[Term, ...]

    @cached_property
    def said(self) -> frozenset[Literal]:
        return literals(self.conditions)


@dataclass(frozen=True)
class Response:
    """A response with a pad: what is known of it, and the parser's paths, which no register has to do with."""

    pad: Pad
    known: tuple[Term, ...]
    paths: tuple[Path, ...]

    @staticmethod
    def of(case: Case, pad: Pad) -> Response:
        window, known = response(case, pad)
        metadata = port_metadata(case.p4, SERVER)
        walked = paths(case.p4, case.p4.ingress, window, name="back.", metadata=metadata, assumptions=known)
        return Response(pad, known, walked)


def responses(seen: Traffic, state: Waiting, to: Response) -> Iterator[Merged]:
    """All passes of responses to our READs that leave, with the registers as the edits frame left them.

    Passes that no frame of such edits has may be left out.
    """
    case = seen.case
    onward = Onward(case.p4, case.p4.ingress, Around(elements=state.elements), to.known, state.conditions)
    for passed in (p for path in to.paths for p in onward.of(path, lost=False)):
        if not passed.lost:
            for out, left in _through(case, passed, seen.egress):
                yield Merged(to.pad, passed, out, left, (*to.known, *passed.conditions, *out.conditions))


def response(case: Case, pad: Pad) -> tuple[Window, tuple[Term, ...]]:
    """The response to our READ of the packet's cell, behind the pad that was written, and what is known of it.

    It is addressed to us, has the seq of the edits, and its IPv4 length is that of the frame.
    """
    seq = [EDITS.byte(SEQ + k) for k in range(SEQ_SIZE)]
    headers = [RESPONSE.byte(k) for k in range(ANSWER)]
    held = Held(case.frame.name)
    fixed = {
        TYPE: 0x08,
        TYPE + 1: 0x00,
        at(IPV4, "version_ihl"): 0x45,
        at(IPV4, "protocol"): 17,
        OPCODE: OPCODES.response,
    }
    fixed |= dict(enumerate(ROCE.port.to_bytes(2, "big"), at(UDP, "dport")))
    fixed |= dict(enumerate(case.addresses.mac.to_bytes(6, "big")))
    fixed |= dict(enumerate(case.addresses.ip.to_bytes(4, "big"), at(IPV4, "dst")))
    known = [RESPONSE.byte(k) == value for k, value in fixed.items()]
    whole = held.length + (ANSWER + SEQ_SIZE + len(pad) - LINK)
    known += [smt.Concat(headers[TOTAL_LENGTH], headers[TOTAL_LENGTH + 1]) == whole, smt.ULE(held.length, LONGEST)]
    return Window(held, (*headers, *seq, *(smt.BitVecVal(byte, 8) for byte in pad))), tuple(known)


def _through(case: Case, passed: Passed, egress: Egress) -> Iterator[tuple[Passed, Window]]:
    """What egress makes of what ingress lets go on. It is walked for what it parses only: the rest it does not see."""
    window, given = bridged(passed, case.frame, case.chip)
    given.pop(("eg_intr_md", "pkt_length"))
    front = Window(Frame("rest"), window.prefix[:_FRONT], 0)
    for out in egress.passes(front, given):
        if not out.lost:
            size = out.path.consumed // 8
            assert size <= _FRONT, "egress parses more of a packet that leaves than its first bytes"
            emitted = out.leaves.prefix[: len(out.leaves.prefix) - (len(front.prefix) - size)]
            yield out, Window(window.frame, (*emitted, *window.prefix[size:]), window.first)


_FRONT = 24  # bytes; the bridge header is shorter
