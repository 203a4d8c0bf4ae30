"""Whatever stands in a file, it is a value or an error with a place; never a crash."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from polysome.config.events import load_events
from polysome.config.load import load_config
from polysome.config.tables import Tables
from polysome.ir.program import Program
from polysome.syntax.diagnostics import Report, SpecError, render

from .helpers import nf

TYPES = [
    *("u8", "bool", "ipv6", "mac", "prefix", "port", "Kind", "time", "bytes", "Nested", "(u8, Pair)", "list<Backend>"),
    *("set<(u8, u8)>", "map<port, Nested>", "map<Pair, Keyed>", "map<(u8, u8), list<u8>>", "lpm<ipv4, Pair>"),
    *("acl<Ends, Kind>", "acl<(mac, ipv4), Keyed>", "acl<u8, u8>", "maglev<Pair>", "maglev<(u8, u8)>"),
]
TABLES = [type for type in TYPES if "<" in type]
NAMES = st.sampled_from(
    [
        *("key", "value", "prefix", "match", "priority", "weight", "low", "high", "ends", "at", "ip", "src", "dport"),
        *("", "0", "1", "2", "10.0.0.0/8", "left", "*"),
    ]
)
TEXTS = st.one_of(
    NAMES,
    st.sampled_from(
        ["10.0.0.1", "::1", "::ffff:1.2.3.4/128", "1-2", "2-1", "5s", "5 S", "0x_", "0x", "1e9", "second", "true"]
    ),
    st.sampled_from(["9" * 5000, "9" * 5000 + "ms", "1.s", "²", "٣", "10.0.0.1/٣", "fe80::1%eth0", "/", "-", "1/2/3"]),
    st.text(max_size=4),
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 300) | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)


def try_all(path: Path, program: Program, read: Any) -> None:
    try:
        values = read()
    except SpecError as error:
        assert error.diagnostics
        for d in error.diagnostics:
            assert d.span is not None and d.why and d.mend and render(d, error.sources)
            assert error.sources[d.span.file].position(d.span.start)[0] >= 1
        return
    tables = Tables(program, load_config(program, [], Report()) | values)
    tables.replace(values)
    for name in values:
        assert tables.current[name] is not None


@given(st.sampled_from(TYPES), VALUES)
def test_events(type: str, value: Any) -> None:
    if type in TABLES:
        program = nf(f"config x: {type};")
    else:  # a list, so that there is a default
        program, value = nf(f"config x: list<{type}>;"), [value]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "events.jsonl"
        path.write_text(json.dumps({"at": "1s", "set": {"x": value}}), encoding="utf-8")
        try_all(path, program, lambda: load_events(program, str(path), Report())[0].values)


@given(
    st.sampled_from(TABLES), st.lists(NAMES | st.sampled_from(["key.low", "key.0", "value.1"]), max_size=4), st.data()
)
def test_csv(type: str, header: list[str], data: st.DataObject) -> None:
    program = nf(f"config x: {type};")
    row = st.lists(TEXTS, min_size=len(header), max_size=len(header))
    file = io.StringIO()
    csv.writer(file).writerows([header, *data.draw(st.lists(row, max_size=3))])
    with TemporaryDirectory() as folder:
        path = Path(folder) / "x.csv"
        path.write_text(file.getvalue(), encoding="utf-8", newline="")
        try_all(path, program, lambda: load_config(program, [f"x={path}"], Report()))
