"""LANGUAGE.md section 8: what an NF reads from its config, and how that changes. Files: tests/config."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from polysome.config.events import in_order, load_events
from polysome.config.load import load_config
from polysome.kinds.state.acl import AclRow, Range
from polysome.kinds.values import Prefix
from polysome.syntax.diagnostics import Report, SpecError
from rules.harness import Outcome, Trapped, bare, errors, program, run, value
from rules.packets import number

PAIR = "struct Pair { x: u8, y: u16 }"
FOUND = "state { found: u16; n: u64; }\n"


def after(body: str, items: str, config: dict[str, Any], times: int = 1, **more: Any) -> Outcome:
    """So many packets, 1 ns apart, through a handler."""
    spec = bare(f'{body}\ndrop "done";', FOUND + items, PAIR)
    return run(spec, [(i, "a", bytes([i])) for i in range(times)], config, **more)


def found(body: str, items: str, config: dict[str, Any], times: int = 1, **more: Any) -> int:
    return int(after(body, items, config, times, **more).state["found"])


# ---------------------------------------------------------------- L8.1

ALL = """
  config n: u16;
  config with_default: u16 = 7;
  config pair: Pair;
  config rows: list<Pair>;
  config some: set<u8>;
  config by_key: map<u8, Pair>;
  config routes: lpm<ipv4, u8>;
  config rules: acl<(ipv4, u16), u8>;
  config spread: maglev<u8> { size 7; }
"""
SPEC = bare('drop "done";', ALL + "config at: port;", PAIR)


def test_L8_1_a_toml_file_has_a_key_per_name(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text(
        """
