"""What is true of every kind of config table, however it is found."""

from __future__ import annotations

import dataclasses
import random
import re
from pathlib import Path
from typing import Any

import pytest
from semantics.rules.harness import program

import polysome.kinds.state
from polysome.analysis.values_text import text
from polysome.backends.nf_cpp.config_blob import encode
from polysome.config.load import load_config
from polysome.config.tables import Tables
from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.ir.value_places import members
from polysome.kinds.state import TABLE_KINDS, brought
from polysome.kinds.values import Prefix, plain
from polysome.syntax.diagnostics import Report
from polysome.testing.counterexample.config_text import config_text
from polysome.testing.counterexample.simpler_config import addresses, exchanged, simpler
from polysome.testing.traffic.choices import Choices
from polysome.testing.traffic.tables import changed
from polysome.testing.traffic.values import keys, value

KINDS = Path(polysome.kinds.state.__file__).parent
NF = program("use net.l4; nf n { port left, right; config x: u8 = 0; on packet { send left; } }")
KEYS = (t.U16, t.IPV4, t.IPV6, t.MAC, t.PORT, t.Tuple((t.IPV4, t.U8)), t.Struct("K", (("a", t.IPV6), ("b", t.BOOL))))
VALUES = (t.U8, t.Tuple((t.IPV4, t.PORT)), t.Struct("V", (("c", t.BITRATE), ("d", t.IPV4))))
FEW = 251  # a prime, and more than all weights
SPELT = {"K": t.U16, "V": t.U8}


def types(name: str) -> list[t.Table]:
    """Tables of a kind, with keys that it takes."""
    kind = TABLE_KINDS[name]
    usable = [key for key in KEYS if kind.keys(key)]
    assert usable and (len(usable) == len(KEYS) or kind.keys_are)
    return [kind.type_of([key, of][-len(kind.params) :]) for key in usable for of in VALUES]


def nf(type: t.Table) -> ir.Program:
    options = dict.fromkeys((option.name for option in TABLE_KINDS[type.kind].options), FEW)
    return dataclasses.replace(NF, config={"x": ir.ConfigDecl("x", type, (), NF.span, options)})


@pytest.mark.parametrize("name", TABLE_KINDS)
def test_its_folder_has_what_it_needs(name: str) -> None:
    kind = TABLE_KINDS[name]
    assert kind.name == name and kind.params in (("K", "V"), ("V",))
    assert (
        str(kind.type_of([SPELT[p] for p in kind.params])) == f"{name}<{', '.join(str(SPELT[p]) for p in kind.params)}>"
    )
    needed = ["rows", "traffic", "cpp", "model", *(["lookup"] if kind.identity != "key" else [])]
    assert [module for module in needed if name not in brought(module)] == []
    assert (kind.section == 0) == (name == "map")  # which is in the manual of the language
    if kind.section:
        title = (KINDS / name / "MANUAL.md").read_text(encoding="utf-8").partition("\n")[0]
        assert re.match(rf"## {kind.section}\. ", title), title


@pytest.mark.parametrize("name", [name for name in TABLE_KINDS if name != "map"])  # which state has too
def test_no_other_code_names_it(name: str) -> None:
    """But P4, where `lpm` is a way to match."""
    package = KINDS.parents[1]
    elsewhere = [path for path in package.rglob("*.py") if KINDS not in path.parents and "p4" not in path.parts]
    named = re.compile(rf"""["']{name}["']|kinds\.state\.{name}\b|kinds\.state import .*\b{name}\b""")
    assert elsewhere and [str(path) for path in elsewhere if named.search(path.read_text(encoding="utf-8"))] == []


def drawn(type: t.Table, count: int) -> list[Any]:
    """Tables, and what becomes of them by changes."""
    given, chance = nf(type), random.Random(str(type))
    found = []
    for _ in range(count):
        choices = Choices(chance.randbytes(chance.choice((4, 40, 400))))
        found.append(value(given, choices, type))
        found += [changed(given, choices, "x", found[-1]) for _ in range(3)]
    return found


@pytest.mark.parametrize("name", TABLE_KINDS)
def test_tables_are_drawn_and_hold_what_they_were_given(name: str) -> None:
    kind = TABLE_KINDS[name]
    for type in types(name):
        tables = drawn(type, 5)
        assert len(set(map(repr, tables))) > 5
        for table in tables:
            rows = kind.rows(table)
            made = Tables(nf(type), {"x": table}).current["x"]
            assert kind.together(rows) == table and len(made) == len(rows)
            assert [kind.value(kind.with_value(row, 7)) for row in rows] == [7] * len(rows)
            assert encode(nf(type), {"x": table}) and text(table, type, NF).startswith("{")


@pytest.mark.parametrize("name", TABLE_KINDS)
def test_keys_of_rows_find_rows(name: str) -> None:
    """A row alone is found by each of its keys, if they have one component."""
    kind = TABLE_KINDS[name]
    for type in (type for type in types(name) if "K" in kind.params and not members(type.key)):
        asked = 0
        for row in (row for table in drawn(type, 5) for row in kind.rows(table)):
            current = Tables(nf(type), {"x": kind.together([row])}).current["x"]
            for of, key in keys(type, kind.together([row])):
                one = key.value if of == t.PREFIX else key
                if isinstance(key, Prefix) and t.width(type.key) != key.bits:
                    continue
                asked += 1
                assert plain(current.get(one, *kind.asked(type.key))) == kind.value(row)
        assert asked > 5


@pytest.mark.parametrize("name", TABLE_KINDS)
def test_files_give_what_was_written(name: str, tmp_path: Path) -> None:
    for type in types(name):
        for table in drawn(type, 2):
            path = tmp_path / "c.toml"
            path.write_text(config_text(nf(type), {"x": table}), encoding="utf-8")
            assert load_config(nf(type), [str(path)], Report()) == {"x": table}


@pytest.mark.parametrize("name", TABLE_KINDS)
def test_steps_to_something_simpler_are_tables_and_end(name: str) -> None:
    for type in types(name):
        for table in drawn(type, 1):
            steps = 0
            while (step := next(simpler(table, type), None)) is not None:
                Tables(nf(type), {"x": step})
                table, steps = step, steps + 1
                assert steps < 1000
            others = exchanged(table, type, {address: address[1] ^ 1 << 20 for address in addresses(table, type)})
            assert len(others) == len(table)
