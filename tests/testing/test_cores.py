"""Several cores in the interpreter: what happens where and when, and that it is what one core does."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.analysis.specs import EXAMPLES
from tests.testing.builtin.networks import captured, example

from polysome.analysis.sharding import shard_key, sharding
from polysome.config.tables import Tables
from polysome.engines import ENGINES
from polysome.engines.events import Emitted, Event, Left
from polysome.engines.interp.teller import Recorder, Teller
from polysome.engines.options import RunOptions
from polysome.engines.record import Record
from polysome.engines.trace import Arrival, Change, Trace
from polysome.interp import sharded
from polysome.interp.code import code_of
from polysome.interp.sharded import ShardedMachine
from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.ir.walk import walk
from polysome.kinds.hashing import encoder, key_of_seed, siphash
from polysome.testing.builtin.shards import Shards
from polysome.testing.campaign import run as campaign
from polysome.testing.execution import execute
from polysome.testing.plan import Plan
from polysome.testing.spec import Spec, load

SECOND = 10**9
CLOCK = """use net.l4;
nf clock {
  port a, b;
  config ttl: u64 = 1;
  relevant ethernet.src else drop "runt";
  state { n: u64 per core; }
  schedule { class ethernet.src; fifo; }
  on packet from a { n += 1; if ttl == 2 { drop "changed"; } send b; }
  every 1s { emit ethernet { src: 02:00:00:00:00:01, dst: (n as bit<48>) as mac } to a; n = 0; }
}
"""


def spec(folder: Path, text: str) -> Spec:
    path = folder / "small.nf"
    path.write_text(text, encoding="utf-8")
    return load(path)


def frame(source: int) -> bytes:
    return bytes(6) + source.to_bytes(6, "big") + b"\x08\x00" + bytes(46)


def run(spec: Spec, trace: Trace, cores: int) -> Record:
    return ENGINES["interp"].run(spec.program, trace, RunOptions(cores=cores))


def spread(
    program: ir.Program, config: Mapping[str, Any], cores: int, told: list[Event] | None = None
) -> ShardedMachine:
    events: list[Event] = [] if told is None else told
    generated = code_of(program)
    return ShardedMachine(program, lambda n: Teller(program, Tables(program, config), events, generated, n), cores)


def test_timers_run_on_every_core_from_the_first_packet_on(tmp_path: Path) -> None:
    """Each core emits what it counted itself; cores in their order."""
    program = spec(tmp_path, CLOCK).program
    told: list[Event] = []
    machine = spread(program, {"ttl": 1}, 3, told)
    assert len(machine.cores) == 3
    packets = [frame(n) for n in range(30)]
    chosen = [machine.core_of(0, p) for p in packets]
    assert set(chosen) == {0, 1, 2}
    for n, p in enumerate(packets):
        machine.arrive(0, 5 * SECOND + n, p)
    machine.arrive(0, 6 * SECOND, frame(99))
    machine.finish()
    made = [event for event in told if isinstance(event, Emitted)]
    assert [event.time for event in made] == 3 * [6 * SECOND]
    assert [int.from_bytes(event.data[:6], "big") for event in made] == [chosen.count(core) for core in range(3)]
    assert [event.packet for event in told if isinstance(event, Left)] == list(range(31))


def test_config_changes_on_every_core(tmp_path: Path) -> None:
    small = spec(tmp_path, CLOCK)
    arrivals = tuple(Arrival(0, n * SECOND // 20, frame(n)) for n in range(20))
    trace = Trace({"ttl": 1}, arrivals, (Change(SECOND // 2, {"ttl": 2}),))
    record = run(small, trace, 4)
    assert [f.dropped for f in record.fates] == [n >= 10 for n in range(20)]
    assert record.history is None and record.crash is None


def test_the_core_is_the_hash_of_the_key(tmp_path: Path) -> None:
    text = 'use net.l4; nf by_source { port a, b; relevant ethernet.src else drop "runt"; state { m: '
    text += (
        "map<mac, u64> { capacity 8; idle 1s; when full drop; } } on packet from a { m[ethernet.src] += 1; send b; } }"
    )
    program = spec(tmp_path, text).program
    key = shard_key(program, 0)
    assert key is not None and shard_key(program, 1) is None
    machine = spread(program, {}, 5)
    seed = key_of_seed(program.params["seed"][1])
    for source in range(40):
        hashed = siphash(seed, encoder(key.type)((source,)))
        assert hashed == siphash(seed, source.to_bytes(6, "big"))
        assert machine.core_of(0, frame(source)) == hashed % 5
    assert machine.core_of(0, b"short") == machine.core_of(0, frame(0))
    assert machine.core_of(1, frame(3)) == 0


def test_what_cannot_be_spread_runs_on_one_core(tmp_path: Path) -> None:
    program = spec(tmp_path, CLOCK.replace("u64 per core", "u64")).program
    assert len(spread(program, {"ttl": 1}, 4).cores) == 1


def test_an_error_on_one_core_is_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small = spec(tmp_path, CLOCK)

    def broken(self: Recorder, port: int, data: bytes) -> None:
        raise KeyError("lost")

    monkeypatch.setattr(Recorder, "_packet", broken)
    record = run(small, Trace({"ttl": 1}, (Arrival(0, 0, frame(1)),)), 2)
    assert record.crash == "KeyError: 'lost'" and record.fates == ()


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_keys_are_functions_of_any_packet(path: Path) -> None:
    """No state, no locals, no config; and every frame has a core, whatever its headers."""
    whole = example(path.stem)
    config = captured(whole).config
    machine = spread(whole.program, config, 3)
    rng = random.Random(1)
    for port in range(len(whole.program.ports)):
        key = shard_key(whole.program, port)
        assert key is None or not any(isinstance(n, (ir.Local, ir.Config, ir.StateRead, ir.Now)) for n in walk(key))
        for arrival in captured(whole).arrivals[:40]:
            for size in (0, 13, 14, 33, 40, len(arrival.data)):
                assert 0 <= machine.core_of(port, arrival.data[:size]) < 3
        assert 0 <= machine.core_of(port, rng.randbytes(100)) < 3


@pytest.mark.parametrize("name", ["load_balancer", "forwarder", "firewall"])
def test_the_work_is_spread(name: str) -> None:
    whole = example(name)
    trace = captured(whole)
    machine = spread(whole.program, trace.config, 2)
    assert {machine.core_of(a.port, a.data) for a in trace.arrivals} == {0, 1}


MIXED = """use net.l4;
nf mixed {{
  port a, b;
  relevant flow, ethernet.{{src, dst}}, tcp.syn when tcp else drop "runt";
  state {{
    m: map<Flow, u64> {{ capacity 64; idle 2s; when full drop; }}
    h: map<ipv6, u64> {{ capacity 64; forever; when full drop; }}
    s: set<(ipv6, u16)> {{ capacity 64; age 1s; when full evict oldest; }}
    c: array<u64>[256];
  }}
  on end m(k, v, why) {{ {end} }}
  on packet from a {{ {one} send b; }}
  on packet from b {{ {other} send a; }}
}}
"""
NOTHING = "let unused = v;"
SPECS = {
    "by direction": (
        NOTHING,
        "m[flow] += 1;",
        'let n = m[flow.reversed] else drop "no"; ethernet.src = n as bit<48> as mac;',
    ),
    "by condition": (NOTHING, "if tcp { m[flow] += 1; } else { m[flow.reversed] += 2; }", "m[flow.canonical] += 1;"),
    "by source": (
        "h[k.src] += 1;",
        "m[flow] += 1;",
        'let n = h[flow.dst] else drop "no"; s.add((flow.dst, flow.sport));',
    ),
    "by array": (NOTHING, "c[flow.protocol as u64] += 1;", 'require c[flow.protocol as u64] < 3 else drop "many";'),
    "by a written field": (
        NOTHING,
        "ethernet.src = ethernet.dst; if ethernet.src == 02:00:00:00:00:01 { m[flow] += 1; } else { m[flow] += 3; }",
        'require flow in m else drop "no";',
    ),
}


@pytest.mark.parametrize("name", SPECS)
def test_several_cores_do_what_one_does(name: str, tmp_path: Path) -> None:
    end, one, other = SPECS[name]
    small = spec(tmp_path, MIXED.format(end=end, one=one, other=other))
    assert sharding(small.program).spreads
    outcome = campaign(small, Plan(seed=1, seconds=60, traces=25, only=("shards",))).outcomes["shards"]
    assert outcome.holds and outcome.cases > 25


def test_a_key_that_is_too_fine_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The property `shards` notices when packets that share entries are on different cores."""
    whole = example("conn_limiter")
    fine = execute(whole, captured(whole), ENGINES["interp"])
    assert Shards().judge(fine).failure is None

    def finer(program: ir.Program, port: int) -> ir.Expr | None:
        """The flow, whatever direction a packet has."""
        flow = ir.PacketValue(program.span, program.parser.values["flow"].value.type, "flow", False)
        return ir.Make(program.span, t.Tuple((flow.type,)), (flow,))

    monkeypatch.setattr(sharded, "shard_key", finer)
    assert Shards().judge(execute(whole, captured(whole), ENGINES["interp"])).failure is not None
