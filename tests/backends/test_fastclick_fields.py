"""The element for frames of a switch: fields and whole packets in, edits and packets out, as interpreted."""

from __future__ import annotations

from pathlib import Path

import dpkt
import pytest
from tests import tags
from tests.backends.examples import EXAMPLES, config, packets, program
from tests.backends.test_fastclick import INPUTS, built, click, fastclick

from polysome.analysis.layout import ClassLayout, layout
from polysome.analysis.relevance import PAYLOAD
from polysome.backends.fastclick.emit import element, emit, package
from polysome.captures.merge import merge
from polysome.config.tables import Tables
from polysome.interp.machine import Machine
from polysome.interp.packet import Packet, read_bits
from polysome.ir import program as ir
from polysome_protocol import CONTENT

SWITCH, SERVER = bytes.fromhex("020000000001"), bytes.fromhex("020000000002")
HEAD = CONTENT


class Verdicts:
    """A sink: port and bytes by the packet's number."""

    def __init__(self) -> None:
        self.left: dict[int, tuple[int, bytes]] = {}

    def leave(self, port: int, time: int, data: bytes, order: int) -> None:
        self.left[order] = port, data

    def emitted(self, port: int, time: int, data: bytes) -> None:
        raise AssertionError("these examples emit nothing")


def frame(flags: int, number: int, seq: int, length: int, port: int, content: bytes) -> bytes:
    """A frame from the switch."""
    said = {"parse_class": number, "seq": seq, "queue_pair": 7, "length": length, "port": port}
    return tags.frame(SERVER, SWITCH, flags, content, **said)


def class_of(nf: ir.Program, p: Packet) -> ClassLayout | None:
    """The layout of a packet's class, None if it travels whole."""
    index = nf.parser.classes.index(tuple(p.path))
    found = [c for c in layout(nf).classes if c.classes >> index & 1 and c.number is not None]
    return found[0] if found and not p.short else None


def fields(c: ClassLayout, p: Packet) -> bytes:
    """The fields as the switch would pack them; bytes that are not there are zero."""
    out = b""
    for s in c.fields:
        start = (p.payload if s.instance == PAYLOAD else p.offset[s.instance]) + s.first
        end = p.end if s.instance == PAYLOAD else p.header_end[s.instance]
        out += p.data[start : min(start + s.length, end)].ljust(s.length, b"\0")
    return out


def edits(nf: ir.Program, c: ClassLayout, p: Packet) -> bytes:
    """The edits that make the packet that left, from it."""
    out = b""
    for edit in c.edits:
        assert edit.kind == "field"
        f = nf.parser.instances[edit.instance].header.fields[edit.field]
        value = read_bits(p.data, p.offset[edit.instance] * 8 + f.offset, f.width, len(p.data))
        out += value.to_bytes(edit.length, "big")
    return out


def traffic(nf: ir.Program) -> tuple[list[tuple[float, bytes]], list[bytes]]:
    """Frames from the switch with their times, and the answers that the interpreter's decisions amount to."""
    captures = [(port, EXAMPLES / nf.name / file) for port, file in INPUTS[nf.name].items()]
    sink = Verdicts()
    machine = Machine(nf, Tables(nf, dict(config(nf))), sink)
    sent, answers = [], []
    for seq, (name, packet) in enumerate(merge(captures)):
        port = nf.ports.index(name or "")
        machine.arrive(port, packet.time, packet.data)
        p = machine.parse(port, packet.data)
        c = class_of(nf, p)
        flags, number = (1, 0) if c is None else (0, c.number or 0)
        content = packet.data if c is None else fields(c, p)
        sent.append((packet.time / 1e9, frame(flags, number, seq, p.length, port, content)))
        if seq in sink.left:
            to, data = sink.left[seq]
            content = data if c is None else edits(nf, c, machine.parse(port, data))
            answer = frame(flags, number, seq, len(data) if c is None else p.length, to, content)
            answers.append(answer[6:12] + answer[:6] + answer[12:])
    return sent, answers


@pytest.mark.slow
@pytest.mark.parametrize("example", ["load_balancer", "nat"])
def test_answers_are_the_interpreters_decisions(example: str, tmp_path: Path) -> None:
    fastclick()
    nf = program(example)
    sent, answers = traffic(nf)
    assert any(tags.of(data, "flags") == 0 for _, data in sent) and any(tags.of(data, "flags") == 0 for data in answers)
    folder = built(tmp_path, nf)
    time = sent[-1][0]
    strange = [
        b"\0" * 60,  # another EtherType
        frame(0, 1, 1, 60, 0, b"")[:20],
        tags.frame(SERVER, SWITCH, 0, version=2),
        frame(2, 0, 1, 60, 0, b""),  # an own frame
    ]
    unknown = frame(0, 255, 1, 60, 0, b"")
    with (folder / "in.pcap").open("wb") as file:
        writer = dpkt.pcap.Writer(file, snaplen=65535, nano=True)
        for at, data in [*sent, *((time, data) for data in [*strange, unknown])]:
            writer.writepkt(data, ts=at)
    (folder / "run.click").write_text(
        f'require(package "{package(nf)}");\nnf :: {element(nf)}Fields(CONFIG ../config.bin, TIMESTAMPS true);\n'
        "FromDump(in.pcap, STOP true) -> nf -> ToDump(out.pcap, SNAPLEN 0, NANO true);\n"
        "DriverManager(pause, print nf.in, print nf.drops, stop);\n"
    )
    text = click(folder, "run.click")
    assert packets(folder / "out.pcap") == answers
    assert text.splitlines()[0] == str(len(sent) + 1)
    assert f"{len(strange)} not a frame of the switch" in text and "1 malformed frame" in text


def test_packets_that_the_schedule_holds_are_not_split() -> None:
    assert "fastclick/nat_fields.cc" in emit(program("nat"))
    assert "fastclick/shaper_fields.cc" not in emit(program("shaper"))
