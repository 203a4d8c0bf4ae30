"""What is written is read back, runs in `polysome run` too, and says what is wrong with itself."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from polysome.captures.read import open_capture
from polysome.cli.main import app
from polysome.engines.trace import Arrival, Change, Trace
from polysome.testing.counterexample import Counterexample, ReplayError, dumps, loads, read, read_capture, write
from polysome.testing.spec import Spec

from .kit import S, limiter, run, trace, udp


def example(small: bool = False) -> Counterexample:
    """Two packets pass, the change of config comes, the third is one too many."""
    given = trace(
        [Arrival(0, 10**18 + n * S, udp()) for n in range(3)],
        {"plans": {0x0A000001: (3, 1)}, "blocked": (1, 2)},
        (Change(10**18 + 2 * S, {"usual": 2}),),
    )
    return Counterexample(limiter().small() if small else limiter(), small, "interp", "nat.no twice", given)


@pytest.mark.parametrize("small", [False, True])
def test_reading_is_the_inverse_of_writing(tmp_path: Path, small: bool) -> None:
    paths = write(tmp_path / "new", example(small), ["what happened"])
    assert paths.replay.name == "nat.no-twice.json" and paths.timeline.read_text() == "what happened\n"
    for path in (paths.replay, paths.capture):
        found = read(path)
        assert found.trace == example().trace
        assert (found.small, found.engine, found.property) == (small, "interp", "nat.no twice")
        assert [d.capacity for d in found.spec.program.state.values() if hasattr(d, "capacity")] == [3 if small else 4]
    again = loads(dumps(example(small)), limiter())
    assert again.trace == example().trace and again.small == small


def test_the_architecture_is_kept_where_one_was_chosen() -> None:
    assert loads(dumps(example()), limiter()).architecture is None and b"architecture" not in dumps(example())
    chosen = replace(example(), engine="system", architecture="whole")
    assert loads(dumps(chosen), limiter()).architecture == "whole"
    with pytest.raises(ReplayError, match="there is no architecture `hole`"):
        loads(dumps(chosen).replace(b'"whole"', b'"hole"'), limiter())


def test_a_folder_can_move_with_its_spec(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    spec = tmp_path / "a" / "limiter.nf"
    spec.write_bytes(limiter().path.read_bytes())
    moved = Spec(spec, limiter().program)
    write(tmp_path / "a" / "out", Counterexample(moved, False, "interp", "p", example().trace), [])
    (tmp_path / "a").rename(tmp_path / "b")
    assert read(tmp_path / "b" / "out" / "p.json").trace == example().trace


def test_the_capture_has_ports_and_times(tmp_path: Path) -> None:
    paths = write(tmp_path, example(), [])
    with open_capture(paths.capture) as capture:
        packets = list(capture)
        assert capture.interfaces == limiter().program.ports
    assert [(p.interface, p.time, p.data) for p in packets] == [
        (a.port, a.time, a.data) for a in example().trace.arrivals
    ]


def test_polysome_run_does_the_same_with_the_files(tmp_path: Path) -> None:
    paths = write(tmp_path, example(), [])
    assert paths.config is not None and paths.events is not None
    arguments = ["run", str(limiter().path), "--in", f"left={paths.capture}", "--config", str(paths.config), "--json"]
    without = json.loads(CliRunner().invoke(app, arguments).output)
    found = json.loads(CliRunner().invoke(app, [*arguments, "--events", str(paths.events)]).output)
    assert without["dropped"] == {} and without["sent"] == 3
    assert found["dropped"] == run(example().trace).record.drops == {"too many": 1}


def test_files_of_an_earlier_counterexample_do_not_stay(tmp_path: Path) -> None:
    write(tmp_path, example(), [])
    later = Counterexample(limiter(), False, "interp", "nat.no twice", trace([]))
    assert write(tmp_path, later, []).events is None
    assert sorted(p.suffix for p in tmp_path.iterdir()) == [".json", ".pcapng", ".toml", ".txt"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"polysome counterexample": 9}, "it has version 9, but only 1 can be read"),
        ({"small": 1}, '`"small"` should be true or false'),
        ({"packets": {}}, '`"packets"` should be an array'),
        ({"packets": [{"port": "up", "time": 1, "data": ""}]}, "packet 1 arrives at `up`, which is no port"),
        ({"packets": [{"port": "left", "time": True, "data": ""}]}, '`"time"` should be a whole number'),
        ({"packets": [{"port": "left", "time": -1, "data": ""}]}, "packet 1 has time -1"),
        ({"packets": [{"port": "left", "time": 1, "data": "0"}]}, '`"data"` of packet 1 should be pairs of hex digits'),
        ({"packets": [7]}, '`"port"` should be a text'),
        ({"config": {}}, "it gives no value for config `plans`"),
        ({"config": {"plan": 1}}, '`"config"` does not fit the spec: there is no config `plan`'),
        ({"changes": [{"at": 1, "set": {"usual": "much"}}]}, '`"changes[0]"` does not fit the spec'),
        ({"params": {"a": 1}}, '`"params"` should hold texts'),
        ({"spec": "nowhere.nf"}, "its spec nowhere.nf cannot be read: No such file"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, change: dict[str, object], said: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps(json.loads(dumps(example())) | change))
    with pytest.raises(ReplayError) as error:
        read(path)
    assert error.value.message.startswith(f"{path}: ") and said in error.value.message and error.value.mend


@pytest.mark.parametrize("text", ["", "[]", "{}", "\x00", '{"a": ' * 5000, "nul", '"polysome counterexample"'])
def test_other_files_are_no_counterexamples(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(ReplayError, match=r"no counterexample|not valid JSON"):
        read(path)
    with pytest.raises(ReplayError, match="cannot be read"):
        read(tmp_path / "missing.json")
    with pytest.raises(ReplayError, match=r"there is no missing\.json beside it"):
        read(tmp_path / "missing.pcapng")


def test_a_plain_capture_gives_packets_at_the_ports_of_its_interfaces(tmp_path: Path) -> None:
    given = Trace(example().trace.config, (Arrival(1, S, udp()), Arrival(0, 2 * S, udp(2))))
    paths = write(tmp_path, Counterexample(limiter(), False, "interp", "p", given), [])
    found = read_capture(paths.capture, limiter())
    assert found.arrivals == given.arrivals
    assert found.config == {"plans": {}, "blocked": (), "usual": 7}
