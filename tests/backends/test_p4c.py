"""The programs of all examples by the real compiler, where `P4C` names one: what its assembly says, not what it ends
with, as its exit status is 0 for programs that no chip holds, too."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from functools import cache
from itertools import product
from operator import itemgetter
from pathlib import Path

import pytest
from tests.backends.assembly import Parsed, Parser, bits, parser_of, stateful
from tests.backends.examples import EXAMPLES, program
from tests.prove.every import CARRIES, TARGETS, on_the_chip
from tests.prove.p4.concrete import Facts

from polysome import smt
from polysome.analysis.layout import Carry
from polysome.backends.system.library import limits, p4_text
from polysome.p4 import program as pr
from polysome.p4.load import load
from polysome.plan.design import Design
from polysome.prove.case import port_metadata
from polysome.prove.p4.parser import Path as Walked
from polysome.prove.p4.parser import paths
from polysome.prove.p4.store import InWindow
from polysome.prove.window import Frame, Window

NAMES = sorted(path.name for path in EXAMPLES.iterdir() if path.is_dir())
PROGRAMS = list(product(NAMES, TARGETS, CARRIES))
STAGES = {"tofino": 12, "tofino2": 20}
OUTPUT = {"tofino": "output alu_lo", "tofino2": "output word0, alu_lo"}
DEEP = "min_parse_depth"  # in the names of states and headers that the compiler adds to read 65 bytes of each frame
INTRINSIC = 8  # bytes of ingress intrinsic metadata, before the port's
ROLES = 8  # those that there are, and some that are not
LONGEST = 1600  # of the frames that are tried
ERRORS = "container", "read size"  # in what the compiler says: warnings of a wrong program

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]


@cache
def made(name: str, target: str, carry: Carry) -> Design:
    return on_the_chip(program(name), target, carry)


@cache
def assembly(text: str, target: str, folder: Path) -> str:
    """The compiler's and, assembled, of a program."""
    if "P4C" not in os.environ:
        pytest.skip("P4C does not name a p4c with its Tofino backend")
    own = folder / f"{len(list(folder.iterdir()))}"
    own.mkdir()
    source = own / "switch.p4"
    source.write_text(text, encoding="utf-8")
    architecture = {"tofino": "tna", "tofino2": "t2na"}[target]
    command = [*shlex.split(os.environ["P4C"]), "--target", target, "--arch", architecture, "-o", str(own / "out")]
    done = subprocess.run([*command, str(source)], capture_output=True, text=True, check=False, timeout=600)
    said = done.stdout + done.stderr
    assert done.returncode == 0, said[-4000:]
    assert not any(error in said for error in ERRORS), said[-3000:]
    (path,) = (own / "out").rglob("*.bfa")
    return path.read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("p4c")


@pytest.mark.parametrize(("name", "target", "carry"), PROGRAMS)
def test_the_open_compiler_takes_it(name: str, target: str, carry: Carry, folder: Path) -> None:
    said = assembly(p4_text(made(name, target, carry)), target, folder)
    assert max(map(int, re.findall(r"^stage (\d+) ", said, re.MULTILINE))) < STAGES[target]
    if not made(name, target, carry).ways:
        return
    leaves = stateful(said, "Ingress.left0")
    assert [leaves["arrive0"], leaves["is_there0"], leaves["leave0"]] == [
        ["clr_bit"],
        ["read_bitc", OUTPUT[target]],
        ["set_bitc", OUTPUT[target]],  # the old bit, inverted
    ]
    assert stateful(said, "Ingress.epochs") == {
        "epoch": [OUTPUT[target].replace("alu_lo", "mem_lo")],
        "next_epoch": ["add lo, lo, 1", OUTPUT[target]],
    }
    begin, of_another = itemgetter("begin", "of_another")(stateful(said, "Egress.epochs"))
    equal = {"tofino": ("lo", "cmplo", "alu_hi"), "tofino2": ("cmp0", "cmp0", "word0, alu_hi")}[target]
    assert begin == ["alu_a lo, phv_lo"]
    assert of_another == [
        f"equ {equal[0]}, lo, -phv_lo",
        f"alu_a !{equal[1]}, hi, 1",
        f"output !{equal[1]}, {equal[2]}",
    ]


