"""Campaigns that are ended go on where they were."""

from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path

import pytest
from hypothesis.database import DirectoryBasedExampleDatabase
from tests.testing.campaign.gates import PLAN, RIGHT, TWICE, spec

from polysome.testing.campaign import Campaign, Here, Journal, Nothing, Result
from polysome.testing.campaign.share import Share
from polysome.testing.campaign.traces import SHARE
from polysome.testing.spec import Spec, load

LONG = dataclasses.replace(PLAN, only=("shut", "conservation"), seconds=600, traces=4 * SHARE + 9, shrinking=600)


class Noting(Here):
    """Tells which shares were asked for."""

    def __init__(self, spec: Spec) -> None:
        super().__init__(spec)
        self.numbers: list[int] = []

    def submit(self, share: Share) -> None:
        self.numbers.append(share.number)
        super().submit(share)


def stop_after(traces: int) -> object:
    def seen(result: Result) -> None:
        if result.traces >= traces:
            raise KeyboardInterrupt

    return seen


def interrupted(folder: Path, gate: Spec, shares: int) -> Result:
    journal = Journal.begin(folder, gate, LONG)
    result = Campaign(gate, LONG, None, journal).run(Here(gate), stop_after(shares * SHARE))  # type: ignore[arg-type]
    journal.close(over=False)
    assert result.interrupted and result.traces == shares * SHARE
    return result


def files(folder: Path) -> list[Path]:
    return list(folder.glob("*.campaign"))


@pytest.mark.parametrize("text", [RIGHT, TWICE])
def test_one_that_goes_on_ends_as_one_that_was_not_interrupted(tmp_path: Path, text: str) -> None:
    gate = spec(tmp_path, text)
    interrupted(tmp_path, gate, 2)
    journal = Journal.resume(tmp_path, gate)
    crew = Noting(gate)
    result = Campaign(gate, journal.plan, None, journal).run(crew)
    journal.close(over=True)
    whole = Campaign(gate, LONG).run(Here(gate))
    assert crew.numbers == [2, 3, 4] and journal.plan == LONG and not files(tmp_path)
    assert (result.traces, result.packets, result.dropped) == (whole.traces, whole.packets, whole.dropped)
    for name, outcome in whole.outcomes.items():
        mine = result.outcomes[name]
        assert (mine.cases, mine.traces) == (outcome.cases, outcome.traces)
        assert [f.counterexample for f in mine.findings] == [f.counterexample for f in outcome.findings]
    assert result.known == whole.known


def test_it_has_the_time_that_was_left(tmp_path: Path) -> None:
    gate = spec(tmp_path, RIGHT)
    interrupted(tmp_path, gate, 1)
    (path,) = files(tmp_path)
    head, share = path.read_text().splitlines()
    late = json.loads(share) | {"seconds": 599.9}
    path.write_text(f"{head}\n{json.dumps(late)}\n")
    journal = Journal.resume(tmp_path, gate)
    result = Campaign(gate, journal.plan, None, journal).run(Here(gate))
    journal.close(over=True)
    assert SHARE < result.traces < LONG.traces and 599.9 < result.seconds < 605  # type: ignore[operator]


def test_a_line_that_was_cut_off_does_not_count(tmp_path: Path) -> None:
    gate = spec(tmp_path, RIGHT)
    interrupted(tmp_path, gate, 2)
    (path,) = files(tmp_path)
    path.write_bytes(path.read_bytes()[:-5])
    journal = Journal.resume(tmp_path, gate)
    assert list(journal.done) == [0]
    journal.note(1, journal.done[0], 3.0)
    journal.close(over=False)
    again = Journal.resume(tmp_path, gate)
    assert list(again.done) == [0, 1] and again.seconds >= 3.0
    again.close(over=False)


def test_what_failed_before_is_not_forgotten_by_one_that_goes_on(tmp_path: Path) -> None:
    gate, database = spec(tmp_path, TWICE), DirectoryBasedExampleDatabase(tmp_path / "db")
    journal = Journal.begin(tmp_path, gate, LONG)
    Campaign(gate, LONG, database, journal).run(Here(gate), stop_after(SHARE))  # type: ignore[arg-type]
    journal.close(over=False)
    kept = set(database.fetch(b"gate/shut"))
    assert len(kept) == 2
    journal = Journal.resume(tmp_path, gate)
    result = Campaign(gate, journal.plan, database, journal).run(Here(gate))
    journal.close(over=True)
    assert set(database.fetch(b"gate/shut")) == kept and len(result.outcomes["shut"].findings) == 2


