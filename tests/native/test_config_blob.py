"""The binary form of configurations, against a decoder of its own that follows runtime/nf/reader.hpp."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.testing.traffic.kit import ODD, written

from polysome.backends.nf_cpp.canonical import decode
from polysome.backends.nf_cpp.config_blob import encode
from polysome.config.load import load_config
from polysome.ir import types as t
from polysome.kinds.hashing import encoder
from polysome.kinds.state.acl import AclRow, Range
from polysome.kinds.values import Prefix
from polysome.syntax.diagnostics import Report
from polysome.testing import traffic
from polysome.testing.spec import Spec, load

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
EVERY = """
use net.l4;
struct Way { via: port, weight: u16, more: list<u8>, to: (bool, bit<65>) }
enum Colour { red = 3, green = 256 }
nf every {
  port a, b;
  config rate: bitrate = 1Mbps;
  config colour: Colour = Colour.red;
  config yes: bool = true;
  config way: Way;
  config odd: bit<24> = 7;
  config subnet: prefix;
  config list: list<(port, mac)>;
  config names: set<u16>;
  config ports: set<port>;
  config map: map<ipv4, ipv6>;
  config routes: lpm<ipv4, port>;
  config rules: acl<(ipv4, u16), bool>;
  config spread: maglev<ipv4> { size 251; }
  on packet from a { send b; }
}
"""
WAY = (1, 500, (7, 8), (True, 1 << 64))
NET = Prefix(32, 0x0A000000, 8)
BY_HAND: list[tuple[str, Any, str]] = [
    ("rate", 10**6, "0000 00000000000f4240"),
    ("colour", 256, "0001 0100"),
    ("yes", True, "0002 01"),
    ("way", WAY, "0003 0001 01f4 00000002 07 08 01 00000000000000010000000000000000"),
    ("odd", 0x123456, "0004 00123456"),
    ("subnet", NET, "0005 20 08 0000000000000000000000000a000000"),
    ("list", ((1, 0x02), (0, 0x03)), "0006 00000002 0001 0000000000000002 0000 0000000000000003"),
    ("names", frozenset({9, 300, 2}), "0007 00000003 0002 0009 012c"),
    ("ports", frozenset({1}), "0008 00000001 0001"),
    ("map", {0x0A000001: 5}, "0009 00000001 0a000001 00000000000000000000000000000005"),
    ("routes", ((NET, 1),), "000a 00000001 20 08 0000000000000000000000000a000000 0001"),
    (
        "rules",
        (AclRow((NET, Range(1, 65535)), True, -2), AclRow((None, 53), False, 1 << 31)),
        "000b 00000002"
        " 03 20 08 0000000000000000000000000a000000"
        " 02 00000000000000000000000000000001 0000000000000000000000000000ffff fffffffffffffffe 01"
        " 00 01 00000000000000000000000000000035 0000000080000000 00",
    ),
    ("spread", ((0x0A000001, 3),), "000c 00000001 0a000001 0000000000000003"),
]


class Decoder:
    """Bytes to values."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def items(self, config: Any) -> dict[str, Any]:
        found, names = {}, list(config)
        while self.at < len(self.data):
            name = names[self.number(2)]
            found[name] = self.item(config[name].type)
        return found

    def number(self, size: int, signed: bool = False) -> int:
        piece = self.data[self.at : self.at + size]
        assert len(piece) == size
        self.at += size
        return int.from_bytes(piece, "big", signed=signed)

    def item(self, type: t.Type) -> Any:
        match type:
            case t.Struct(_, fields):
                return tuple(self.item(member) for _, member in fields)
            case t.Tuple(items):
                return tuple(map(self.item, items))
            case t.Prefix():
                bits, length = self.number(1), self.number(1)
                return Prefix(bits, self.number(16), length)
            case t.ListOf(item):
                return tuple(self.item(item) for _ in range(self.number(4)))
            case t.SetOf(item):
                return frozenset(self.item(item) for _ in range(self.number(4)))
            case t.Table("map", key, value):
                return {self.item(key): self.item(value) for _ in range(self.number(4))}
            case t.Table("lpm", _, value):
                return tuple((self.item(t.PREFIX), self.item(value)) for _ in range(self.number(4)))
            case t.Table("maglev", _, value):
                return tuple((self.item(value), self.number(8)) for _ in range(self.number(4)))
            case t.Table(_, key, value):
                parts = key.items if isinstance(key, t.Tuple) else key.fields if isinstance(key, t.Struct) else (key,)
                return tuple(self.rule(len(parts), value) for _ in range(self.number(4)))
            case t.Bool():
                return bool(self.number(1))
            case t.Port():
                return self.number(2)
        bits = t.width(type)
        assert bits is not None
        return self.number(1 << max(0, (bits - 1).bit_length() - 3))

    def rule(self, components: int, value: t.Type) -> AclRow:
        matchers = tuple(self.matcher() for _ in range(components))
        priority = self.number(8, signed=True)
        return AclRow(matchers, self.item(value), priority)

    def matcher(self) -> Any:
        match self.number(1):
            case 0:
                return None
            case 1:
                return self.number(16)
            case 2:
                return Range(self.number(16), self.number(16))
            case _:
                return self.item(t.PREFIX)


