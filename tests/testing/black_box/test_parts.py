"""Black boxes without any: what is refused, how time passes, and what counts as a difference. Needs no root."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from pathlib import Path

import pytest
from tests.semantics.rules.packets import ethernet, ipv4, udp
from tests.testing.black_box.boxes import CABLE, MEMORY, MS, frame, spec_of, trace

import polysome.testing as pt
from polysome.engines.options import Failed
from polysome.testing.black_box import engine, program
from polysome.testing.black_box.network import carries, interface_names, mac
from polysome.testing.black_box.program import Program
from polysome.testing.black_box.run import Pace
from polysome.testing.builtin.base import Broken, Skip
from polysome.testing.builtin.from_outside import like
from polysome.testing.execution import Execution

SLACK = 100 * MS


def seen(record: pt.Record, *changed: pt.Fate) -> pt.Record:
    """The record as a black box would give it, with other fates for some packets."""
    fates = {fate.number: fate for fate in (*record.fates, *changed)}
    found = tuple(dataclasses.replace(f, reason=None if f.copies else "not seen to leave") for f in fates.values())
    return dataclasses.replace(record, fates=found, history=None, slack=SLACK)


def sent(fate: pt.Fate, port: int, data: bytes) -> pt.Fate:
    return dataclasses.replace(fate, reason=None, copies=(pt.Copy(port, fate.at + 200_000, data, fate.number),))


# ---------------------------------------------------------------- what is asked for


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"command": "nf"}, "`command` is a list"),
        ({"command": []}, "`command` is a list"),
        ({"command": [Path("nf")]}, "are texts"),
        ({"settle": 0.0}, "`settle` is more"),
        ({"longest_gap": -1.0}, "no less than 0"),
        ({"mtu": 70_000}, "mtu is 70000"),
    ],
)
def test_values_that_make_no_sense_are_refused(options: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        pt.BlackBox(**{"command": ["nf"], **options})  # type: ignore[arg-type]


def test_interfaces_are_called_as_the_ports(tmp_path: Path) -> None:
    assert interface_names(("inside", "outside")) == ("inside", "outside")
    assert interface_names(("lo", "out")) == interface_names(("a", "sixteen_letters_")) == ("port0", "port1")
    assert (mac(0), mac(299)) == ("02:00:00:00:00:01", "02:00:00:00:01:2c")
    cable = spec_of(tmp_path, CABLE).program
    box = pt.BlackBox(["nf", "--pair={a},{b}", "{b}", "{ print $1 }"])
    assert box.words(cable, ("port0", "port1")) == ["nf", "--pair=port0,port1", "port1", "{ print $1 }"]
    with pytest.raises(ValueError, match=r"`\{c\}` in `command`: cable has no such port; it has a, b"):
        pt.BlackBox(["nf", "{c}"]).words(cable, ("a", "b"))


def test_what_an_interface_takes() -> None:
    assert carries(bytes(14), 1500) and not carries(bytes(13), 1500)
    assert carries(bytes(1514), 1500) and not carries(bytes(1515), 1500)
    tagged = bytes(12) + b"\x81\x00"
    assert carries(tagged + bytes(6), 1500) and not carries(tagged + bytes(5), 1500)
    assert carries(tagged + bytes(1504), 1500) and not carries(tagged + bytes(1505), 1500)


def test_gaps_are_shortened_and_never_negative() -> None:
    pace = Pace(settle=0.02, longest_gap=0.5)
    assert [pace.gap(10**9, 10**9 + t) for t in (-MS, 0, 100 * MS, 900 * MS)] == [0, 0, 0.1, 0.5]
    assert pace.seconds([]) == 0
    assert pace.seconds([0, 100 * MS, 50 * MS, 10**12]) == pytest.approx(0.1 + 0.02 + 0.5 + 0.02)


def test_traces_that_it_cannot_run_are_unsupported(tmp_path: Path) -> None:
    spec = spec_of(tmp_path, CABLE.replace("port a, b;", "port a, b; config n: u8;"))
    box = pt.BlackBox(["nf"])
    one = pt.Trace({"n": 1}, (pt.Arrival(0, 0, frame()), pt.Arrival(0, 10**13, frame())))
    changing = dataclasses.replace(one, changes=(pt.Change(5, {"n": 2}),))
    options = pt.RunOptions()
    with pytest.raises(pt.Unsupported, match="the trace changes `n`, which a black box is not told"):
        box.run(spec.program, changing, options)
    with pytest.raises(pt.Unsupported, match=r"cable has config, `n`, and nothing says .* `BlackBox\(…, config="):
        box.run(spec.program, one, options)
    with pytest.raises(pt.Unsupported, match="the trace has another `n` than the program was given"):
        dataclasses.replace(box, config={"n": 2}).run(spec.program, one, options)
    with pytest.raises(
        pt.Unsupported, match=r"takes 120\.0 s in real time, longer than `longest_trace`, 60 s; a smaller"
    ):
        dataclasses.replace(box, config={"n": 1}, longest_gap=120).run(spec.program, one, options)
    with pytest.raises(pt.Unsupported, match="with no options"):
        box.run(spec.program, one, pt.RunOptions(capacity=1))


def test_what_is_missing_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refuse(names: list[str], mtu: int) -> None:
        raise PermissionError(1, "Operation not permitted")

    spec = spec_of(tmp_path, CABLE)
    engine._missing.cache_clear()
    monkeypatch.setattr(engine, "Network", refuse)
    monkeypatch.setattr(engine, "_lacking", lambda: iter(()))
    try:
        with pytest.raises(
            pt.Unsupported, match=r"needs the right to .* \(Operation not permitted\): run this as root"
        ):
            pt.run(spec, trace((0, 0, frame())), pt.BlackBox(["nf"]))
        engine._missing.cache_clear()
        monkeypatch.undo()
        monkeypatch.setenv("PATH", str(tmp_path))
        assert "`nsenter` (apt install util-linux)" in str(pt.BlackBox(["nf"]).missing())
    finally:
        engine._missing.cache_clear()


def test_a_program_that_is_not_there() -> None:
    with pytest.raises(Failed, match=r"the program `\./no_such_nf` of `\./no_such_nf a` is not there"):
        Program(["./no_such_nf", "a"], None)  # type: ignore[arg-type]
    assert set(program.NEEDED) == {"ip", "nsenter", "unshare", "setpriv"}


def test_last_words_are_the_last() -> None:
    spoken = object.__new__(Program)
    spoken.said = b""
    assert spoken.last_words() == "it said nothing"
    spoken.said = b"first " + b"x" * 300 + b"\xff\n last\n"
    assert spoken.last_words() == "it said last: …" + "x" * 294 + "� last"


def test_nobody_loads_it_who_has_no_use_for_it() -> None:
    code = "import sys, polysome.testing as pt; pt.assert_holds; print('polysome.testing.black_box' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


# ---------------------------------------------------------------- comparing


def test_the_same_from_outside(tmp_path: Path) -> None:
    """Whatever the times of leaving and the reasons of drops."""
    spec = spec_of(tmp_path, MEMORY)
    record = pt.run(spec, trace((0, 0, frame()), (1, 5, frame(2, 1)), (1, 9, frame(2, 3)), (0, 9, bytes(3))))
    assert [fate.reason for fate in record.fates] == [None, None, "nobody asked", "no header"]
    later = (sent(fate, c.port, c.data) for fate in record.fates for c in fate.copies)
    assert like(seen(record, *later), SLACK, "seen") == 4


@pytest.mark.parametrize(
    ("port", "data", "said"),
    [
        (
            0,
            frame(),
            ["seen, something else becomes of packet 1", "expected: sent by port b", "found:    sent by port a"],
        ),
        (1, frame()[:-1], ["packet 1 leaves by port b with other bytes", "expected 60 bytes, found 59"]),
        (None, b"", ["seen, something else becomes", "expected: sent by port b", 'found:    dropped, "not seen']),
    ],
)
def test_differences_from_outside(tmp_path: Path, port: int | None, data: bytes, said: list[str]) -> None:
    record = pt.run(spec_of(tmp_path, CABLE), trace((0, 0, frame())))
    other = record.fates[0]
    other = dataclasses.replace(other, copies=()) if port is None else sent(other, port, data)
    with pytest.raises(Broken) as broken:
        like(seen(record, other), SLACK, "seen")
    text = "\n".join(broken.value.failure.said)
    assert broken.value.failure.packets == (0,) and all(part in text for part in said), text


def test_padding_is_the_links(tmp_path: Path) -> None:
    spec = spec_of(
        tmp_path, CABLE.replace("use net.ethernet;\nparser frames { state start { extract ethernet; } }", "use net.l4;")
    )
    packet = ethernet(ipv4(udp(b"abc")))
    record = pt.run(spec, trace((0, 0, packet)))
    assert like(seen(record, sent(record.fates[0], 1, packet + bytes(9))), SLACK, "seen") == 1
    with pytest.raises(Broken):
        like(seen(record, sent(record.fates[0], 1, packet[:-1])), SLACK, "seen")


def answered(spec: pt.Spec, gap: int, answer: bool) -> pt.Record:
    """A frame from a, and one from b so many ms later, which the NF lets through or not; then one more of each."""
    record = pt.run(
        spec, trace((0, 0, frame()), (1, gap, frame(2, 1)), (0, gap + 1, frame()), (1, gap + 2, frame(2, 1)))
    )
    other = dataclasses.replace(record.fates[1], copies=())
    return seen(record, sent(other, 0, frame(2, 1)) if answer else other)


@pytest.mark.parametrize("gap", [250, 299, 300, 350])
@pytest.mark.parametrize("answer", [True, False])
def test_near_a_time_out_both_are_right(tmp_path: Path, gap: int, answer: bool) -> None:
    assert like(answered(spec_of(tmp_path, MEMORY), gap, answer), SLACK, "seen") == 4


def test_near_two_time_outs_too(tmp_path: Path) -> None:
    """The first a little late, the second a little early."""
    one, other = (frame(), frame(2, 1)), (frame(3, 4), frame(4, 3))
    packets = trace((0, 0, one[0]), (1, 280, one[1]), (0, 1000, other[0]), (1, 1320, other[1]))
    record = pt.run(spec_of(tmp_path, MEMORY), packets)
    late, early = dataclasses.replace(record.fates[1], copies=()), sent(record.fates[3], 0, other[1])
    assert record.fates[1].sent and not record.fates[3].sent
    assert like(seen(record, late, early), SLACK, "seen") == 4


@pytest.mark.parametrize(("gap", "answer"), [(150, False), (450, True)])
def test_far_from_a_time_out_one_is(tmp_path: Path, gap: int, answer: bool) -> None:
    with pytest.raises(Broken):
        like(answered(spec_of(tmp_path, MEMORY), gap, answer), SLACK, "seen")


MADE = """emit ethernet { dst: 02:00:00:00:00:01, src: 02:00:00:00:00:02 }, arp { operation: 1,
  sender_mac: 02:00:00:00:00:02, sender_ip: 10.0.0.2, target_mac: 02:00:00:00:00:01, target_ip: 10.0.0.1 } to b;"""


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("send b; }", "send b; } schedule { fifo; serve 8Kbps; buffer 1MB; when full drop; }", "holds packets back"),
        ("send b; }", f"send b; }} every 1s {{ {MADE} }}", "emits packets by itself"),
    ],
)
def test_what_cannot_be_seen_from_outside_is_skipped(tmp_path: Path, old: str, new: str, why: str) -> None:
    spec = spec_of(tmp_path, "use net.arp;" + CABLE.replace(old, new, 1))
    with pytest.raises(Skip, match=why):
        like(seen(pt.run(spec, trace((0, 0, frame()), (0, 0, frame()), (0, 5000, frame())))), SLACK, "seen")


# ---------------------------------------------------------------- properties


def test_properties_that_ask_for_what_is_not_known_are_skipped(tmp_path: Path) -> None:
    """Its clock, its reasons, its state, and another run."""
    text = (
        MEMORY.rstrip().removesuffix("}")
        + """
      property right { for p in trace where p.sent expect p.out_port != p.in_port; }
      property reasons { for p in trace where p.dropped expect p.reason == "nobody asked"; }
      property again { expect outputs(batch: 1) == outputs(); }
      property state { for p in trace expect p.after.asked.len <= 64; }
    }"""
    )
    spec = spec_of(tmp_path, text)
    box = pt.BlackBox(["nf"])
    packets = trace((0, 0, frame()), (1, 1, frame(2, 3)), (1, 2, frame(2, 1)))
    record = seen(pt.run(spec, packets))
    found = {p.name: p.judge(Execution(spec, box, packets, record)) for p in engine_properties(spec)}
    assert all(judgement.failure is None for judgement in found.values())
    assert found["right"].cases == 2
    said = {name: judgement.skipped for name, judgement in found.items()}
    assert said["reasons"] == "the engine `black box` does not show why packets are dropped"
    assert said["state"] == "the engine `black box` does not show its state"
    assert (
        said["again"]
        == said["determinism"]
        == "the engine `black box` measures times, so no run of it can be had again"
    )
    assert said["schedule"] == said["schedule bounds"] == "the engine measures times, so none is exact"
    assert said["conservation"] is said["packet ends"] is said["engines agree"] is None


def engine_properties(spec: pt.Spec) -> tuple[object, ...]:
    from polysome.testing.campaign import properties

    return properties(spec)
