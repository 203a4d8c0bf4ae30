"""Seeded faults: each can be put in place, and a sample of them is caught here; `make mutants` tries them all."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.properties.mutants.harness import MUTANTS, ROOT, install, mutated, source_of
from tests.properties.mutants.kinds import EngineMutant, Kind, Mutant, NativeMutant, SpecMutant, SystemMutant
from tests.properties.mutants.report import MOST_PACKETS, table, tried

from polysome.backends.nf_cpp.build import missing

SAMPLE = (
    "nat: replies leave outside",
    "load_balancer: choices are not kept",
    "flow_map: a lookup refreshes nothing",
    "token_bucket: a refused take pays",
    "apply: checksums are forgotten",
)
NATIVE_SAMPLE = (
    "native statement_code: writes are not noted",
    "native apply: MAC addresses with their middle twice",
    "native flow_map: age from the first write",
)
SYSTEM_SAMPLE = ("system icrc: congestion bits are covered", "system table: the shortest prefix wins")


@pytest.mark.parametrize("mutant", MUTANTS.values(), ids=lambda m: m.name)
def test_the_text_it_replaces_stands_once_in_its_source(mutant: Mutant) -> None:
    text = source_of(mutant).read_text(encoding="utf-8")
    assert mutated(text, mutant) != text


def test_no_mutant_of_a_spec_is_refused_by_the_compiler(tmp_path: Path) -> None:
    from polysome.testing.spec import load

    for number, mutant in enumerate(m for m in MUTANTS.values() if isinstance(m, SpecMutant)):
        folder = tmp_path / str(number)
        folder.mkdir()
        load(install(mutant, folder))


def test_there_is_a_mutant_of_every_kind_and_enough_of_them() -> None:
    assert {m.kind for m in MUTANTS.values()} == set(Kind)
    specs = [m for m in MUTANTS.values() if isinstance(m, SpecMutant)]
    assert len(specs) >= 60 and sum(isinstance(m, EngineMutant) for m in MUTANTS.values()) >= 30
    native = [m for m in MUTANTS.values() if isinstance(m, NativeMutant)]
    assert len(native) >= 40 and {Path(m.file).suffix for m in native} == {".hpp", ".py"}
    system = [m for m in MUTANTS.values() if isinstance(m, SystemMutant)]
    assert len(system) >= 40 and all(m.name.startswith("system ") for m in system)
    assert all((ROOT / m.test.partition("::")[0]).exists() for m in system)
    assert {m.example for m in specs} == {p.stem for p in (ROOT / "examples").glob("*/*.nf")}


@pytest.mark.slow
@pytest.mark.parametrize("name", SAMPLE)
def test_it_is_caught(name: str) -> None:
    row = tried(name, seconds=120, seed=0, first=True)
    caught = row.get("caught", {})
    assert caught, row
    if isinstance(MUTANTS[name], SpecMutant):
        assert min(c["packets"] for c in caught.values()) <= MOST_PACKETS


@pytest.mark.slow
@pytest.mark.parametrize("name", NATIVE_SAMPLE)
def test_it_is_caught_in_the_native_nf(name: str) -> None:
    if (why := missing()) is not None:
        pytest.skip(why)
    assert (row := tried(name, seconds=60, seed=0, first=True)).get("caught"), row


@pytest.mark.slow
@pytest.mark.parametrize("name", SYSTEM_SAMPLE)
def test_it_is_caught_in_the_system(name: str) -> None:
    if (why := missing()) is not None:
        pytest.skip(why)
    assert (row := tried(name, seconds=60, seed=0, first=True)).get("caught"), row


def test_the_report_says_what_got_away() -> None:
    rows = [
        {"name": "nat: privileged ports", "caught": {"nat.ports_in_range": {"packets": 1, "seconds": 2.0}}},
        {"name": "nat: a full table evicts", "caught": {}, "traces": 7},
        {"name": "lpm: the shortest prefix wins", "error": "ValueError: x"},
        {"name": "system slots: a slot is not done", "caught": {}, "tests": 3},
    ]
    text = "\n".join(table(rows))
    assert "1 of 4 caught (25.0 %)" in text and "NOT CAUGHT in 7 traces" in text and "ValueError: x" in text
    assert "NOT CAUGHT by 3 tests" in text
    assert "got away: nat: a full table evicts" in text


def test_a_mutant_that_does_not_exist_is_an_error() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.properties.mutants.harness", "no such"],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 2 and b"invalid choice: 'no such'" in done.stderr