@pytest.fixture(scope="module")
def every(tmp_path_factory: pytest.TempPathFactory) -> Spec:
    return written(tmp_path_factory.mktemp("every"), EVERY)


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Spec:
    return written(tmp_path_factory.mktemp("odd"), ODD)


@pytest.mark.parametrize(("name", "value", "expected"), BY_HAND, ids=[name for name, _, _ in BY_HAND])
def test_every_kind_of_item(every: Spec, name: str, value: Any, expected: str) -> None:
    assert encode(every.program, {name: value}).hex() == expected.replace(" ", "")


def test_items_follow_one_another(every: Spec) -> None:
    values = {name: value for name, value, _ in BY_HAND}
    assert list(values) == list(every.program.config)
    assert encode(every.program, values) == b"".join(encode(every.program, {n: v}) for n, v in values.items())
    assert encode(every.program, {}) == b""


def test_what_does_not_fit_is_refused(every: Spec) -> None:
    with pytest.raises(KeyError):
        encode(every.program, {"nothing": 1})
    with pytest.raises(OverflowError):
        encode(every.program, {"rate": 1 << 64})


@given(st.data())
@settings(max_examples=60)
def test_generated_configs_come_back(odd: Spec, data: st.DataObject) -> None:
    values = data.draw(traffic.configs(odd))
    assert Decoder(encode(odd.program, values)).items(odd.program.config) == values


@pytest.mark.parametrize("name", ["acl", "load_balancer", "nat", "policer", "router6"])
def test_configs_of_the_examples_come_back(name: str) -> None:
    folder = EXAMPLES / name
    program = load(folder / f"{name}.nf").program
    tables = [f"{path.stem}={path}" for path in folder.glob("*.csv") if path.stem in program.config]
    files = [*map(str, folder.glob("config*.toml")), *tables]
    values = load_config(program, files, Report(dict(program.sources)))
    assert values and Decoder(encode(program, values)).items(program.config) == values


# ---------------------------------------------------------------- canonical bytes

SAMPLES: list[tuple[t.Type, Any]] = [
    (t.Bits(3), 5),
    (t.BOOL, True),
    (t.PORT, 259),
    (t.IPV6, 1 << 127),
    (t.Enum("E", (("a", 0), ("b", 300)), None), 300),
    (t.Tuple(()), ()),
    (t.Struct("S", (("a", t.BOOL), ("b", t.Tuple((t.U8, t.MAC))))), (False, (1, 1 << 47))),
    (t.Ref("table", t.Struct("R", (("net", t.PREFIX), ("port", t.PORT)))), (Prefix(128, 1 << 127, 1), 2)),
    (t.FromPool("pool", t.U16), 65535),
    (t.Tuple((t.U8, t.BYTE_STRING)), (1, b"rest")),
]


@pytest.mark.parametrize(("type", "value"), SAMPLES, ids=[str(type) for type, _ in SAMPLES])
def test_canonical_bytes_come_back(type: t.Type, value: Any) -> None:
    inner = type.row if isinstance(type, t.Ref) else type.item if isinstance(type, t.FromPool) else type
    data = encoder(inner)(value)
    assert decode(type, data) == value
    assert encoder(inner)(decode(type, data)) == data


@pytest.mark.parametrize("data", ["", "00", "000000", "0200"])
def test_bytes_of_no_value_are_refused(data: str) -> None:
    with pytest.raises(ValueError, match="canonical"):
        decode(t.Tuple((t.BOOL, t.U8)), bytes.fromhex(data))


def test_the_bytes_of_a_boolean_tell_its_type() -> None:
    assert decode(t.BOOL, b"\1") is True
