"""Which faults are made in a spec, and what they are made of."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from polysome.testing.mutants import mutants
from polysome.testing.mutants.faults import every
from polysome.testing.mutants.mutant import fingerprint, mutated

from .kit import EVERYTHING, GATE, compiled, one, written

HERE = Path(__file__).parent


def test_all_faults_of_a_spec(tmp_path: Path, golden: Callable[[Path, str], None]) -> None:
    """Every way to make each fault, with `x` if the compiler refuses it, `=` if it changes nothing."""
    spec = written(tmp_path, EVERYTHING, "everything")
    same = fingerprint(spec.program)
    lines, compiling = [], set()
    for mutant in mutants(spec):
        found = mutated(spec, mutant)
        mark = "x" if found is None else "=" if fingerprint(found.program) == same else " "
        lines.append(f"{mark} {mutant.line} {mutant.fault}")
        lines += [f"      {new.strip()}" for _, _, new in mutant.changed]
        compiling |= set() if found is None else {mutant.fault}
    assert compiling == {fault.name for fault in every()} and len(compiling) > 10
    golden(HERE / "everything.txt", "\n".join(lines) + "\n")


def test_numbers_count_from_1_in_the_order_of_the_lines(tmp_path: Path) -> None:
    found = mutants(written(tmp_path, EVERYTHING, "everything"))
    assert [m.number for m in found] == list(range(1, len(found) + 1))
    assert [m.edits[0].start for m in found] == sorted(m.edits[0].start for m in found)


def test_what_a_property_says_and_what_it_is_told_stays(tmp_path: Path) -> None:
    spec = written(tmp_path, EVERYTHING, "everything")
    text = EVERYTHING.split("\n")
    kept = [n for n, line in enumerate(text, 1) if line.strip().startswith(("property", "param", "for p", "traffic"))]
    assert len(kept) == 4
    assert not {n for m in mutants(spec) for n, _, _ in m.changed} & set(kept)


def test_what_a_block_of_tests_is_told_stays(tmp_path: Path) -> None:
    text = GATE.replace("port a, b;", "port inside, outside;\n  use test.firewall { idle: 5s, answers_refresh: true };")
    text = (
        text.replace("from a", "from inside")
        .replace("from b", "from outside")
        .replace("in_port == a", "in_port == inside")
    )
    text = (
        text.replace("in_port == b", "in_port == outside")
        .replace("send a", "send inside")
        .replace("send b", "send outside")
    )
    spec = written(tmp_path, text)
    found = mutants(spec)
    assert any("idle 10s" in m.text for m in found)
    assert all("use test.firewall { idle: 5s, answers_refresh: true };" in m.text for m in found)


def test_lines_stay_where_they_are(tmp_path: Path) -> None:
    """Also where one that goes over several lines is left out: reasons of drops name lines."""
    spec = written(tmp_path, GATE)
    left_out = [m for m in mutants(spec) if m.fault == "statement" and len(m.changed) == 3]
    assert len(left_out) == 1 and left_out[0].text.count("\n") == GATE.count("\n")
    for mutant in mutants(spec):
        assert [n for n, line in enumerate(mutant.text.split("\n")) if "property" in line] == [14]


def test_files_beside_the_spec_get_faults_and_the_library_does_not(tmp_path: Path) -> None:
    (tmp_path / "ends.nf").write_text("use net.l4;\nfn low(p: u16) -> bool { p < 1024 }\n", encoding="utf-8")
    spec = written(
        tmp_path, GATE.replace("use net.l4;", "use net.l4; use ends;").replace("f.sport == 71", "low(f.sport)")
    )
    files = {m.written.path.name for m in mutants(spec)}
    assert files == {"gate.nf", "ends.nf"}
    lower = next(m for m in mutants(spec) if "p <= 1024" in m.text)
    assert lower.line == 2 and fingerprint(compiled(spec, lower).program) != fingerprint(spec.program)
    assert (tmp_path / "ends.nf").read_text(encoding="utf-8").count("p < 1024") == 1


def test_programs_that_mean_the_same_have_one_fingerprint(tmp_path: Path) -> None:
    spec = written(tmp_path, GATE)
    moved = written(tmp_path / ".", "\n\n" + GATE.replace("    send b;", "\n    send   b;"), "moved")
    assert fingerprint(spec.program) == fingerprint(moved.program)
    for old, new in (
        ("idle 5s", "idle 10s"),
        ("capacity 9", "capacity 8"),
        ("evict oldest", "drop"),
        ("== 70", "== 69"),
    ):
        other = written(tmp_path, GATE.replace(old, new), "other")
        assert fingerprint(other.program) != fingerprint(spec.program), old


def test_a_part_of_a_key_is_left_out_wherever_the_key_stands(tmp_path: Path) -> None:
    spec = written(tmp_path, EVERYTHING, "everything")
    keys = [m for m in mutants(spec) if m.fault == "key" and "by_end[without_a_part((ipv4.src, 0))]" in m.text]
    assert len(keys) == 2 and all(m.text.count("without_a_part(") == 3 for m in keys)
    assert {"(0.0.0.0, k.1)" in m.text for m in keys} == {True, False}


def test_state_of_a_block_beside_the_spec_has_keys_too(tmp_path: Path) -> None:
    block = """use net.l4;
block memory {
  state { met: set<Flow> { capacity 9; idle 5s; when full drop; } }
  action meet() { met.add(flow); }
}
"""
    (tmp_path / "memory.nf").write_text(block, encoding="utf-8")
    text = GATE.replace("use net.l4;", "use net.l4; use memory;").replace("port a, b;", "port a, b; use memory as m;")
    spec = written(tmp_path, text.replace("    open.add(flow);", "    open.add(flow); m.meet();"))
    keys = [m for m in mutants(spec) if m.fault == "key" and m.written.path.name == "memory.nf"]
    assert len(keys) == 5 and all("met.add(without_a_part(flow))" in m.text for m in keys)
    assert all(mutated(spec, m) is not None for m in keys)


def test_what_is_left_of_a_condition_stays_together(tmp_path: Path) -> None:
    text = GATE.replace("f.sport == 70 and f.sport == 71", "(f.sport == 70 or f.sport == 71) and f.dport == 72 and tcp")
    text = text.replace("fn never(f: Flow)", "fn never(f: Flow, tcp: bool)").replace("(flow)", "(flow, false)", 1)
    found = [m.text for m in mutants(written(tmp_path, text)) if m.fault == "condition"]
    assert sum("{ (f.sport == 70 or f.sport == 71) and tcp }" in t for t in found) == 1


def test_one_is_found_by_its_words(tmp_path: Path) -> None:
    spec = written(tmp_path, GATE)
    assert one(spec, "idle 5s", "idle 10s").fault == "constant"
    assert one(spec, "idle 5s", "age 5s").fault == "option"
