"""An NF that is seen from outside only, compared with what its spec means.

Compared are the ports by which something leaves after each packet, and the bytes up to where the network header says
that the packet ends: what follows there is the link's padding. Not reasons of drops, not times.

What the NF did at a measured time it may have done a little earlier or later. A difference counts only if the spec
shows it also when packets from some place in the trace on come a little earlier, and a little later.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from polysome.engines import ENGINES
from polysome.engines.options import RunOptions
from polysome.engines.record import Record
from polysome.engines.trace import Trace
from polysome.ir import program as ir
from polysome.resources import MEANING
from polysome.testing.builtin.base import Broken, Skip, difference
from polysome.testing.builtin.compare import complete, fate_text
from polysome.testing.judge.parsing import parse

Leaving = Counter[tuple[int, bytes]]


def like(found: Record, slack: int, how: str) -> int:
    """How many packets were compared. Broken for the first that is different; Skip if the spec holds packets back or
    emits some by itself, because from outside nobody sees which packet it is that leaves.

    At most two runs of the interpreter for each packet, and two more per packet for each difference.
    """
    expected = _meaning(found.program, found.decided())
    complete(expected, found, how)
    for number in range(len(found.fates)):
        if _leaving(expected, number) != _leaving(found, number):
            others = (_meaning(found.program, trace) for trace in _shifted(expected.trace, number, slack))
            near = next((o for o in others if _agree(o, found, number)), None)
            if near is None:
                raise Broken((number,), *_said(expected, found, number, how))
            expected = near
    return len(found.fates)


def _meaning(program: ir.Program, trace: Trace) -> Record:
    record = ENGINES[MEANING].run(program, trace, RunOptions())
    if any(made.cause is None for made in record.emitted):
        raise Skip("the spec emits packets by itself, and from outside nobody sees what made a packet")
    if any(f.held or any(copy.time != f.at for copy in f.copies) for f in record.fates):
        raise Skip("the spec's schedule holds packets back, and from outside nobody sees which one it is that leaves")
    return record


def _shifted(trace: Trace, number: int, slack: int) -> Iterator[Trace]:
    """The trace with all packets from one on, this one or one before it, later or earlier; never before another."""
    for first in range(number, 0, -1):
        for shift in (slack, -slack):
            before = trace.arrivals[first - 1].time
            later = [replace(a, time=max(before, a.time + shift)) for a in trace.arrivals[first:]]
            yield replace(trace, arrivals=(*trace.arrivals[:first], *later))


def _agree(expected: Record, found: Record, number: int) -> bool:
    """Up to this packet, and with it?"""
    return all(_leaving(expected, n) == _leaving(found, n) for n in range(number + 1))


def _leaving(record: Record, number: int) -> Leaving:
    """What leaves because of a packet: its copies, and what its handler emits."""
    fate = record.fates[number]
    copies = [(c.port, _packet(record.program, c.port, c.data)) for c in fate.copies]
    made = [(m.port, _packet(record.program, m.port, m.data)) for m in record.emitted if m.cause == number]
    return Counter(copies + made)


def _packet(program: ir.Program, port: int, data: bytes) -> bytes:
    return data[: parse(program, port, data).claimed]


def _said(expected: Record, found: Record, number: int, how: str) -> Iterator[str]:
    one, two = _leaving(expected, number), _leaving(found, number)
    if sorted(port for port, _ in one.elements()) == sorted(port for port, _ in two.elements()):
        (port, data), (_, other) = min((one - two).elements()), min((two - one).elements())
        yield f"{how}, packet {number + 1} leaves by port {found.program.ports[port]} with other bytes"
        yield from difference(data, other)
        return
    yield f"{how}, something else becomes of packet {number + 1}"
    yield f"expected: {_became(expected, number)}"
    yield f"found:    {_became(found, number)}"


def _became(record: Record, number: int) -> str:
    made = [record.program.ports[m.port] for m in record.emitted if m.cause == number]
    emitted = f"; emitted by port {', '.join(made)}" if made else ""
    return fate_text(record, record.fates[number]) + emitted
