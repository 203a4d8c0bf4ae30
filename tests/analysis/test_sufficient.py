"""The fields frame is all that `decide` needs: on the examples' captures, scrambling every other byte changes no
verdict, no edit and no emitted packet; and what is not in the edits, though it could be, is in the fields.

Bytes that the parser selects on stay: they make the class.
"""

from __future__ import annotations

import random
import re
import shlex
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests.analysis.specs import EXAMPLES, ROOT

from polysome.analysis.contract import always_relevant
from polysome.analysis.layout import ClassLayout, layout
from polysome.analysis.relevance import PAYLOAD, members, passing
from polysome.captures.read import open_capture
from polysome.config.load import load_config
from polysome.config.tables import Tables
from polysome.interp.machine import Machine
from polysome.interp.packet import Packet
from polysome.ir import program as ir
from polysome.semantics.check import check
from polysome.syntax.diagnostics import Report

PEEKED = 4  # bytes behind an IPv6 or extension header that the parser of net.l4 looks at


@dataclass
class Sink:
    """Remembers what was emitted and when what left."""

    seen: list[Any] = field(default_factory=list)

    def leave(self, port: int, time: int, data: bytes, order: int) -> None:
        self.seen.append(("leave", port, time, len(data), order))

    def emitted(self, port: int, time: int, data: bytes) -> None:
        self.seen.append(("emit", port, time, data))


class Recorder(Machine):
    """A machine that remembers every packet after its handler ran."""

    def __init__(self, program: ir.Program, tables: Tables, sink: Sink) -> None:
        super().__init__(program, tables, sink)
        self.parsed: Packet | None = None

    def parse(self, port: int, data: bytes) -> Packet:
        self.parsed = super().parse(port, data)
        return self.parsed


def machine(p: ir.Program, folder: Path) -> tuple[Recorder, Sink]:
    report = Report()
    words = shlex.split(re.sub(r"\\\n", " ", (folder / "README.md").read_text(encoding="utf-8")).replace("'", ""))
    given = sorted({b for a, b in pairwise(words) if a == "--config"})
    sink = Sink()
    return Recorder(p, Tables(p, load_config(p, given, report)), sink), sink


def kept(p: ir.Program, packet: Packet, one: ClassLayout | None) -> set[int]:
    """The positions of bytes that must stay."""
    found: set[int] = set()
    for i, f in always_relevant(p.parser):
        if packet.offset[i] >= 0:
            shape = p.parser.instances[i].header.fields[f]
            found |= {packet.offset[i] + b for b in range(shape.offset // 8, (shape.offset + shape.width + 7) // 8)}
    for i in packet.path:
        if "ipv6" in p.parser.instances[i].name:
            found |= set(range(packet.header_end[i], packet.header_end[i] + PEEKED))
    for s in one.fields if one is not None else ():
        start = packet.payload if s.instance == PAYLOAD else packet.offset[s.instance]
        found |= set(range(start + s.first, start + s.first + s.length))
    return found


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_other_bytes_do_not_matter(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    p = check(path, Report())
    layouts = {c: one for one in layout(p).classes for c in members(one.classes)}
    numbers = {headers: c for c, headers in enumerate(p.parser.classes)}
    (first, one_sink), (second, other_sink) = machine(p, path.parent), machine(p, path.parent)
    rng = random.Random(path.stem)
    ports = sorted(port for handler in p.packet_handlers for port in handler.ports)
    scrambled = 0
    for capture in sorted(path.parent.glob("*.pcap")):
        port = (
            p.ports.index(capture.stem.removesuffix("_only")) if capture.stem.removesuffix("_only") in p.ports else None
        )
        for captured in open_capture(capture):
            at = port if port is not None else rng.choice(ports)
            packet = first.parse(at, captured.data)
            c = numbers[tuple(packet.path)]
            data = captured.data
            if passing(p) >> c & 1 and layouts[c].whole is None:
                stay = kept(p, packet, layouts[c])
                other = bytes(b if n in stay else rng.randrange(256) for n, b in enumerate(data))
                if second.parse(at, other).path == packet.path:  # else what was cut or opaque became a header
                    data, scrambled = other, scrambled + 1
            dropped = sum(first.counters.dropped.values())
            first.arrive(at, captured.time, captured.data)
            second.arrive(at, captured.time, data)
            assert_same(first, second)
            if sum(first.counters.dropped.values()) == dropped:
                assert_room(p, packet.path, first.parsed, layouts.get(c))
    assert one_sink.seen == other_sink.seen and first.counters == second.counters
    assert scrambled > 20


def assert_same(first: Recorder, second: Recorder) -> None:
    a, b = first.parsed, second.parsed
    assert a is not None and b is not None
    assert (a.edits, a.operations) == (b.edits, b.operations)
    assert first.counters == second.counters


def assert_room(p: ir.Program, path: list[int], packet: Packet | None, one: ClassLayout | None) -> None:
    """What was written is among the edits; what a sent packet leaves alone of them is among the fields."""
    if packet is None or packet.path != path or one is None or one.whole is not None or packet.operations:
        return
    written = {divmod(key, 1 << 16) for key in packet.edits}
    edited = {(e.instance, e.field) for e in one.edits if e.kind == "field"}
    assert written <= edited
    held = {(s.instance, b) for s in one.fields for b in range(s.first, s.first + s.length)}
    for i, f in edited - written:
        shape = p.parser.instances[i].header.fields[f]
        assert {(i, b) for b in range(shape.offset // 8, (shape.offset + shape.width + 7) // 8)} <= held