@pytest.mark.parametrize(("name", "target", "carry"), PROGRAMS)
def test_its_parsers_do_what_the_program_says(name: str, target: str, carry: Carry, folder: Path) -> None:
    """A frame for each path through the program's parsers, and for each row of the assembly's."""
    design = made(name, target, carry)
    text = p4_text(design)
    said, p4 = assembly(text, target, folder), load("switch.p4", text, limits(design.site.switch))
    ingress, egress = parser_of(said, "ingress"), parser_of(said, "egress")
    _same(ingress, [_Entry(p4, role, ingress.metadata) for role in range(ROLES)])
    _same(egress, [_Entry(p4, None, egress.metadata)])


class _Entry:
    """A parser as frames of one port come in: an ingress's of a role, or (None) egress's."""

    def __init__(self, p4: pr.Program, role: int | None, before: int) -> None:
        self.frame = Frame()
        window = Window(self.frame)
        if role is None:
            self.metadata = bytes(before)
            self.walked = list(paths(p4, p4.egress, window))
        else:
            self.metadata = bytes(INTRINSIC) + bytes([role]) + bytes(before - INTRINSIC - 1)
            self.walked = list(paths(p4, p4.ingress, window, metadata=port_metadata(p4, role)))

    def frames(self) -> Iterator[tuple[Walked, bytes]]:
        """One for each path."""
        for path in self.walked:
            solver = smt.Solver()
            solver.add(*path.conditions, smt.ULE(self.frame.length, LONGEST))
            assert solver.check() == smt.sat
            yield path, self.frame.content(solver.model())

    def path(self, content: bytes) -> Walked:
        """The one that a frame takes."""
        length = {str(self.frame.length): len(content)}
        facts = Facts(length | {str(self.frame.byte(k)): byte for k, byte in enumerate(content)})
        (found,) = (path for path in self.walked if all(facts.of(c) for c in path.conditions))
        return found


def _same(parser: Parser, entries: list[_Entry]) -> None:
    seen: set[tuple[str, int]] = set()
    visited: dict[str, tuple[_Entry, bytes, Parsed]] = {}
    for entry in entries:
        for path, content in entry.frames():
            found = parser.parse(entry.metadata, content)
            assert not _differences(parser, path, found), (str(path), content.hex(), found.rows)
            seen.update(found.rows)
            for state, _ in found.rows:
                visited.setdefault(state, (entry, content, found))
    rows = {(name, n) for name, state in parser.states.items() for n in range(len(state.rows)) if DEEP not in name}
    for state, n in sorted(rows - seen):
        if state in visited:
            entry, content, found = visited[state]
            content = _for_row(parser, state, n, content, found)
            found = parser.parse(entry.metadata, content)
            path = entry.path(content)
            assert not _differences(parser, path, found), (str(path), content.hex(), found.rows)
            seen.update(found.rows)
    unseen = rows - seen
    assert len(unseen) <= 0.02 * len(rows), unseen  # of ranges that others before them leave nothing of


def _for_row(parser: Parser, state: str, n: int, content: bytes, found: Parsed) -> bytes:
    """A frame that is in a state, with the bytes changed which a row wants."""
    changed, row, shift = bytearray(content), parser.states[state].rows[n], 0
    for register in reversed(parser.states[state].match):
        place = found.matched[state].get(register, -1)
        for k in range(bits(register) // 8) if place >= 0 else ():
            down = shift + bits(register) - 8 * (k + 1)
            value, mask = row.value >> down & 0xFF, row.mask >> down & 0xFF
            changed[place + k] = changed[place + k] & ~mask | value
        shift += bits(register)
    return bytes(changed)


def _differences(parser: Parser, path: Walked, found: Parsed) -> list[str]:
    """Between what the program does and what the assembly does."""
    if path.error or found.error:
        return [] if path.error and found.error else [f"error {path.error}, {found.error}"]
    written = {name for state in parser.states.values() for row in state.rows for name, _ in row.constants}
    valid = {".".join(key) for key, valid in path.store.validity.items() if valid}
    kept = {n for n in valid | found.valid if n.startswith("hdr.") and f"{n}.$valid" in written and DEEP not in n}
    said = [f"{name} valid" for name in kept if (name in valid) != (name in found.valid)]
    for key, value in path.store.values.items():
        name = ".".join(key)
        if isinstance(value, int) and name in written and found.constants.get(name, 0) != value:
            said.append(f"{name} = {value}")
        if isinstance(value, InWindow):
            places = {high: at for (one, high), at in found.places.items() if one == name}
            wrong = (
                high for high, at in places.items() if at != value.at + (value.width - 1 - high if high >= 0 else 0)
            )
            said += [f"bits from {high} of {name} from bit {places[high]}" for high in wrong]
    return said
