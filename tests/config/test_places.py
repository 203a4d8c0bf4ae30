"""Values of TOML, JSON and CSV keep their places, and are what the standard library says."""

from __future__ import annotations

import csv
import io
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polysome.config.csv_text import read_csv
from polysome.config.items import Item, Rejected
from polysome.config.json_text import read_json_line
from polysome.config.toml_text import read_toml
from polysome.syntax.diagnostics import Report
from polysome.syntax.spans import Source

TOML = (Path(__file__).parent / "places.toml").read_text(encoding="utf-8")


def plain(item: Item) -> Any:
    """The item without places."""
    if isinstance(item.value, dict):
        return {name: plain(member) for name, member in item.value.items()}
    return [plain(member) for member in item.value] if isinstance(item.value, list) else item.value


def check_toml(item: Item, text: str) -> None:
    """Every value and name stands where its span says."""
    raw = text[item.span.start : item.span.end]
    if isinstance(item.value, dict):
        for name, member in item.value.items():
            assert member.name is not None
            assert next(iter(tomllib.loads(text[member.name.start : member.name.end] + "=0"))) == name
            check_toml(member, text)
    elif isinstance(item.value, list):
        for member in item.value:
            check_toml(member, text)
        if not raw.startswith("["):
            return  # an array of `[[tables]]` stands where its name does
    else:
        assert tomllib.loads("x = " + raw)["x"] == item.value
        return
    if raw.startswith("{") or (raw.startswith("[") and isinstance(item.value, list) and not raw.startswith("[[")):
        assert tomllib.loads("x = " + raw)["x"] == plain(item)


def toml(text: str) -> Item:
    return read_toml(Source("x.toml", text), Report())


def test_toml_places() -> None:
    item = toml(TOML)
    assert plain(item) == tomllib.loads(TOML)
    for name, member in item.value.items():
        assert member.name is not None and member.span.start >= 0, name
    check_toml(item, TOML)


def test_a_table_stands_where_its_header_does() -> None:
    item = toml(TOML)

    def at(item: Item) -> str:
        return TOML[item.span.start : item.span.end]

    rows = item.value["rows"].value
    assert at(item.value["table"]) == "[table]" and at(item.value["table"].value["below"]) == "[table.below]"
    assert [at(row) for row in rows] == ["[[rows]]", "[[rows]]"]
    assert [at(row) for row in rows[1].value["more"].value] == ["[[rows.more]]", "[[rows.more]]"]
    assert at(rows[1].value["inner"].value["deep"]) == '"y"'


KEYS = st.one_of(st.from_regex(r"[A-Za-z0-9_-]{1,4}", fullmatch=True), st.text("ab.#]\"'\\ =é", max_size=4))
SCALARS = st.one_of(
    st.integers(-(10**6), 10**6), st.booleans(), st.floats(allow_nan=False), st.text("ab#,]}\"\\\n'={[é", max_size=6)
)
DOCUMENTS = st.dictionaries(
    KEYS,
    st.recursive(
        SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=8
    ),
    max_size=4,
)
GAPS = st.sampled_from(["", " ", "\t "])
BREAKS = st.sampled_from(["", " ", "\n", " # c ] } , \" '\n", "\n\n  "])


def written(value: Any, draw: Any) -> str:
    """TOML for a value, in one of the many ways to write it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        pairs = (f"{draw(GAPS)}{key(k, draw)}{draw(GAPS)}={draw(GAPS)}{written(v, draw)}" for k, v in value.items())
        return f"{{{','.join(pairs)}{draw(GAPS)}}}"
    if isinstance(value, list):
        parts = [draw(BREAKS) + written(v, draw) + draw(BREAKS) for v in value]
        end = draw(st.sampled_from([",", ""])) if parts else ""
        return f"[{','.join(parts)}{end}{draw(BREAKS)}]"
    if isinstance(value, str):
        return text(value, draw)
    return str(value)


def text(value: str, draw: Any) -> str:
    ways = [json.dumps(value)]
    if not set(value) & {"'", "\n"}:
        ways.append(f"'{value}'")
    if "'" not in value:
        ways.append(f"'''\n{value}'''")
    if not value.endswith('"'):
        ways.append('"""\n' + value.replace("\\", "\\\\").replace('"""', '""\\"') + '"""')
    return str(draw(st.sampled_from(ways)))


