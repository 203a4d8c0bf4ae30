"""The host behind a switch on a network interface: frames in and answers out, as the interpreter decides."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from tests import tags
from tests.backends import examples
from tests.backends.test_fastclick import INPUTS
from tests.backends.test_fastclick_fields import Verdicts, class_of, edits, fields
from tests.nf_host import hosts

from polysome.analysis.layout import ClassLayout
from polysome.captures.merge import merge
from polysome.config.tables import Tables
from polysome.interp.machine import Machine
from polysome.interp.packet import Packet
from polysome.ir import program as ir

pytestmark = pytest.mark.slow
MOST = 300  # packets of a capture


def traffic(nf: ir.Program, to: bytes) -> tuple[list[bytes], list[bytes]]:
    """Frames from the switch for the packets of the example's captures, and the answers to them."""
    captures = [(port, examples.EXAMPLES / nf.name / file) for port, file in INPUTS[nf.name].items()]
    sink = Verdicts()
    machine = Machine(nf, Tables(nf, dict(hosts.values(nf))), sink)
    sent, answers = [], []
    for seq, (name, packet) in enumerate(merge(captures)):
        if seq == MOST:
            break
        port = nf.ports.index(name or "")
        machine.arrive(port, 10**9 + seq, packet.data)
        p = machine.parse(port, packet.data)
        c = class_of(nf, p) if seq % 4 else None
        flags, number = (hosts.WHOLE, 0) if c is None else (0, c.number or 0)
        content = packet.data if c is None else fields(c, p)
        sent.append(hosts.frame(to, flags, number, seq, p.length, port, content))
        if seq in sink.left:
            out, data = sink.left[seq]
            content = data if c is None else edits(nf, c, machine.parse(port, data))
            answers.append(hosts.frame(to, flags, number, seq, p.length, out, content, back=True))
    return sent, answers


def used(host: hosts.Host) -> int:
    """Time of processors that it took, in ticks of 10 ms."""
    return sum(map(int, Path(f"/proc/{host.process.pid}/stat").read_text().rpartition(")")[2].split()[11:13]))


@pytest.mark.parametrize("example", ["load_balancer", "nat"])
def test_answers_are_the_interpreters_decisions(example: str, tls: Path, cable: hosts.Cable, tmp_path: Path) -> None:
    nf = examples.program(example)
    config = hosts.config(nf)
    sent, answers = traffic(nf, cable.mac())
    assert len(answers) > MOST / 10
    with hosts.running(hosts.built(nf), tmp_path, cable.far, config, tls) as host:
        said = host.describe()
        assert (said.server, said.nf, said.mac, said.challenge) == ("nf1", example, cable.mac(), b"c" * 16)
        for frame in sent:
            cable.socket.send(frame)
        assert cable.take(len(answers)) == answers
        counted = host.counters()
        assert counted["frames in"] == len(sent) and counted["bytes in"] == sum(map(len, sent))
        assert counted["frames out"] == len(answers) and counted["bytes out"] == sum(map(len, answers))
        assert 1 <= counted["batches"] <= len(sent)
        assert host.end() == 0


def untouched(nf: ir.Program, c: ClassLayout, p: Packet) -> bytes:
    """The edits of a packet about which nothing was decided: zeros where its frame does not carry the field."""
    changed = bytearray(edits(nf, c, p))
    for edit in c.edits:
        f = nf.parser.instances[edit.instance].header.fields[edit.field]
        first, last = f.offset // 8, (f.offset + f.width + 7) // 8
        if not any(s.instance == edit.instance and s.first <= first and last <= s.first + s.length for s in c.fields):
            changed[edit.offset : edit.offset + edit.length] = bytes(edit.length)
    return bytes(changed)