n = 5
at = "b"
pair = { x = 1, y = 2 }
rows = [{ x = 3, y = 4 }, { x = 5, y = 6 }]
some = [1, 2]
by_key = { 9 = { x = 7, y = 8 } }
routes = { "10.0.0.0/8" = 1, "10.1.0.0/16" = 2 }
""",
        encoding="utf-8",
    )
    values = load_config(program(SPEC), [str(file)], Report())
    assert (values["n"], values["with_default"], values["at"], values["pair"]) == (5, 7, 1, (1, 2))
    assert (values["rows"], values["some"], values["by_key"]) == (((3, 4), (5, 6)), {1, 2}, {9: (7, 8)})
    tens = [(Prefix(32, number("10.0.0.0"), 8), 1), (Prefix(32, number("10.1.0.0"), 16), 2)]
    assert sorted(values["routes"]) == sorted(tens)


def test_L8_1_a_csv_file_fills_one_table(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('n = 5\nat = "a"\npair = { x = 1, y = 2 }\n', encoding="utf-8")
    (tmp_path / "rows.csv").write_text("x,y\n3,4\n5,6\n", encoding="utf-8")
    files = [str(tmp_path / "config.toml"), f"rows={tmp_path / 'rows.csv'}"]
    assert load_config(program(SPEC), files, Report())["rows"] == ((3, 4), (5, 6))


def test_L8_1_a_table_that_is_not_given_is_empty(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('n = 5\nat = "a"\npair = { x = 1, y = 2 }\n', encoding="utf-8")
    values = load_config(program(SPEC), [str(file)], Report())
    empty = {name: values[name] for name in ("rows", "some", "by_key", "routes", "rules", "spread")}
    assert empty == {"rows": (), "some": frozenset(), "by_key": {}, "routes": (), "rules": (), "spread": ()}


def test_L8_1_what_is_no_table_must_be_given() -> None:
    with pytest.raises(SpecError) as caught:
        load_config(program(SPEC), [], Report())
    assert [d.code for d in caught.value.diagnostics] == ["E1005"] * 3  # n, pair, at


# ---------------------------------------------------------------- L8.2

ROWS = "config rows: list<u16>;"


def test_L8_2_a_list_has_rows_by_number() -> None:
    assert found("found = rows[1];", ROWS, {"rows": (10, 20, 30)}) == 20


def test_L8_2_a_row_past_the_end_ends_the_handler() -> None:
    (reason,) = after("found = rows[n];", ROWS, {"rows": ()}).dropped
    assert reason.startswith("empty list (spec.nf:")
    (reason,) = after("found = rows[n + 2];", ROWS, {"rows": (10, 20)}).dropped
    assert reason.startswith("index past the end (spec.nf:")


def test_L8_2_len_takes_the_width_it_meets() -> None:
    rows = tuple(range(300))
    assert found("found = rows.len;", ROWS, {"rows": rows}) == 300
    # Against 8 bits, 300 is 44.
    assert found("if byte0 { if byte0.first + rows.len == 44 { found = 1; } }", ROWS, {"rows": rows}) == 1
    assert (
        found(
            "found = (byte0_or_seven() % rows.len) as u16;",
            ROWS + "fn byte0_or_seven() -> u8 { 7 }",
            {"rows": (1, 2, 3)},
        )
        == 1
    )
    assert found("let all = rows.len; n = all; found = n as u16;", ROWS, {"rows": rows}) == 300


def test_L8_2_for_runs_over_a_list_in_order() -> None:
    assert found("for r in rows { found = found * 10 + r; }", ROWS, {"rows": (1, 2, 3)}) == 123
    assert found("for r in rows { found += r.y; }", "config rows: list<Pair>;", {"rows": ((1, 2), (3, 4))}) == 6


def test_L8_2_a_map_has_rows_by_key() -> None:
    items = "config by_key: map<(u8, u8), u16>;"
    body = "let v = by_key[(1, n as u8)] else { 99 }; found = v; n += 1;"
    assert found(body, items, {"by_key": {(1, 0): 5}}) == 5
    assert found(body, items, {"by_key": {(1, 0): 5}}, times=2) == 99


def test_L8_2_membership() -> None:
    items = "config by_key: map<u8, u16>; config some: set<u8>; config rows: list<u8>;"
    config = {"by_key": {1: 5}, "some": frozenset({2}), "rows": (3,)}
    body = "for k in 0..4 { if (k as u8) in %s { found = k as u16; } }"
    assert [found(body % name, items, config) for name in ("by_key", "some", "rows")] == [1, 2, 3]


def test_L8_2_lpm_finds_the_longest_prefix() -> None:
    routes = tuple((Prefix(32, number(ip), length), v) for ip, length, v in (("10.0.0.0", 8, 1), ("10.1.0.0", 16, 2)))
    items = "config routes: lpm<ipv4, u16>;"
    for address, expected in (("10.1.2.3", 2), ("10.2.2.3", 1), ("11.1.2.3", 99)):
        body = f"let v = routes[{address}] else {{ 99 }}; found = v;"
        assert found(body, items, {"routes": routes}) == expected


def test_L8_2_acl_finds_the_highest_priority_then_the_first() -> None:
    ten = Prefix(32, number("10.0.0.0"), 8)
    rules = (
        AclRow((ten, None), 1),
        AclRow((ten, Range(80, 90)), 2),
        AclRow((None, 80), 3, priority=5),
        AclRow((None, 80), 4, priority=5),
    )
    items = "config rules: acl<(ipv4, u16), u16>;"
    for address, port, expected in (
        ("10.0.0.1", 90, 1),
        ("10.0.0.1", 80, 3),
        ("11.0.0.1", 80, 3),
        ("11.0.0.1", 81, 99),
    ):
        body = f"let v = rules[({address}, {port})] else {{ 99 }}; found = v;"
        assert found(body, items, {"rules": rules}) == expected


def test_L8_2_maglev_has_a_row_for_every_hash() -> None:
    # One row takes all 7 places; weight 0 takes none.
    items = "config spread: maglev<u16> { size 7; }"
    body = "for i in 0..7 { found += spread[i]; }"
    assert found(body, items, {"spread": ((100, 1), (1, 0))}) == 700
    (reason,) = after(body, items, {"spread": ()}).dropped
    assert reason.startswith("empty list (spec.nf:")


def test_L8_2_every_table_has_a_len() -> None:
    ten = Prefix(32, number("10.0.0.0"), 8)
    given: dict[str, tuple[str, Any]] = {
        "list<u8>": ("by_number", (3, 3)),
        "map<u8, u16>": ("by_key", {1: 5, 2: 5}),
        "lpm<ipv4, u16>": ("routes", ((ten, 1), (Prefix(32, 0, 0), 2))),
        "acl<u16, u16>": ("rules", (AclRow((None,), 1), AclRow((80,), 2))),
        "maglev<u16>": ("spread", ((1, 1), (2, 0))),
    }
    items = "".join(f"config {name}: {type};" for type, (name, _) in given.items())
    config = dict(given.values())
    assert [found(f"found = {name}.len;", items, config) for name in config] == [2] * len(config)


def test_L8_2_scalars_and_structs_are_read_by_name() -> None:
    items = "config pair: Pair; config at: port; config rate: bitrate;"
    config = {"pair": (1, 500), "at": 1, "rate": 10**9}
    assert found("if at == b and rate == 1Gbps { found = pair.y; }", items, config) == 500


def test_L8_2_config_cannot_be_written() -> None:
    assert errors(bare('rows[0] = 1; drop "x";', ROWS)) != []
    assert errors(bare('n = 1; drop "x";', "config n: u8;")) == ["E0605"]


def test_L8_2_a_list_in_a_row_is_plain() -> None:
    assert (
        value("rows[0].x", "u8", items="config rows: list<Pair>;", declarations=PAIR, config={"rows": ((1, 2),)}) == 1
    )
    with pytest.raises(Trapped, match="index past the end"):
        value("rows[1].x", "u8", items="config rows: list<Pair>;", declarations=PAIR, config={"rows": ((1, 2),)})


# ---------------------------------------------------------------- L8.3


def test_L8_3_a_change_replaces_any_number_of_tables_at_one_instant() -> None:
    items = ROWS + "config level: u16; config other: u16;"
    body = "found = rows[0] + level + other;"
    config = {"rows": (1,), "level": 10, "other": 100}
    change = (2, {"rows": (2,), "level": 20})
    assert [found(body, items, config, n, changes=[change]) for n in (1, 2, 3)] == [111, 111, 122]


def test_L8_3_it_comes_after_timers_and_before_packets_of_that_instant() -> None:
    items = "config level: u16; every 2ns { n = level as u64; }"
    outcome = after("found = level;", items, {"level": 1}, 3, changes=[(2, {"level": 9})])
    assert (outcome.state["n"], outcome.state["found"]) == (1, 9)


def test_L8_3_at_counts_from_the_first_packet(tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    file.write_text(
        '{"at": "2s", "set": {"n": 6, "rows": [{"x": 1, "y": 2}]}}\n{"at": "1s", "set": {"n": 7}}\n', encoding="utf-8"
    )
    changes = in_order(load_events(program(SPEC), str(file), Report()), 500)
    assert [(c.due(500), dict(c.values)) for c in changes] == [
        (10**9 + 500, {"n": 7}),
        (2 * 10**9 + 500, {"n": 6, "rows": ((1, 2),)}),
    ]


def test_L8_3_a_pools_list_may_change() -> None:
    items = """config hosts: list<u8>; state { free: pool<u8> { from hosts; }
      m: map<u8, u8 from free> { capacity 8; forever; when full drop; } }"""
    body = 'let v = free.take() else drop "none"; m[m.len] = v; found = found * 10 + v as u16;'
    outcome = after(body, items, {"hosts": (1, 2)}, 4, changes=[(2, {"hosts": (1, 3)})])
    # 1 and 2 are out; 3 is new, and then there is nothing.
    assert (outcome.state["found"], outcome.dropped) == (123, {"done": 3, "none": 1})


# ---------------------------------------------------------------- L8.4

REFS = "state { m: map<u8, ref rows> { capacity 4; forever; when full drop; } }"
KEEP = "if n == 0 { m[1] = rows[1]; } n += 1; let r = m[1] else { 99 }; found = r;"


@pytest.mark.parametrize(
    ("rows", "expected"),
    [((20,), 20), ((30, 20, 10), 20), ((20, 20), 20), ((10,), 99), ((), 99), ((10, 21), 99)],
)
def test_L8_4_a_row_of_a_list_stays_if_an_equal_one_is_there(rows: tuple[int, ...], expected: int) -> None:
    assert found(KEEP, ROWS + REFS, {"rows": (10, 20)}, 2, changes=[(1, {"rows": rows})]) == expected


def test_L8_4_a_row_that_has_gone_never_comes_back() -> None:
    changes = [(1, {"rows": (10,)}), (2, {"rows": (10, 20)})]
    assert found(KEEP, ROWS + REFS, {"rows": (10, 20)}, 3, changes=changes) == 99


def test_L8_4_equal_rows_of_a_list_are_one_row() -> None:
    # The reference is to one of two equal rows: who of them goes cannot be said, and what it says stays in the list.
    changes = [(1, {"rows": (10,)})]
    assert found(KEEP, ROWS + REFS, {"rows": (10, 10)}, 2, changes=changes) == 10
    assert found(KEEP, ROWS + REFS, {"rows": (10, 10)}, 2, changes=[(1, {"rows": (5, 10, 10)})]) == 10
    assert found(KEEP, ROWS + REFS, {"rows": (10, 10)}, 2, changes=[(1, {"rows": (5,)})]) == 99


MAPPED = "config rows: map<u8, u16>;"
KEEP_KEY = 'if n == 0 { let row = rows[7] else drop "none"; m[1] = row; } n += 1; let r = m[1] else { 99 }; found = r;'


@pytest.mark.parametrize(("rows", "expected"), [({7: 5}, 5), ({7: 6}, 6), ({8: 5}, 99), ({}, 99)])
def test_L8_4_a_row_of_a_map_stays_if_its_key_does(rows: dict[int, int], expected: int) -> None:
    assert found(KEEP_KEY, MAPPED + REFS, {"rows": {7: 5}}, 2, changes=[(1, {"rows": rows})]) == expected


def test_L8_4_a_change_of_another_table_touches_nothing() -> None:
    items = ROWS + REFS + "config other: list<u16>;"
    changes = [(1, {"other": (1, 2, 3)})]
    assert found(KEEP, items, {"rows": (10, 20)}, 2, changes=changes) == 20
