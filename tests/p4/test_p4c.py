"""The programs of these tests are valid: the open-source p4c with its Tofino backend compiles them too.

P4C names the compiler driver; without it the tests are skipped.
"""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

import pytest
from tests.p4 import test_checksums, test_copies, test_forwarding, test_parsing, test_registers, test_tables

PROGRAMS = {
    "stations": test_forwarding.STATIONS,
    "select": test_parsing.SELECT,
    "errors": test_parsing.ERRORS,
    "rewrite": test_checksums.REWRITE,
    "roles": test_parsing.ROLES,
    "after": test_checksums.AFTER,
    "count": test_registers.COUNT,
    "guard": test_registers.GUARD,
    "signed": test_registers.SIGNED,
    "predicates": test_registers.PREDICATES,
    "saturating": test_registers.SATURATING,
    "copies": test_copies.COPIES,
    "recirculated": test_copies.RECIRCULATED,
    "constant": test_tables.CONSTANT,
    "counted": test_tables.COUNTED,
    "prefixes": test_tables.matching("hdr.io.c: lpm;"),
    "masks": test_tables.matching("hdr.io.a: ternary; hdr.io.b: exact;"),
}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif("P4C" not in os.environ, reason="P4C does not name a p4c with the Tofino backend"),
]


@pytest.mark.parametrize("name", PROGRAMS)
def test_p4c_compiles_it(name: str, tmp_path: Path) -> None:
    source = tmp_path / f"{name}.p4"
    source.write_text(PROGRAMS[name], encoding="utf-8")
    command = [*shlex.split(os.environ["P4C"]), "--target", "tofino", "--arch", "tna", "-o", str(tmp_path / "out")]
    done = subprocess.run([*command, str(source)], capture_output=True, text=True, check=False, timeout=200)
    assert done.returncode == 0, done.stderr[-4000:]