@pytest.mark.parametrize("example", ["load_balancer", "nat"])
def test_probes_are_answered_and_change_nothing(example: str, tls: Path, cable: hosts.Cable, tmp_path: Path) -> None:
    """Before each frame of traffic comes a probe of the controller's about the same packet."""
    nf = examples.program(example)
    sent, answers = traffic(nf, cable.mac())
    captures = [(port, examples.EXAMPLES / nf.name / file) for port, file in INPUTS[nf.name].items()]
    machine = Machine(nf, Tables(nf, dict(hosts.values(nf))), Verdicts())
    asked, expected = [], set()
    for seq, (name, packet) in enumerate(merge(captures)):
        if seq == MOST:
            break
        p = machine.parse(nf.ports.index(name or ""), packet.data)
        c = class_of(nf, p)
        if c is not None:
            number, seen = c.number or 0, hosts.CONTROLLER
            asked.append(hosts.frame(cable.mac(), 0, number, seq, p.length, seen, fields(c, p)))
            content = untouched(nf, c, p)
            expected.add(hosts.frame(cable.mac(), 0, number, seq, p.length, seen, content, back=True))
    short = hosts.frame(cable.mac(), 0, 255, 1, 60, hosts.CONTROLLER, b"")
    whole = hosts.frame(cable.mac(), hosts.WHOLE, 0, 1, 60, hosts.CONTROLLER, bytes(60))
    with hosts.running(hosts.built(nf), tmp_path, cable.far, hosts.config(nf), tls) as host:
        for i, frame in enumerate(sent):
            for probe in asked[i : i + 1]:
                cable.socket.send(probe)
            cable.socket.send(frame)
        for frame in (short, whole):
            cable.socket.send(frame)
        came = cable.take(len(answers) + len(asked))
        assert [frame for frame in came if frame not in expected] == answers
        assert expected <= set(came) and len(expected) > 2
        counted = host.counters()
        assert counted["probes"] == len(asked) and counted["malformed frames"] == 2
        assert counted["frames in"] == len(sent) and counted["bytes in"] == sum(map(len, sent))
        assert counted["frames out"] == len(answers)


def test_frames_that_are_not_ours(tls: Path, cable: hosts.Cable, tmp_path: Path) -> None:
    nf = examples.program("load_balancer")
    config = hosts.config(nf)
    sent, answers = traffic(nf, cable.mac())
    with hosts.running(hosts.built(nf), tmp_path, cable.far, config, tls) as host:
        strange = tags.changed(sent[1], version=2)
        elsewhere = b"\2\2\2\2\2\2" + sent[1][6:]
        unknown = hosts.frame(cable.mac(), 0, 255, 1, 60, 0, b"")
        for frame in (bytes(60), strange, elsewhere, unknown, sent[0]):
            cable.socket.send(frame)
        assert cable.take(1) == answers[:1]
        counted = host.counters()
        assert counted["malformed frames"] == 2 and counted["frames to others"] == 1
        assert counted["malformed frame"] == 1 and counted["frames in"] == 2
        assert cable.take(1, 0.05) == []


def test_the_interface_may_go_and_come_back(tls: Path, cable: hosts.Cable, tmp_path: Path) -> None:
    nf = examples.program("load_balancer")
    config = hosts.config(nf)
    with hosts.running(hosts.built(nf), tmp_path, cable.far, config, tls) as host:
        for again in (False, True):
            cable.remove()
            hosts.until(lambda: "is gone" in host.log() or "is down" in host.log())
            hosts.until(lambda: host.describe().mac == bytes(6))
            before = used(host)
            time.sleep(0.3)
            assert used(host) - before <= 2, "it sleeps, ticks of 10 ms"
            cable.socket.close()
            cable.make()
            cable.open()
            hosts.until(lambda: host.describe().mac == cable.mac())
            sent, answers = traffic(nf, cable.mac())
            assert cable.ask(sent[0]) == answers[0], f"{again} {host.log()}"
        assert host.process.poll() is None


def test_it_sleeps_while_nothing_happens(tls: Path, cable: hosts.Cable, tmp_path: Path) -> None:
    nf = examples.program("load_balancer")
    config = hosts.config(nf)
    with hosts.running(hosts.built(nf), tmp_path, cable.far, config, tls) as host:
        sent, _ = traffic(nf, cable.mac())
        cable.ask(sent[0])
        before = used(host)
        time.sleep(1)
        assert used(host) - before <= 3, "ticks of 10 ms in a second"
