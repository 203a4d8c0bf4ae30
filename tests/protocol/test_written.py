"""What follows from protocol.toml and is committed is what it says: the C++ header, and the tables of PROTOCOL.md."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import polysome_protocol
from polysome_protocol.write import cpp, page

ROOT = Path(__file__).parents[2]
PROTOCOL = ROOT / "runtime" / "protocol"
ANEW = "is not what protocol.toml says: `make protocol` writes it anew"


def test_the_cpp_header_is_current() -> None:
    written = (PROTOCOL / "protocol.hpp").read_text(encoding="utf-8")
    assert written == cpp.text(), f"protocol.hpp {ANEW}"


def test_the_tables_of_the_page_are_current() -> None:
    told = (ROOT / "runtime" / "PROTOCOL.md").read_text(encoding="utf-8")
    assert sorted(page.names(told)) == sorted(page.TABLES), "each table stands there once"
    assert told == page.written(told), f"a table of PROTOCOL.md {ANEW}"


def test_a_row_that_says_something_else_is_found() -> None:
    told = (ROOT / "runtime" / "PROTOCOL.md").read_text(encoding="utf-8")
    row = next(line for line in told.splitlines() if line.startswith("| ") and "queue pair |" in line)
    assert (
        page.written(told.replace(row, row.replace("16", "17"))) == page.written(told.replace(row + "\n", "")) == told
    )


def test_the_package_needs_only_python() -> None:
    """It runs on switches, beside the controller and without the compiler."""
    allowed = {"polysome_protocol", *sys.stdlib_module_names}
    files = sorted(Path(polysome_protocol.__file__).parent.rglob("*.py"))
    assert len(files) > 4
    for path in files:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert all(name.split(".")[0] in allowed for name in names), path.name
