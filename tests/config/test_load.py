"""L8.1: configuration files to values."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from polysome.config.items import ConfigFileError
from polysome.config.load import load_config
from polysome.config.shapes import item_sample
from polysome.ir import types as t
from polysome.kinds.state.acl import AclRow, Range
from polysome.kinds.values import Prefix
from polysome.syntax.diagnostics import Report, SpecError

from .helpers import load, load_csv, nf, said

TEN = Prefix(32, 10 << 24, 8)
DOC = Prefix(128, 0x20010DB8 << 96, 32)


@pytest.mark.parametrize(
    ("type", "toml", "value"),
    [
        ("u8", "255", 255),
        ("bit<128>", str(2**128 - 1), 2**128 - 1),
        ("u16", '"0x5dc"', 1500),
        ("u16", '"0b11"', 3),
        ("u32", '"1_000"', 1000),
        ("u32", '"007"', 7),
        ("u32", '"64K"', 64_000),
        ("u32", '"1.5Ki"', 1536),
        ("bool", "true", True),
        ("ipv4", '"10.0.0.1"', 0x0A000001),
        ("ipv6", '"2001:db8::1"', 0x20010DB8 << 96 | 1),
        ("ipv6", '"::ffff:10.0.0.1"', 0xFFFF0A000001),
        ("mac", '"02:00:00:00:0B:0a"', 0x020000000B0A),
        ("prefix", '"10.0.0.0/8"', TEN),
        ("prefix", '"2001:db8::/32"', DOC),
        ("port", '"right"', 1),
        ("Kind", '"second"', 1),
        ("Coded", '"b"', 8),
        ("duration", '"1.5ms"', 1_500_000),
        ("bytes", '"64KiB"', 65536),
        ("bitrate", '"10Mbps"', 10**7),
        ("packetrate", '"3Kpps"', 3000),
        ("time", "5", 5),
        ("time", "1970-01-01T01:00:01.5+01:00", 1_500_000_000),
        ("time", '"1970-01-01T00:00:01Z"', 10**9),
        ("Backend", '{ uplink = "left", ip = "10.0.0.1", mac = "00:00:00:00:00:01" }', (0x0A000001, 1, 0)),
        ("Nested", '{ ends = { low = 1, high = 2 }, at = "left" }', ((1, 2), 0)),
        ("Nested", '{ ends.low = 1, ends.high = 2, at = "left" }', ((1, 2), 0)),
        ("(u8, bool)", "[1, false]", (1, False)),
        ("list<u8>", "[3, 1, 3]", (3, 1, 3)),
        ("list<(u8, u8)>", "[[1, 2], [3, 4]]", ((1, 2), (3, 4))),
        ("list<list<u8>>", "[[1], []]", ((1,), ())),
        ("set<ipv4>", '["0.0.0.1", "0.0.0.2"]', frozenset((1, 2))),
        ("map<u8, u8>", "[{ key = 1, value = 2 }]", {1: 2}),
        ("map<u8, u8>", "{ 1 = 2, '0x10' = 3 }", {1: 2, 16: 3}),
        ("map<port, Pair>", "{ left = { low = 1, high = 2 } }", {0: (1, 2)}),
        ("map<bool, u8>", "{ true = 1 }", {True: 1}),
        ("map<u8, Pair>", "[{ key = 1, low = 2, high = 3 }]", {1: (2, 3)}),
        ("map<u8, Pair>", "[{ key = 1, value = { low = 2, high = 3 } }]", {1: (2, 3)}),
        ("map<u8, Keyed>", "[{ key = 1, value = { key = 2, value = 3 } }]", {1: (2, 3)}),
        ("map<Pair, u8>", "[{ key = { low = 1, high = 2 }, value = 3 }]", {(1, 2): 3}),
        ("lpm<ipv4, u8>", '[{ prefix = "10.0.0.0/8", value = 1 }]', ((TEN, 1),)),
        ("lpm<ipv4, u8>", '[{ key = "10.0.0.0/8", value = 1 }]', ((TEN, 1),)),
        ("lpm<ipv6, Pair>", '[{ prefix = "2001:db8::/32", low = 1, high = 2 }]', ((DOC, (1, 2)),)),
        ("lpm<ipv4, u8>", '{ "10.0.0.0/8" = 1 }', ((TEN, 1),)),
        ("lpm<prefix, u8>", '{ "10.0.0.0/8" = 1, "2001:db8::/32" = 2 }', ((TEN, 1), (DOC, 2))),
        ("maglev<ipv4>", '["0.0.0.1", { value = "0.0.0.2", weight = 3 }]', ((1, 1), (2, 3))),
        (
            "maglev<Pair>",
            "[{ low = 1, high = 2, weight = 3 }, { value.low = 1, value.high = 2 }]",
            (((1, 2), 3), ((1, 2), 1)),
        ),
        ("maglev<(u8, u8)>", "[[1, 2], { value = [3, 4], weight = 0 }]", (((1, 2), 1), ((3, 4), 0))),
    ],
)
def test_L8_1_values(tmp_path: Path, type: str, toml: str, value: Any) -> None:
    assert load(tmp_path, f"config x: {type};", f"x = {toml}")["x"] == value


ANY4 = (None, None, None, None)
INNER: Any = (1, 2)  # a struct inside a key is matched whole


@pytest.mark.parametrize(
    ("type", "toml", "rows"),
    [
        ("Ends, u8", "{ value = 1 }", [AclRow(ANY4, 1)]),
        ("Ends, u8", '{ src = "*", dport = "*", value = 1, priority = 7 }', [AclRow(ANY4, 1, 7)]),
        ("Ends, u8", '{ src = "10.0.0.0/8", value = 1 }', [AclRow((TEN, None, None, None), 1)]),
        ("Ends, u8", '{ src = "0.0.0.9", dport = 80, value = 1 }', [AclRow((9, None, 80, None), 1)]),
        ("Ends, u8", '{ match = { kind = "third" }, value = 1 }', [AclRow((None, None, None, 2), 1)]),
        ("Ends, u8", '{ dport = "80-90", value = 1 }', [AclRow((None, None, Range(80, 90), None), 1)]),
        ("Ends, u8", '{ dport = [80, "8K"], value = 1 }', [AclRow((None, None, Range(80, 8000), None), 1)]),
        ("Ends, u8", '{ src = "0.0.0.1 - 0.0.0.5", value = 1 }', [AclRow((Range(1, 5), None, None, None), 1)]),
        ("Ends, u8", '{ dst = "::1-::5", value = 1 }', [AclRow((None, Range(1, 5), None, None), 1)]),
        ("Ends, Pair", "{ dport = 1, low = 2, high = 3 }", [AclRow((None, None, 1, None), (2, 3))]),
        ("Pair, Pair", "{ low = 1, value = { low = 2, high = 3 } }", [AclRow((1, None), (2, 3))]),
        ("(ipv4, u16), u8", '{ match = ["10.0.0.0/8", "1-2"], value = 1 }', [AclRow((TEN, Range(1, 2)), 1)]),
        ("(ipv4, u16), u8", "{ value = 1 }", [AclRow((None, None), 1)]),
        ("u16, u8", '{ match = "7-7", value = 1 }', [AclRow((Range(7, 7),), 1)]),
        ("u16, u8", '{ match = "1-2", value = 1 }', [AclRow((Range(1, 2),), 1)]),
        ("u16, u8", "{ match = [1, 2], value = 1 }", [AclRow((Range(1, 2),), 1)]),
        ("duration, u8", '{ match = "1s-2s", value = 1 }', [AclRow((Range(10**9, 2 * 10**9),), 1)]),
        ("Nested, u8", "{ ends = { low = 1, high = 2 }, value = 1 }", [AclRow((INNER, None), 1)]),
    ],
)
def test_L8_1_acl(tmp_path: Path, type: str, toml: str, rows: list[AclRow]) -> None:
    assert load(tmp_path, f"config x: acl<{type}>;", f"x = [{toml}]")["x"] == tuple(rows)


@pytest.mark.parametrize(
    ("type", "csv", "value"),
    [
        ("list<Backend>", "ip,mac,uplink\n0.0.0.1,00:00:00:00:00:02,right\n", ((1, 2, 1),)),
        ("list<ipv4>", "value\n0.0.0.2\n0.0.0.1\n", (2, 1)),
        ("list<bool>", "value\ntrue\nfalse\n", (True, False)),
        ("list<(u8, u8)>", "0,1\n3,4\n", ((3, 4),)),
        ("list<Nested>", "at,ends.high,ends.low\nleft,2,1\n", (((1, 2), 0),)),
        ("set<u8>", "value\n1\n0x10\n", frozenset((1, 16))),
        ("map<ipv4, Pair>", "# c\nkey,low,high\n0.0.0.1,2,3\n", {1: (2, 3)}),
        ("map<Pair, u8>", "key.low,key.high,value\n1,2,3\n", {(1, 2): 3}),
        ("map<(u8, u8), (u8, u8)>", "key.0,key.1,value.0,value.1\n1,2,3,4\n", {(1, 2): (3, 4)}),
        ("map<u8, duration>", "key,value\n1,30s\n", {1: 30 * 10**9}),
        ("lpm<ipv4, u8>", "prefix,value\n10.0.0.0/8,1\n", ((TEN, 1),)),
        ("lpm<ipv4, time>", "key,value\n10.0.0.0/8,17\n", ((TEN, 17),)),
        ("acl<Ends, u8>", "src,dport,value,priority\n10.0.0.0/8,,1,\n*,80-90,2,5\n",
         (AclRow((TEN, None, None, None), 1), AclRow((None, None, Range(80, 90), None), 2, 5))),
        ("acl<(u8, u8), u8>", "match.0,match.1,value\n,7,1\n", (AclRow((None, 7), 1),)),
        ("acl<u8, u8>", "match,value\n1-2,1\n,2\n", (AclRow((Range(1, 2),), 1), AclRow((None,), 2))),
        ("maglev<Pair>", "low,high,weight\n1,2,3\n1,2,\n", (((1, 2), 3), ((1, 2), 1))),
        ("maglev<ipv4>", "value\n0.0.0.1\n", ((1, 1),)),
        ("map<u8, u8>", "key,value\n", {}),
    ],
)  # fmt: skip
def test_L8_1_csv(tmp_path: Path, type: str, csv: str, value: Any) -> None:
    assert load_csv(tmp_path, f"config x: {type};", csv) == value


SAMPLED = [
    *("u8", "bit<1>", "bool", "ipv4", "ipv6", "mac", "prefix", "port", "Kind", "time", "duration", "bytes", "bitrate"),
    *("packetrate", "Nested", "(u8, Pair)", "list<Backend>", "list<u8>", "list<(u8, u8)>", "set<mac>"),
    *("map<port, Nested>", "map<Pair, Keyed>", "map<(u8, u8), u8>", "map<u8, list<u8>>", "lpm<ipv4, Pair>"),
    *("lpm<ipv6, u8>", "lpm<prefix, (u8, u8)>", "acl<Ends, Kind>", "acl<Pair, Pair>", "acl<(mac, ipv4), Keyed>"),
    *("acl<Keyed, u8>", "acl<u8, u8>", "maglev<Pair>", "maglev<ipv4>", "maglev<Keyed>", "maglev<(u8, u8)>"),
]


@pytest.mark.parametrize("type", SAMPLED)
def test_the_examples_in_messages_are_right(tmp_path: Path, type: str) -> None:
    config = f"config x: {type};"
    declared = nf(config).config["x"].type
    toml = load(tmp_path, config, item_sample("x", declared, ("left", "right"), "toml"))["x"]
    csv = item_sample("x", declared, ("left", "right"), "csv")
    if "` and below it `" in csv:
        assert load_csv(tmp_path, config, csv.replace("` and below it `", "\n")) == toml
    else:
        assert csv.startswith("x = ")


def test_L8_1_what_is_not_given(tmp_path: Path) -> None:
    config = "config a: list<u8>; config b: map<u8, u8>; config c: set<u8>; config d: duration = 30s;"
    empty: dict[str, Any] = {"a": (), "b": {}, "c": frozenset()}
    assert load_config(nf(config), [], Report()) == empty | {"d": 30 * 10**9}
    assert load_config(nf("config a: set<u8> = {1};"), [], Report()) == {"a": frozenset((1,))}
    with pytest.raises(SpecError) as caught:
        load_config(nf("config a: u8; config b: (u8, u8);"), [], Report())
    assert [code for code, _, _ in said(caught.value)] == ["E1005", "E1005"]


def test_one_file_for_one_table(tmp_path: Path) -> None:
    config = "config x: map<u8, Pair>; config y: list<u8>; config z: Pair = Pair { low: 0, high: 0 };"
    (tmp_path / "x.toml").write_text("1 = { low = 1, high = 2 }\n")
    (tmp_path / "y.toml").write_text("y = [1, 2]\n")
    (tmp_path / "z.toml").write_text("low = 3\nhigh = 4\n")
    files = [f"{name}={tmp_path / name}.toml" for name in "xyz"]
    assert load_config(nf(config), files, Report()) == {"x": {1: (1, 2)}, "y": (1, 2), "z": (3, 4)}


def test_the_spec_may_be_known_already(tmp_path: Path) -> None:
    report = Report()
    program = nf("config x: u8;")
    report.sources.update(program.sources)
    (tmp_path / "c.toml").write_text("x = 1")
    assert load_config(program, [str(tmp_path / "c.toml")], report) == {"x": 1}


def test_line_ends_and_byte_order_marks(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(b"\xef\xbb\xbfvalue\r\n1\r\n300\r\n")
    with pytest.raises(SpecError) as caught:
        load_config(nf("config x: list<u8>;"), [f"x={path}"], Report())
    assert said(caught.value) == [("E1011", 3, 1)]


def test_everything_wrong_is_said_at_once(tmp_path: Path) -> None:
    toml = 'x = [{ low = 300, high = true, more = 1 }, { low = "no" }]\nz = 1\n'
    with pytest.raises(SpecError) as caught:
        load(tmp_path, "config x: list<Pair>; config y: u8;", toml)
    assert said(caught.value)[1:] == [
        *[("E1011", 1, 14), ("E1006", 1, 26), ("E1007", 1, 32)],
        *[("E1008", 1, 44), ("E1009", 1, 52), ("E1003", 2, 1)],
    ]
    assert said(caught.value)[0][0] == "E1005"


def test_a_column_that_is_missing_is_said_once(tmp_path: Path) -> None:
    with pytest.raises(SpecError) as caught:
        load_csv(tmp_path, "config x: list<Pair>;", "low,hihg\n1,2\n3,4\n")
    assert said(caught.value) == [("E1007", 1, 5)]


@pytest.mark.parametrize(
    ("argument", "content", "message"),
    [
        ("c.toml", None, "c.toml: cannot be read: No such file or directory"),
        (".", None, ".: cannot be read: Is a directory"),
        ("c.toml", b"x = 1\ny = '\xff'\n", "c.toml: is not UTF-8: byte ff in line 2; save it as UTF-8"),
        ("c.csv", b"", "c.csv: a CSV file fills one table; say which, as in `rows=c.csv`"),
        ("x=c.csv", b"", "c.csv: `x` is no table: CSV cannot give it, but TOML can: `x = 1`"),
        ("row=c.csv", b"", "c.csv: there is no config `row`. Did you mean `rows`?"),
        ("rows=c.txt", b"", "c.txt: is neither a .toml nor a .csv file"),
        ("rows=c.toml", b"x = 1", "c.toml: given for `rows` alone, it must hold `rows = …` and nothing else"),
    ],
)
def test_files_that_cannot_be_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, argument: str, content: bytes | None, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    if content is not None:
        (tmp_path / argument.split("=")[-1]).write_bytes(content)
    with pytest.raises(ConfigFileError) as caught:
        load_config(nf("config x: u8; config rows: list<u8>;"), [argument], Report())
    assert str(caught.value) == message


def test_a_path_may_hold_an_equals_sign(tmp_path: Path) -> None:
    path = tmp_path / "a=b.toml"
    path.write_text("x = 1")
    assert load_config(nf("config x: u8;"), [str(path)], Report()) == {"x": 1}


def test_the_examples_load() -> None:
    examples = Path(__file__).parents[2] / "examples"
    for folder in sorted(path.parent for path in examples.glob("*/config.toml")):
        assert tomllib.loads((folder / "config.toml").read_text(encoding="utf-8"))
        program = check_example(folder)
        files = [f"{path.stem}={path}" for path in folder.glob("*.csv") if path.stem in program.config]
        values = load_config(program, [str(folder / "config.toml"), *files], Report())
        assert all(values[name] for name, decl in program.config.items() if isinstance(decl.type, t.Table))


def check_example(folder: Path) -> Any:
    from polysome.semantics.check import check

    return check(folder / f"{folder.name}.nf", Report())
