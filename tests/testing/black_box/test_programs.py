"""Programs between TAP interfaces as engines: what is seen of them, what is found, and that nothing is left of them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from tests.testing.black_box.boxes import CABLE, MEMORY, MS, box, frame, mark, need_box, running, spec_of, trace

import polysome.testing as pt
from polysome.testing.black_box.network import SHORTEST, Network

ROOT = Path(__file__).resolve().parents[3]
THREE = trace((0, 0, frame()), (1, 1, frame(2, 1)), (0, 2, frame(size=1514)))


def left_behind() -> tuple[list[str], list[int], str, int]:
    """Interfaces of this machine, processes, a setting, descriptors. A namespace without a name is there as long as a
    process is in it or a descriptor holds it.
    """
    setting = Path("/proc/sys/net/ipv6/conf/all/disable_ipv6")
    ours = [name for name in os.listdir("/sys/class/net") if name in ("a", "b", "port0", "probe")]
    text = setting.read_text() if setting.exists() else ""
    return ours, running(os.getpid()), text, len(os.listdir("/proc/self/fd"))


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    need_box()
    before = left_behind()
    yield
    assert left_behind() == before


def test_namespaces_have_no_names(cable: pt.Spec) -> None:
    """So `ip netns list` shows none, even while one is there."""
    shown = []
    with pytest.MonkeyPatch.context() as patched:
        send = Network.send
        patched.setattr(Network, "send", lambda *a: (shown.append(named(a[0].handle)), send(*a)))
        pt.run(cable, THREE, box("cable"))
    assert shown == [False, False, False]


def named(handle: int) -> bool:
    """Has the namespace a name?"""
    places = [os.stat(path) for path in Path("/run/netns").glob("*")]
    return os.fstat(handle).st_ino in [place.st_ino for place in places]


@pytest.fixture(scope="module")
def cable(tmp_path_factory: pytest.TempPathFactory) -> pt.Spec:
    return spec_of(tmp_path_factory.mktemp("cable"), CABLE)


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> pt.Spec:
    return spec_of(tmp_path_factory.mktemp("memory"), MEMORY)


# ---------------------------------------------------------------- what is seen


def test_what_leaves_is_the_packets(cable: pt.Spec) -> None:
    before = time.time_ns()
    record = pt.assert_like(cable, THREE, box("cable"))
    assert [(c.port, c.data) for fate in record.fates for c in fate.copies] == [
        (1, THREE.arrivals[0].data),
        (0, THREE.arrivals[1].data),
        (1, THREE.arrivals[2].data),
    ]
    times = [time for fate in record.fates for time in (fate.at, fate.copies[0].time)]
    assert before < times[0] and times == sorted(times) and times[-1] < time.time_ns()
    assert record.decided() == record.trace and record.slack == 100 * MS
    assert all(
        b.time - a.time >= 20 * MS for a, b in zip(record.trace.arrivals, record.trace.arrivals[1:], strict=False)
    )


def test_what_does_not_leave_is_dropped(cable: pt.Spec) -> None:
    record = pt.run(cable, THREE, box("first only"))
    assert [fate.reason for fate in record.fates] == [None, "not seen to leave", "not seen to leave"]
    assert record.history is None and record.crash is None


def test_real_time_passes(cable: pt.Spec) -> None:
    """In which the kernel says nothing by itself, and of gaps no more than is wanted."""
    waiting = trace((0, 0, frame()), (1, 700, frame(2, 1)), (0, 9_000_000, frame()))
    record = pt.run(cable, waiting, box("cable", longest_gap=0.8))
    first, second, third = (fate.at for fate in record.fates)
    assert second - first >= 700 * MS and 800 * MS <= third - second < 9_000_000 * MS
    assert [len(fate.copies) for fate in record.fates] == [1, 1, 1]


@pytest.mark.parametrize("what", ["says so", "chatty", "hello", "late", "daemon"])
def test_programs_behave_as_they_like(cable: pt.Spec, what: str) -> None:
    """They say when they are ready, print more than a pipe holds, greet first, think, and leave others behind."""
    ready = {"ready": "forwarding"} if what == "says so" else {}
    pt.assert_like(cable, THREE, box(what, **ready))


def test_they_see_their_own_interfaces_in_sys(cable: pt.Spec) -> None:
    record = pt.run(cable, THREE, box("sys"))
    assert record.fates[0].copies[0].data[SHORTEST:] == b"a,b,lo"


def test_frames_come_as_they_are(cable: pt.Spec) -> None:
    """The shortest, the longest, with a VLAN tag; and what no interface takes is no part of the record."""
    tagged = frame()[:12] + b"\x81\x00\x20\x05" + frame()[12:]
    taken = [frame(size=14), tagged, tagged[:20], frame(size=9614)]
    refused = [b"", frame()[:13], tagged[:19], frame(size=9615)]
    packets = [data for pair in zip(refused, taken, strict=True) for data in pair]
    record = pt.assert_like(cable, trace(*((0, 0, data) for data in packets)), box("cable"))
    assert [a.data for a in record.trace.arrivals] == [f.copies[0].data for f in record.fates] == taken


def test_limits_are_the_kernels(cable: pt.Spec) -> None:
    """What `carries` leaves out, the kernel refuses or does not hand on."""
    network = Network(["a"], 1500)
    try:
        with pytest.raises(OSError):
            network.send(0, bytes(13))
    finally:
        network.close()
    tagged = frame()[:12] + b"\x81\x00\x20\x05" + frame()[12:]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("polysome.testing.black_box.run.carries", lambda data, mtu: True)
        record = pt.run(cable, trace((0, 0, tagged[:19]), (0, 0, tagged[:20])), box("cable"))
    assert [fate.sent for fate in record.fates] == [False, True]


# ---------------------------------------------------------------- what is found


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("echo", ["else becomes of packet 1", "expected: sent by port b", "found:    sent by port a"]),
        ("twice", ["else becomes of packet 1", "found:    sent by port b at start + ", ", by port b at start + "]),
        ("garbage", ["else becomes of packet 1", "sent by port b at start + ", ", by port a at start + "]),
        ("first only", ["else becomes of packet 2", 'found:    dropped, "not seen to leave"']),
        ("one more byte", ["packet 1 leaves by port b with other bytes", "expected 60 bytes, found 61"]),
    ],
)
def test_wrong_programs_are_found(cable: pt.Spec, what: str, said: list[str]) -> None:
    with pytest.raises(AssertionError, match="on the engine `black box`, ") as told:
        pt.assert_like(cable, THREE, box(what))
    assert all(part in str(told.value) for part in said), str(told.value)


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("dead at once", "ended with code 3 before the first packet; it said last: the table is missing"),
        ("dead in the middle", "was ended by SIGABRT after packet 2; it said nothing"),
        ("too long", "ended with code 1 after packet 1; it said last: Traceback"),
        ("never ready", "has no packet socket on each interface in 0.5 s: it is not ready; it said nothing"),
        ("flood", "does not come to rest after packet 1: "),
    ],
)
def test_programs_that_fail_are_told_of(cable: pt.Spec, what: str, said: str) -> None:
    """As a crash of the record, which is a failure of the test."""
    failing = box(what, start_within=0.5)
    crash = pt.run(cable, THREE, failing).crash
    assert crash is not None and f" a b {mark(os.getpid())}` {said}" in crash, crash
    for judged in (pt.assert_like, pt.assert_holds):
        with pytest.raises(AssertionError, match="property no crash does not hold"):
            judged(cable, THREE, engine=failing)


def test_a_program_that_never_says_that_it_is_ready(cable: pt.Spec) -> None:
    record = pt.run(cable, THREE, box("cable", ready="forwarding", start_within=0.3))
    assert record.crash is not None
    assert record.crash.endswith(
        'said no "forwarding" in 0.3 s: it is not ready; it said nothing; it may have to flush what it prints'
    )


def test_a_program_that_is_not_there(cable: pt.Spec) -> None:
    with pytest.raises(
        AssertionError, match=r"the\s+program\s+`\./no_such_nf`\s+of\s+`\./no_such_nf\s+a`\s+is\s+not\s+there"
    ):
        pt.assert_like(cable, THREE, pt.BlackBox(["./no_such_nf", "{a}"]))


def test_a_file_that_is_no_program(cable: pt.Spec, tmp_path: Path) -> None:
    (tmp_path / "nf").write_text("#!/no/such/interpreter\n", encoding="utf-8")
    (tmp_path / "nf").chmod(0o755)
    crash = pt.run(cable, THREE, pt.BlackBox([str(tmp_path / "nf")])).crash
    assert crash is not None and "before the first packet; it said last: setpriv: failed to execute" in crash


# ---------------------------------------------------------------- state and time


def test_it_is_started_anew_for_each_trace(memory: pt.Spec) -> None:
    asks, answers = trace((0, 0, frame())), trace((1, 0, frame(2, 1)))
    right = box("memory")
    assert pt.assert_like(memory, asks, right).fates[0].sent
    assert pt.assert_like(memory, answers, right).fates[0].dropped


def test_time_outs_are_real(memory: pt.Spec) -> None:
    """The spec is asked what it does at the times that were measured."""
    packets = trace((0, 0, frame()), (1, 100, frame(2, 1)), (1, 600, frame(2, 1)))
    record = pt.assert_like(memory, packets, box("memory", longest_gap=1))
    assert [fate.sent for fate in record.fates] == [True, True, False]
    with pytest.raises(AssertionError, match="else becomes of packet 3"):
        pt.assert_like(memory, packets, box("long memory", longest_gap=1))


def test_traces_that_hypothesis_makes(memory: pt.Spec) -> None:
    """Their times are around the time-out, where the program may be right either way."""
    right, seen = box("memory", longest_gap=0.35), []

    @settings(max_examples=6)
    @given(pt.traces(memory, most=6))
    def like(trace: pt.Trace) -> None:
        seen.extend(pt.assert_like(memory, trace, right).fates)

    like()
    assert any(fate.sent for fate in seen) and any(fate.dropped for fate in seen)


def test_every_property_judges_it(memory: pt.Spec) -> None:
    packets = trace((0, 0, frame()), (1, 10, frame(2, 1)), (1, 20, frame(2, 3)))
    assert pt.assert_holds(memory, packets, engine=box("memory")).fates[2].dropped
    with pytest.raises(AssertionError, match="property conservation does not hold"):
        pt.assert_holds(memory, packets, engine=box("twice"), only=["conservation"])
    with pytest.raises(AssertionError, match="property engines agree does not hold"):
        pt.assert_holds(memory, packets, engine=box("cable"), only=["engines agree"])


def test_what_fails_is_made_small_and_written(memory: pt.Spec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once: Hypothesis runs what failed again."""
    many = trace(*((0, n, frame(n)) for n in range(1, 6)), (1, 6, frame(2, 9)), (1, 7, frame(2, 1)))
    for _ in range(2):
        with pytest.raises(AssertionError, match="else becomes of packet 1") as told:
            pt.assert_like(memory, many, box("cable"), shrinking=10, out=tmp_path / "case.pcapng")
        assert "packet 2" not in str(told.value)
        again = pt.read_capture(memory, tmp_path / "case.pcapng")
        assert len(again.arrivals) == 1 and again.arrivals[0].port == 1
        monkeypatch.delattr("polysome.testing.api.shrink", raising=False)
    with pytest.raises(AssertionError, match="else becomes of packet 1"):
        pt.assert_like(memory, again, box("cable"))


