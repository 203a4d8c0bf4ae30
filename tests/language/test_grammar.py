"""The committed parser is what ANTLR makes of the committed grammar."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

SYNTAX = Path(__file__).parents[2] / "compiler" / "polysome" / "syntax"
GENERATED = SYNTAX / "generated"
MAKEFILE = Path(__file__).parents[2] / "Makefile"


def test_the_committed_parser_is_generated_from_the_committed_grammar(tmp_path: Path) -> None:
    jar = os.environ.get("ANTLR_JAR", "")
    if not jar or shutil.which("java") is None:
        pytest.skip("needs Java, and the path of ANTLR's jar in the environment variable ANTLR_JAR")
    options = ["-Dlanguage=Python3", "-no-listener", "-no-visitor", "-Xexact-output-dir"]
    # ANTLR writes the grammar's path into the first line: the same relative path as `make parser` uses.
    grammar = (SYNTAX / "Polysome.g4").relative_to(MAKEFILE.parent)
    subprocess.run(
        ["java", "-jar", str(Path(jar).resolve()), *options, "-o", str(tmp_path), str(grammar)],
        cwd=MAKEFILE.parent,
        check=True,
        capture_output=True,
        text=True,
    )
    made = {p.name for p in tmp_path.glob("*.py")}
    assert made == {p.name for p in GENERATED.glob("*.py")} - {"__init__.py"}
    for name in sorted(made):
        assert (tmp_path / name).read_bytes() == (GENERATED / name).read_bytes(), f"{name} differs: run `make parser`"


def test_make_parser_generates_it_with_the_same_options() -> None:
    options = re.search(r"^ANTLR_ARGS := (.*)$", MAKEFILE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert options is not None
    assert {"-Dlanguage=Python3", "-no-listener", "-no-visitor", "-Xexact-output-dir"} <= set(options[1].split())