def test_a_full_disk_ends_the_journal_and_not_the_campaign(tmp_path: Path) -> None:
    gate = spec(tmp_path, RIGHT)
    journal = Journal.begin(tmp_path, gate, LONG)
    with open("/dev/full", "w", encoding="utf-8") as full:
        journal._file = full
        result = Campaign(gate, dataclasses.replace(LONG, traces=2 * SHARE), None, journal).run(Here(gate))
    assert result.traces == 2 * SHARE and not result.interrupted
    journal.close(over=True)


def test_another_spec_does_not_go_on(tmp_path: Path) -> None:
    interrupted(tmp_path, spec(tmp_path, RIGHT), 1)
    for other in (RIGHT.replace("idle 5s", "idle 6s"), RIGHT.replace("a, b", "a, b, c")):
        with pytest.raises(Nothing, match="are not what they were"):
            Journal.resume(tmp_path, spec(tmp_path, other))
    Journal.resume(tmp_path, spec(tmp_path, RIGHT)).close(over=False)


def test_other_params_or_another_config_do_not_go_on(tmp_path: Path) -> None:
    """Also where the same text is given for another one."""
    params = "param age: duration = 5s; param late: duration = 5s;"
    config = "config some: list<u32>; config more: list<u32>;"
    path = spec(
        tmp_path, RIGHT.replace("state {", f"{params} {config} state {{").replace("idle 5s", "idle age + late")
    ).path
    for n in (1, 2):
        (tmp_path / f"{n}.csv").write_text(f"value\n{n}\n")

    def given(params: dict[str, str], some: int, more: int) -> Spec:
        return load(path, params, [f"some={tmp_path}/{some}.csv", f"more={tmp_path}/{more}.csv"])

    interrupted(tmp_path, given({"age": "6s"}, 1, 2), 1)
    others = [given({"age": "7s"}, 1, 2), given({"late": "6s"}, 1, 2), given({"age": "6s"}, 1, 1)]
    turned = load(path, {"age": "6s"}, [f"more={tmp_path}/1.csv", f"some={tmp_path}/2.csv"])
    for other in (*others, turned, load(path, {"age": "6s"})):
        with pytest.raises(Nothing, match="are not what they were"):
            Journal.resume(tmp_path, other)
    Journal.resume(tmp_path, given({"age": "6s"}, 1, 2)).close(over=False)


@pytest.mark.parametrize("newest", [1, 2])
def test_of_two_that_were_interrupted_the_newest_goes_on(tmp_path: Path, newest: int) -> None:
    gate = spec(tmp_path, RIGHT)
    both = [Journal.begin(tmp_path, gate, dataclasses.replace(LONG, seed=seed)) for seed in (1, 2)]
    for journal in both:
        journal.close(over=False)
        os.utime(journal.path, (1000, 2000 if journal.plan.seed == newest else 1000))
    journal = Journal.resume(tmp_path, gate)
    assert journal.plan.seed == newest
    journal.close(over=False)


def test_without_one_there_is_nothing_to_go_on_with(tmp_path: Path) -> None:
    gate = spec(tmp_path, RIGHT)
    with pytest.raises(Nothing, match="no campaign of `gate` that was interrupted"):
        Journal.resume(tmp_path / "none", gate)
    (tmp_path / "gate-1.campaign").write_text("{}\n")
    with pytest.raises(Nothing, match="is damaged"):
        Journal.resume(tmp_path, gate)
    (tmp_path / "gate-1.campaign").write_bytes(b"\xff\xfe\n")
    with pytest.raises(Nothing, match="is damaged"):
        Journal.resume(tmp_path, gate)


def test_one_that_somebody_writes_is_left_alone(tmp_path: Path) -> None:
    gate = spec(tmp_path, RIGHT)
    running = Journal.begin(tmp_path, gate, LONG)
    with pytest.raises(Nothing):
        Journal.resume(tmp_path, gate)
    same = Journal.begin(tmp_path, gate, LONG)  # as well as another campaign may be: nothing of it is kept
    same.note(0, Result.of(["shut"]), 1.0)
    same.close(over=True)
    other = Journal.begin(tmp_path, gate, dataclasses.replace(LONG, seed=2))
    assert len(files(tmp_path)) == 2
    other.close(over=False)
    running.note(0, Result.of(["shut"]), 1.0)
    running.close(over=False)
    assert len(running.path.read_text().splitlines()) == 2


def test_the_newest_goes_on_and_a_new_one_forgets_the_others(tmp_path: Path) -> None:
    gate = spec(tmp_path, RIGHT)
    interrupted(tmp_path, gate, 1)
    begun = Journal.begin(tmp_path, gate, dataclasses.replace(LONG, seed=7))
    begun.close(over=False)
    assert [path.name for path in files(tmp_path)] == ["gate-7.campaign"]
    journal = Journal.resume(tmp_path, gate)
    assert journal.plan.seed == 7
    journal.close(over=True)
    assert not files(tmp_path)