# ---------------------------------------------------------------- the end

INTERRUPTED = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever runs the tests may ignore it
sys.path.insert(0, {root!r})
from tests.testing.black_box.boxes import *
spec = spec_of(Path({folder!r}), CABLE)
try:
    pt.run(spec, trace(*((0, n * 1000, frame()) for n in range(60))), box({what!r}, longest_gap=1))
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.parametrize(
    ("how", "what", "processes"),
    [
        (signal.SIGINT, "daemon", 2),  # it, and its child in another session
        (signal.SIGKILL, "deaf", 1),  # it does not notice that its interfaces go
    ],
)
def test_nothing_is_left_when_the_test_is_ended(tmp_path: Path, how: signal.Signals, what: str, processes: int) -> None:
    code = INTERRUPTED.format(root=str(ROOT), folder=str(tmp_path), what=what)
    with subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True) as testing:
        await_that(lambda: len(running(testing.pid)) == processes)
        time.sleep(0.2)  # in the middle of the trace
        testing.send_signal(how)
        said, _ = testing.communicate(timeout=60)
    assert said == ("interrupted\n" if how == signal.SIGINT else "")
    await_that(lambda: not running(testing.pid))


def await_that(true: object, seconds: float = 10) -> None:
    end = time.monotonic() + seconds
    while not true():  # type: ignore[operator]
        assert time.monotonic() < end, "it does not come true"
        time.sleep(0.01)
