"""A process that is asked to end leaves its state, and what its schedule holds, to the next one."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from tests import tags
from tests.backends import examples
from tests.nf_host import hosts
from tests.nf_host.test_af_packet import traffic

from polysome.captures.merge import merge
from polysome.ir import program as ir

pytestmark = pytest.mark.slow
WINDOW = 6  # s
AT_ONCE = 1.5  # s in which it ends if it waits for nobody


def signalled(host: hosts.Host, number: int) -> None:
    host.process.send_signal(number)


def held(host: hosts.Host) -> None:
    host.call("HandOver", hosts.control().HandOverRequest(lease=host.lease()), "Nothing")


@contextmanager
def left(nf: ir.Program, tls: Path, cable: hosts.Cable, place: Path, frames: int = 200) -> Iterator[None]:
    """A process has decided on some frames and left its state."""
    sent = traffic(nf, cable.mac())[0][:frames]
    with hosts.running(hosts.built(nf), place, cable.far, hosts.config(nf), tls) as host:
        for frame in sent:
            cable.socket.send(frame)
        hosts.until(lambda: host.counters()["frames in"] == frames)
        signalled(host, signal.SIGTERM)
        held(host)
        assert host.process.wait(timeout=hosts.DEADLINE) == 0
    cable.take(1000, 0.2)
    yield


@pytest.mark.parametrize("example", ["load_balancer", "nat"])
def test_the_next_one_decides_as_if_there_was_no_other(
    example: str, tls: Path, cable: hosts.Cable, tmp_path: Path
) -> None:
    """Asked to end, it goes on until the switch holds its frames; those that came by then are decided."""
    nf = examples.program(example)
    program, config = hosts.built(nf), hosts.config(nf)
    sent, answers = traffic(nf, cable.mac())
    third = len(sent) // 3
    with hosts.running(program, tmp_path, cable.far, config, tls) as host:
        assert not host.describe().took_over and not host.statistics().leaving
        for frame in sent[:third]:
            cable.socket.send(frame)
        signalled(host, signal.SIGTERM)
        hosts.until(lambda: host.statistics().leaving)
        for frame in sent[third : 2 * third]:
            cable.socket.send(frame)
        held(host)
        assert host.process.wait(timeout=hosts.DEADLINE) == 0
        assert "ends, and leaves its state to the next process" in host.log()
    with hosts.running(program, tmp_path, cable.far, config, tls) as host:
        assert host.describe().took_over
        for frame in sent[2 * third :]:
            cable.socket.send(frame)
        assert cable.take(len(answers)) == answers
        assert host.counters()["frames in"] == len(sent) - 2 * third
        assert not list((tmp_path / "state").glob("state*"))  # it is taken once


def test_what_a_schedule_holds_leaves_when_it_is_due(tls: Path, cable: hosts.Cable, tmp_path: Path) -> None:
    """A reframer that holds packets for long: they are held over the change, and leave flow by flow."""
    nf = examples.program("reframer")
    longer = {**nf.schedule.options, "window": WINDOW * 10**9, "count": 1000}
    nf = replace(nf, schedule=replace(nf.schedule, options=longer))
    program, config = hosts.built(nf), hosts.config(nf)
    packets = [packet.data for _, packet in merge([("network", examples.EXAMPLES / "reframer" / "mixed.pcap")])][:50]
    with hosts.running(program, tmp_path, cable.far, config, tls) as host:
        began = time.monotonic()
        for seq, data in enumerate(packets):
            cable.socket.send(hosts.frame(cable.mac(), hosts.WHOLE, 0, seq, len(data), 0, data))
        hosts.until(lambda: host.statistics().held == len(packets))
        signalled(host, signal.SIGTERM)
        held(host)
        assert host.process.wait(timeout=hosts.DEADLINE) == 0
    with hosts.running(program, tmp_path, cable.far, config, tls) as host:
        assert host.statistics().held == len(packets)
        found = cable.take(len(packets), 2 * WINDOW)
        assert len(found) == len(packets) and time.monotonic() - began > WINDOW - 0.1
        wanted = {
            hosts.frame(cable.mac(), hosts.WHOLE, 0, seq, len(data), 1, data, back=True)
            for seq, data in enumerate(packets)
        }
        assert set(found) == wanted and found != sorted(found, key=lambda frame: tags.of(frame, "seq"))
        assert host.statistics().held == 0


def test_who_is_not_watched_waits_for_nobody(tls: Path, cable: hosts.Cable, tmp_path: Path) -> None:
    nf = examples.program("load_balancer")
    with hosts.running(hosts.built(nf), tmp_path, cable.far, hosts.config(nf), tls) as host:
        signalled(host, signal.SIGTERM)
        assert host.process.wait(timeout=AT_ONCE) == 0
    with hosts.running(hosts.built(nf), tmp_path, cable.far, hosts.config(nf), tls) as host:
        assert host.describe().took_over


def test_a_controller_that_says_nothing_is_not_waited_for_long(tls: Path, cable: hosts.Cable, tmp_path: Path) -> None:
    nf = examples.program("load_balancer")
    with hosts.running(hosts.built(nf), tmp_path, cable.far, hosts.config(nf), tls) as host:
        host.statistics()
        signalled(host, signal.SIGTERM)
        began = time.monotonic()
        assert host.process.wait(timeout=hosts.DEADLINE) == 0 and time.monotonic() - began > 2


@pytest.mark.parametrize(
    "numbers", [[signal.SIGINT], [signal.SIGTERM, signal.SIGTERM], [signal.SIGTERM, signal.SIGINT]]
)
def test_it_can_be_ended_at_once(numbers: list[int], tls: Path, cable: hosts.Cable, tmp_path: Path) -> None:
    nf = examples.program("load_balancer")
    with hosts.running(hosts.built(nf), tmp_path, cable.far, hosts.config(nf), tls) as host:
        host.statistics()
        for number in numbers:
            signalled(host, number)
            time.sleep(0.3)  # signals of one kind that come together are one
        assert host.process.wait(timeout=AT_ONCE) == 0
    assert not list((tmp_path / "state").glob("state*"))


def test_nobody_makes_it_end_who_was_not_asked(tls: Path, cable: hosts.Cable, tmp_path: Path) -> None:
    nf = examples.program("load_balancer")
    grpc = pytest.importorskip("grpc")
    with hosts.running(hosts.built(nf), tmp_path, cable.far, hosts.config(nf), tls) as host:
        with pytest.raises(grpc.RpcError, match="nobody asked this process to end"):
            held(host)
        assert host.process.poll() is None


def changed(index: int, value: str) -> Callable[[bytes], bytes]:
    """A word of the file's first line."""

    def change(data: bytes) -> bytes:
        head, _, rest = data.partition(b"\n")
        words = head.split()
        words[index] = value.encode()
        return b" ".join(words) + b"\n" + rest

    return change


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (changed(0, "other-1"), "another version of this NF"),
        (changed(1, "another-boot"), "ended long ago"),
        (changed(2, "1"), "ended long ago"),
        (changed(4, "17"), "not all there"),
        (lambda data: data[:-1], "not all there"),
        (lambda data: data + b"\0", "not all there"),
        (lambda data: data[:20], "not all there"),
        (lambda data: b"", "not all there"),
    ],
)
def test_a_state_of_no_use_is_not_taken(
    change: Callable[[bytes], bytes], why: str, tls: Path, cable: hosts.Cable, tmp_path: Path
) -> None:
    nf = examples.program("load_balancer")
    with left(nf, tls, cable, tmp_path):
        file = tmp_path / "state" / "state"
        file.write_bytes(change(file.read_bytes()))
    with hosts.running(hosts.built(nf), tmp_path, cable.far, hosts.config(nf), tls) as host:
        assert not host.describe().took_over and f"{why}" in host.log() and ": the state is empty" in host.log()
        assert not file.exists()


