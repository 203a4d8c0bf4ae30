"""Syntax trees are kept for the next time; what is found in their place is never run, and never believed if damaged."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from pathlib import Path

import pytest

from polysome.semantics.modules import Loader
from polysome.syntax import ast
from polysome.syntax.diagnostics import Report

SPEC = "nf small { port a; on packet { send a; } }"


class Payload:
    """Runs a command when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Callable[[str], int], tuple[str]]:
        return os.system, (f"touch {self.mark}",)


def loaded(path: Path) -> ast.File:
    report = Report()
    module = Loader(report).load(path, path.name)
    report.stop_on_errors()
    assert module is not None
    return module.ast


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "small.nf").write_text(SPEC)
    return tmp_path / "small.nf"


def entry(spec: Path) -> Path:
    (found,) = (spec.parent / "cache" / "polysome").iterdir()
    return found


def test_a_tree_is_read_again_as_it_was(spec: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = loaded(spec)
    assert entry(spec).is_file()
    monkeypatch.setattr("polysome.syntax.parse.parse", lambda *_: pytest.fail("parsed again"))
    assert loaded(spec) == first


@pytest.mark.parametrize("wrapped", [False, True], ids=["alone", "in a list"])
def test_code_in_the_cache_is_not_run(spec: Path, wrapped: bool) -> None:
    first, mark = loaded(spec), spec.parent / "run"
    entry(spec).write_bytes(pickle.dumps([Payload(mark)] if wrapped else Payload(mark)))
    assert loaded(spec) == first and not mark.exists()
    assert loaded(spec) == first, "the damaged entry is made anew"


@pytest.mark.parametrize("found", [b"", b"no pickle", pickle.dumps(3), pickle.dumps({"a": 1}), pickle.dumps(Path)])
def test_what_is_no_tree_is_parsed_anew(spec: Path, found: bytes) -> None:
    first = loaded(spec)
    entry(spec).write_bytes(found)
    assert loaded(spec) == first