def key(name: str, draw: Any) -> str:
    bare = name.isascii() and name != "" and all(c.isalnum() or c in "_-" for c in name)
    return name if bare and draw(st.booleans()) else json.dumps(name)


@given(st.data(), DOCUMENTS)
def test_toml_places_agree_with_tomllib(data: st.DataObject, document: dict[str, Any]) -> None:
    lines = []
    tables = []
    for name, value in document.items():
        header = data.draw(st.booleans())
        if isinstance(value, dict) and header:
            tables.append(f"[{key(name, data.draw)}]")
            tables += [f"{key(k, data.draw)} = {written(v, data.draw)}" for k, v in value.items()]
        elif isinstance(value, list) and value and all(isinstance(v, dict) for v in value) and header:
            for row in value:
                tables.append(f"[[ {key(name, data.draw)} ]] # c")
                tables += [f"{key(k, data.draw)} = {written(v, data.draw)}" for k, v in row.items()]
        else:
            lines.append(f"{key(name, data.draw)} = {written(value, data.draw)}")
    source = "\n".join([*lines, *tables])
    item = toml(source)
    assert plain(item) == document == tomllib.loads(source)
    check_toml(item, source)


def test_toml_errors_never_escape() -> None:
    for bad in ("[" * 100_000, "x = " + "9" * 5000, "x = [\n", "= 1", "x = 1\nx = 2", "a = 10.0.0.1 # 1.2.3.4", "\0"):
        report = Report()
        with pytest.raises(Rejected):
            read_toml(Source("x.toml", bad), report)
        assert [d.code for d in report.errors] == ["E1001"]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


def check_json(item: Item, text: str) -> None:
    assert json.loads(text[item.span.start : item.span.end]) == plain(item)
    if isinstance(item.value, dict):
        for name, member in item.value.items():
            assert member.name is not None and json.loads(text[member.name.start : member.name.end]) == name
            check_json(member, text)
    elif isinstance(item.value, list):
        for member in item.value:
            check_json(member, text)


@given(VALUES, st.booleans(), st.sampled_from([(",", ":"), (", ", " : ")]))
def test_json_places(value: Any, ascii: bool, separators: tuple[str, str]) -> None:
    line = json.dumps(value, ensure_ascii=ascii, separators=separators)
    text = f"first\n  {line}\nlast"
    item = read_json_line(Source("x.jsonl", text), 6, 8 + len(line), Report())
    assert plain(item) == value
    check_json(item, text)


CELLS = st.text('ab ,"#\nö', max_size=4).map(str.strip)


@given(st.lists(st.lists(CELLS, min_size=3, max_size=3), max_size=4))
def test_csv_agrees_with_the_csv_module(rows: list[list[str]]) -> None:
    file = io.StringIO()
    csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC).writerows([["a", "b", "c"], *rows])
    text = file.getvalue()
    item = read_csv(Source("x.csv", text), Report())
    assert [list(row.value) for row in item.value] == [["a", "b", "c"]] * len(rows)
    assert [list(plain(row).values()) for row in item.value] == rows
    for row in item.value:
        for cell in row.value.values():
            assert text[cell.span.start : cell.span.end] == '"' + cell.value.replace('"', '""') + '"'


def test_csv_comments_blanks_and_nested_columns() -> None:
    text = '# who\n\na, b.x ,b.y\n  # what\n 1 ,2,"3"\n\n,5 6,\n7,8,9'
    item = read_csv(Source("x.csv", text), Report())
    assert [plain(row) for row in item.value] == [
        {"a": "1", "b": {"x": "2", "y": "3"}},
        {"a": "", "b": {"x": "5 6", "y": ""}},
        {"a": "7", "b": {"x": "8", "y": "9"}},
    ]
    empty, inner = item.value[1].value["a"], item.value[1].value["b"].value["x"]
    assert empty.empty and empty.span.start == empty.span.end == text.index(",5 6")
    assert text[inner.span.start : inner.span.end] == "5 6" and text[inner.name.start : inner.name.end] == "b.x"
