"""What config values are written as gives the same values when it is read."""

from __future__ import annotations

import dataclasses
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.semantics.rules.harness import program

from polysome.config.events import load_events
from polysome.config.load import load_config
from polysome.engines.trace import Change
from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.kinds.state.acl import AclRow, Range
from polysome.kinds.values import Prefix
from polysome.syntax.diagnostics import Report
from polysome.testing.counterexample.config_text import config_text, events_text

NF = program("use net.l4; nf n { port left, right; config x: u8 = 0; on packet { send left; } }")
KIND = t.Enum("Kind", (("first", 0), ("second", 1), ("last", 9)), 8)
NAMES = st.sampled_from(["a", "b", "value", "key", "prefix", "weight", "match", "priority"])
SCALARS = (
    [t.Bits(width) for width in (1, 8, 13, 64, 128)]
    + [t.BOOL, t.IPV4, t.IPV6, t.MAC, t.TIME, t.DURATION, t.BYTES, t.BITRATE, t.PACKETRATE, t.PORT, t.PREFIX, KIND]
)  # fmt: skip


def structs(inner: st.SearchStrategy[t.Type]) -> st.SearchStrategy[t.Type]:
    fields = st.lists(st.tuples(NAMES, inner), min_size=1, max_size=3, unique_by=lambda f: f[0])
    return fields.map(lambda found: t.Struct("S", tuple(found)))


@cache
def keys() -> st.SearchStrategy[t.Type]:
    """Scalars, structs and tuples of them."""
    scalars = st.sampled_from(SCALARS)
    pairs = st.lists(scalars, min_size=2, max_size=3).map(lambda items: t.Tuple(tuple(items)))
    return st.one_of(scalars, structs(scalars), pairs)


@cache
def nested() -> st.SearchStrategy[t.Type]:
    return st.recursive(
        st.sampled_from(SCALARS),
        lambda inner: st.one_of(
            structs(inner),
            st.lists(inner, min_size=2, max_size=3).map(lambda items: t.Tuple(tuple(items))),
            inner.map(t.ListOf),
            inner.map(t.SetOf),
        ),
        max_leaves=5,
    )


@cache
def tables() -> st.SearchStrategy[t.Type]:
    return st.one_of(
        st.builds(t.Table, st.just("map"), keys(), nested()),
        st.builds(t.Table, st.just("lpm"), st.sampled_from([t.IPV4, t.IPV6, t.PREFIX]), nested()),
        st.builds(t.Table, st.just("acl"), keys(), nested()),
        st.builds(t.Table, st.just("maglev"), st.just(t.U64), keys()),
    )


@cache
def prefixes(bits: int | None = None) -> st.SearchStrategy[Prefix]:
    def cut(width: int, value: int, length: int) -> Prefix:
        shift = width - min(length, width)
        return Prefix(width, (value % (1 << width)) >> shift << shift, width - shift)

    widths = st.sampled_from([32, 128]) if bits is None else st.just(bits)
    return st.builds(cut, widths, st.integers(0, 2**128 - 1), st.integers(0, 128))


@cache
def values(type: t.Type) -> st.SearchStrategy[Any]:
    match type:
        case t.Bool():
            return st.booleans()
        case t.Port():
            return st.integers(0, 1)
        case t.Enum(_, members):
            return st.sampled_from([number for _, number in members])
        case t.Prefix():
            return prefixes()
        case t.Struct(_, fields):
            return st.tuples(*(values(f) for _, f in fields))
        case t.Tuple(items):
            return st.tuples(*map(values, items))
        case t.ListOf(item):
            return st.lists(values(item), max_size=3).map(tuple)
        case t.SetOf(item):
            return st.frozensets(values(item), max_size=3)
        case t.Table("map", key, value):
            return st.dictionaries(values(key), values(value), max_size=3)
        case t.Table("lpm", key, value):
            found = prefixes(t.width(key))
            return st.lists(st.tuples(found, values(value)), max_size=3, unique_by=lambda row: row[0]).map(tuple)
        case t.Table("acl", key, value):
            return st.lists(rules(key, value), max_size=3).map(tuple)
        case t.Table("maglev", _, value):
            return st.lists(st.tuples(values(value), st.integers(0, 9)), max_size=3).map(tuple)
        case _:
            width = t.width(type)
            assert width is not None
            return st.one_of(st.integers(0, min(2**width - 1, 1000)), st.integers(0, 2**width - 1))


@cache
def rules(key: t.Type, value: t.Type) -> st.SearchStrategy[AclRow]:
    types = tuple(f for _, f in key.fields) if isinstance(key, t.Struct) else ()
    types = types or (key.items if isinstance(key, t.Tuple) else (key,))
    priorities = st.sampled_from([0, 1, 2**32 - 1])
    return st.builds(AclRow, st.tuples(*map(matchers, types)), values(value), priorities)


@cache
def matchers(type: t.Type) -> st.SearchStrategy[Any]:
    found = [st.none(), values(type)]
    if isinstance(type, (t.Bits, t.Address, t.Quantity)):
        found.append(st.tuples(values(type), values(type)).map(lambda ends: Range(*sorted(ends))))
    if type in (t.IPV4, t.IPV6):
        found.append(prefixes(t.width(type)))
    return st.one_of(found)


@st.composite
def items(draw: st.DrawFn) -> tuple[ir.Program, dict[str, Any]]:
    """An NF with two config items, and values for them."""
    types = {name: draw(st.one_of(nested(), tables())) for name in ("x", "block.y")}
    config = {name: ir.ConfigDecl(name, type, None, NF.span) for name, type in types.items()}
    return dataclasses.replace(NF, config=config), {name: draw(values(type)) for name, type in types.items()}


@settings(max_examples=60)
@given(items())
def test_toml_gives_the_same_values(item: tuple[ir.Program, dict[str, Any]]) -> None:
    nf, given_values = item
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "c.toml"
        path.write_text(config_text(nf, given_values), encoding="utf-8")
        assert load_config(nf, [str(path)], Report()) == given_values


@settings(max_examples=15)
@given(items(), st.integers(0, 2**63))
def test_events_give_the_same_values(item: tuple[ir.Program, dict[str, Any]], time: int) -> None:
    nf, given_values = item
    changes = (Change(time, given_values), Change(time, {"x": given_values["x"]}))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "c.jsonl"
        path.write_text(events_text(nf, changes), encoding="utf-8")
        found = load_events(nf, str(path), Report())
    assert [(c.due(1), c.values) for c in found] == [(c.time, c.values) for c in changes]


def test_rows_stand_in_lines_of_their_own() -> None:
    backend = t.Struct("Backend", (("ip", t.IPV4), ("uplink", t.PORT)))
    types = {"backends": t.ListOf(backend), "routes": t.Table("lpm", t.IPV4, t.PORT), "limit.rate": t.BITRATE}
    nf = dataclasses.replace(NF, config={n: ir.ConfigDecl(n, type, None, NF.span) for n, type in types.items()})
    found = config_text(
        nf,
        {"backends": ((1, 1), (2, 0)), "routes": ((Prefix(32, 10 << 24, 8), 1),), "limit.rate": 10**6},
    )
    assert found == (
        "backends = [\n"
        '  { ip = "0.0.0.1", uplink = "right" },\n'
        '  { ip = "0.0.0.2", uplink = "left" },\n'
        "]\n"
        "routes = [\n"
        '  { prefix = "10.0.0.0/8", value = "right" },\n'
        "]\n"
        'limit.rate = "1Mbps"\n'
    )