def test_one_that_goes_on_with_another_clock_still_sees_its_interface(
    tls: Path, cable: hosts.Cable, tmp_path: Path
) -> None:
    """The system's clock was set forward meanwhile; the NF's goes on as it was, an hour behind."""
    nf = examples.program("load_balancer")
    with left(nf, tls, cable, tmp_path):
        file = tmp_path / "state" / "state"
        offset = int(file.read_bytes().split(maxsplit=4)[3])
        file.write_bytes(changed(3, str(offset - 3600 * 10**9))(file.read_bytes()))
    with hosts.running(hosts.built(nf), tmp_path, cable.far, hosts.config(nf), tls) as host:
        assert host.describe().took_over
        cable.remove()
        hosts.until(lambda: host.describe().mac == bytes(6))


def test_a_version_with_less_room_than_there_are_entries(tls: Path, cable: hosts.Cable, tmp_path: Path) -> None:
    """It says so and ends; the start after that has no state to take."""
    nf = examples.program("load_balancer")
    maps = {name: decl for name, decl in nf.state.items() if isinstance(decl, ir.MapDecl)}
    small = replace(nf, state={**nf.state, **{name: replace(decl, capacity=1) for name, decl in maps.items()}})
    large = replace(nf, state={**nf.state, **{name: replace(d, capacity=d.capacity + 1) for name, d in maps.items()}})
    for version in (small, large):
        hosts.built(version)
    with left(nf, tls, cable, tmp_path):
        pass
    kept = (tmp_path / "state" / "state").read_bytes()
    hosts.configured(tmp_path, cable.far, hosts.config(nf), tls)
    ended = hosts.ended(hosts.built(small), tmp_path)
    assert ended.returncode == 3 and "not of this NF, or too large for it" in ended.stderr
    with hosts.running(hosts.built(small), tmp_path, cable.far, hosts.config(nf), tls) as host:
        assert not host.describe().took_over
        assert host.end() == 0
    (tmp_path / "state" / "state").write_bytes(kept)
    with hosts.running(hosts.built(large), tmp_path, cable.far, hosts.config(nf), tls) as host:
        assert host.describe().took_over
