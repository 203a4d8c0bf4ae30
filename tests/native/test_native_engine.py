"""Generated C++ does what the interpreter does: the same fates, bytes, ports, times and order, packet by packet.

Over real captures: tests/semantics/test_corpus.py.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tests.testing.builtin.networks import (
    EXAMPLES,
    REWRITING,
    SCHEDULES,
    STORE,
    captured,
    example,
    rewriting_trace,
    schedule_trace,
    scheduled,
    store_trace,
)
from tests.testing.builtin.networks import spec as network
from tests.testing.traffic.kit import written

from polysome.backends.nf_cpp.build import build
from polysome.backends.nf_cpp.config_blob import encode
from polysome.backends.nf_cpp.generate import generate
from polysome.backends.nf_cpp.library import Failed, Kind, Running, load
from polysome.backends.nf_cpp.sizes import sizes
from polysome.engines import ENGINES
from polysome.engines.history import LENGTH
from polysome.engines.native import run as native
from polysome.engines.options import RunOptions, Unsupported
from polysome.engines.record import Record
from polysome.engines.trace import Change, Trace
from polysome.ir import program as ir
from polysome.kinds.hashing import encoder
from polysome.kinds.values import Prefix, plain
from polysome.testing import traffic
from polysome.testing.builtin.compare import same
from polysome.testing.builtin.time_jumps import jumps
from polysome.testing.campaign import properties
from polysome.testing.execution import execute
from polysome.testing.spec import Spec
from polysome.testing.spec import load as read_spec

INTERP, NATIVE = ENGINES["interp"], ENGINES["native"]
TRACES, MOST_TRACES = 6, 50  # for a spec with room for three entries, and as many with room for one
LARGE = 3  # with the room that is declared
NO_OPTIONS = RunOptions()

pytestmark = pytest.mark.skipif(NATIVE.missing() is not None, reason=str(NATIVE.missing()))


def compared(spec: Spec, trace: Trace, options: RunOptions = NO_OPTIONS) -> Record:
    """Both engines do the same with the trace; what the interpreter made of it."""
    expected = INTERP.run(spec.program, trace, options)
    assert expected.crash is None
    found = NATIVE.run(spec.program, trace, options)
    same(expected, found, "as C++")
    assert [made.cause for made in found.emitted] == [made.cause for made in expected.emitted]
    assert [made.place for made in found.emitted] == [made.place for made in expected.emitted]
    encode_class = encoder(_plain_type(spec.program))
    for one, other in zip(expected.fates, found.fates, strict=True):
        if one.order_class is None:
            assert other.order_class is None
        else:
            assert encode_class(plain(one.order_class)) == encode_class(other.order_class)
    return expected


def _plain_type(program: ir.Program) -> Any:
    type = program.schedule.cls.type
    return getattr(type, "row", type)


# ---------------------------------------------------------------- the examples


@pytest.mark.parametrize("name", EXAMPLES)
def test_on_the_captures_of_the_example(name: str) -> None:
    spec = example(name)
    trace = captured(spec)
    for one in (spec, spec.small(), spec.small(1)):
        compared(one, trace)


@pytest.mark.parametrize("name", EXAMPLES)
def test_on_generated_traffic(name: str) -> None:
    """Config is made up too, and changes; with little room, what is full and what runs out is met by some trace."""
    spec = example(name)
    met: set[tuple[str, str]] = set()
    wanted, few, one = _to_meet(spec.program), spec.small(), spec.small(1)
    gap = max(jumps(spec.program))  # longer than every timeout
    for number, pair in enumerate(zip(traffic.seeded(few, 1), traffic.seeded(one, 1), strict=True), 1):
        for small, trace in zip((few, one), pair, strict=True):
            met |= _met(compared(small, trace))
        met |= _met(compared(few, pair[0], RunOptions(jump=gap, seed=number)))
        if number >= TRACES and (wanted <= met or number == MOST_TRACES):
            break
    for trace in traffic.seeded(spec, 2, count=LARGE):
        compared(spec, trace)
    assert wanted <= met


def _met(record: Record) -> set[tuple[str, str]]:
    assert record.history is not None
    found = {(end.map, ("idle", "age", "evicted", "removed")[end.why]) for end in record.ends}
    for name, decl in record.program.state.items():
        if isinstance(decl, ir.MapDecl):
            lengths = {record.history.read(stamp, name, LENGTH, None) for stamp in range(2 * len(record.fates) + 2)}
            found |= {(name, "full")} if decl.capacity in lengths else set()
    return found


def _to_meet(program: ir.Program) -> set[tuple[str, str]]:
    wanted = set()
    for name, decl in program.state.items():
        if isinstance(decl, ir.MapDecl):
            wanted.add((name, "full"))
            wanted |= {(name, "idle")} if decl.idle else set()
            wanted |= {(name, "age")} if decl.age else set()
    return wanted


@pytest.mark.parametrize("name", ["bridge", "nat", "reframer", "telemetry"])
@pytest.mark.parametrize(
    "options",
    [
        RunOptions(batch=1),
        RunOptions(batch=7),
        RunOptions(batch=1000),
        RunOptions(steps=7),
        RunOptions(ties=5),
        RunOptions(jump=3600 * 10**9, seed=3),
        RunOptions(capacity=1),
        RunOptions(collisions=True),
        RunOptions(collisions=True, capacity=2),
    ],
    ids=str,
)
def test_options_of_a_run(name: str, options: RunOptions) -> None:
    spec = example(name)
    compared(spec, captured(spec), options)
    for trace in traffic.seeded(spec.small(), 3, count=3):
        compared(spec.small(), trace, options)


# ---------------------------------------------------------------- other specs


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_schedules(schedule: str) -> None:
    for number in range(6):
        compared(scheduled(schedule), schedule_trace(number))


def test_every_kind_of_state() -> None:
    for number in range(12):
        compared(network(STORE), store_trace(number))


KEYS_OF_ONE_TABLE = """use net.l4;
nf keys {
  port a, b;
  relevant flow, ipv4.{ttl, identification}, l4.{sport, dport} else drop "other";
  state {
    seen: map<Flow, u16> { capacity 8; idle 2s; when full evict oldest; }
    ports: map<u16, u16> { capacity 8; age 5s; when full evict oldest; }
    either: map<u16, u16> { capacity 8; age 5s; when full evict oldest; }
  }
  on packet {
    let one = seen[flow] else 1;
    let other = seen[flow.reversed] else 2;
    if ipv4.ttl > 64 { seen[flow] = one + 3; } else { seen[flow.reversed] = other + 5; }
    if l4.sport > l4.dport { ports[l4.sport] = one; } else { ports[l4.dport] = other; }
    let port = ports[l4.sport] else 9;
    if ipv4.ttl > 64 { either[l4.sport] = 1; } else { either[l4.dport] = 2; }
    ipv4.identification = one + other * 7 + port * 31 + either.len as u16;
    send if in_port == a { b } else { a };
  }
}"""


def test_keys_of_one_table_that_a_packet_needs_at_once_and_keys_of_which_it_needs_one(tmp_path: Path) -> None:
    spec = written(tmp_path, KEYS_OF_ONE_TABLE)
    members = generate(spec.program).split("struct Ahead {")[1].split("};")[0]
    assert [members.count(f"> {name}_key") for name in ("seen", "ports", "either")] == [2, 2, 1]
    for trace in traffic.seeded(spec.small(4), 1, count=20):
        compared(spec.small(4), trace)


SKETCHES_OF_SOME = """use net.l4;
nf sketches {
  port a, b;
  relevant flow, ipv4.{ttl, identification}, l4.{sport, dport} else drop "other";
  state {
    large:  bloom<Flow> { capacity 1M; error 1%; }
    small:  bloom<Flow> { capacity 20; error 20%; }
    counts: count_min<u16> { error 20%; confidence 60%; }
    wide:   count_min<u16> { error 0.01%; confidence 99%; }
    first:  top_k<u16> { k 4; }
    hosts:  hyperloglog<ipv4> { error 20%; }
  }
  on packet from a {
    if ipv4.ttl > 64 { counts.add(l4.sport); first.add(l4.sport, len as u64); large.add(flow); }
    else { small.add(flow); wide.add(l4.dport, 3); }
    ipv4.identification = (counts.estimate(l4.sport) + wide.estimate(l4.sport) * 7) as u16;
    if flow in large { ipv4.identification = ipv4.identification + 1000; }
    if flow.reversed in small { ipv4.identification = ipv4.identification + 2000; }
    send b;
  }
  on packet from b {
    hosts.add(ipv4.src);
    first.add(l4.dport);
    ipv4.identification = (hosts.estimate() * 100 + first.estimate(l4.dport) * 10 + first.estimate(80)) as u16;
    send a;
  }
}"""


def test_sketches_whose_keys_only_some_packets_have(tmp_path: Path) -> None:
    spec = written(tmp_path, SKETCHES_OF_SOME)
    text = generate(spec.program)
    members = text.split("struct Ahead {")[1].split("};")[0]
    assert members.count("SipMessage<") >= 4 and members.count("first_key") >= 1
    assert re.search(r"\bfirst\(sizes\[\d+\], sizes\[\d+\], seed\)", text)  # or chosen keys could collide
    for trace in traffic.seeded(spec, 3, count=60):
        for batch in (1, 7, 8, 9, 32):
            compared(spec, trace, RunOptions(batch=batch))


SKETCHES_OF_CORES = """use net.l4;
nf sketches {
  port a, b;
  relevant flow, ipv4.identification else drop "other";
  state {
    seen: bloom<Flow> per core { capacity 1000; error 1%; }
    hits: map<Flow, u64> { capacity 8; idle 5s; when full evict oldest; }
  }
  on packet {
    if flow in seen { ipv4.identification = 7; }
    seen.add(flow);
    hits[flow] = 1;
    send if in_port == a { b } else { a };
  }
}"""


def test_sketches_of_several_cores(tmp_path: Path) -> None:
    spec = written(tmp_path, SKETCHES_OF_CORES)
    assert "uint32_t core(const Packet& p" in generate(spec.program)
    for trace in traffic.seeded(spec, 3, count=40):
        compared(spec, trace, RunOptions(cores=3))


TABLES = """use net.l4;
nf tables {
  port a, b;
  config marks:  map<u16, u16>;
  config routes: lpm<ipv4, u16>;
  relevant flow, ipv4.{ttl, identification, dst}, l4.{sport, dport} else drop "other";
  state { seen: map<u16, u16> { capacity 8; age 5s; when full evict oldest; } }
  on packet {
    let way = routes[ipv4.dst] else 1;
    if ipv4.ttl > 64 { ipv4.identification = way; send b; }
    let mark = marks[l4.dport] else 2;
    if tcp { let other = marks[l4.sport] else 3; ipv4.identification = way * 7 + other; }
    else { ipv4.identification = way + mark * 31; }
    require not (l4.sport in seen) else drop "seen";
    seen[l4.sport] = mark;
    let late = marks[l4.sport] else 4;
    if late != 5 { send a; }
    send b;
  }
}"""


def test_rows_are_looked_up_ahead_and_config_changes_within_a_batch(tmp_path: Path) -> None:
    spec = written(tmp_path, TABLES)
    members = generate(spec.program).split("struct Ahead {")[1].split("};")[0]
    assert [members.count(f"{name}_row") for name in ("routes", "marks")] == [1, 2]  # not the one behind `seen`
    for trace in traffic.seeded(spec, 5, count=60):
        found = [arrival for arrival in trace.arrivals if len(arrival.data) >= 38]
        ports = sorted({int.from_bytes(a.data[at : at + 2], "big") for a in found for at in (34, 36)})
        nets = sorted({int.from_bytes(a.data[30:31], "big") << 24 for a in found})
        values = [
            {
                "marks": {port: port % 7 + n for port in ports[n % 2 :: 2]},
                "routes": tuple((Prefix(32, net, 8), n) for net in nets[n // 2 :: 2]),
            }
            for n in range(4)
        ]
        now, times = 0, []
        for arrival in trace.arrivals:
            now = max(now, arrival.time)
            times.append(now)
        at = [times[len(times) * n // 4] for n in range(1, 4)] if times else []
        changes = tuple(Change(time, value) for time, value in zip(at, values[1:], strict=False))
        changed = replace(trace, config=values[0], changes=changes)
        for batch in (1, 64):
            compared(spec, changed, RunOptions(batch=batch))
        compared(spec, changed, RunOptions(cores=2))


HASHED_PREFIXES = """use net.l4;
nf prefixes {
  port a, b;
  config net: prefix;
  config nets: list<prefix>;
  relevant flow, ipv4.identification else drop "other";
  on packet {
    ipv4.identification = (hash(net) + hash(flow.sport, net, flow.dport)) as u16;
    for n in nets { ipv4.identification = ipv4.identification + hash(n, flow.sport) as u16; }
    send b;
  }
}"""


def test_hashes_of_prefixes_which_have_five_bytes_or_seventeen(tmp_path: Path) -> None:
    spec = written(tmp_path, HASHED_PREFIXES)
    nets = (Prefix(32, 10 << 24, 8), Prefix(128, 1 << 120, 16), Prefix(32, 0, 0))
    for net in nets:
        for trace in traffic.seeded(spec, 5, count=5):
            compared(spec, replace(trace, config={"net": net, "nets": nets}))


def test_packets_that_change_their_form() -> None:
    compared(network(REWRITING), rewriting_trace())


# ---------------------------------------------------------------- what it is not


def test_what_it_does_not_have() -> None:
    spec = example("forwarder")
    refused = {
        "only the engine `system` has faults on links, not `native`": RunOptions(faults=frozenset({"loss"})),
        "only the engines `interp` and `system` have packets split from their payloads": RunOptions(split=True),
        "only the engine `interp` has scrambled bytes, not `native`": RunOptions(scramble=True),
    }
    for said, options in refused.items():
        with pytest.raises(Unsupported, match=said):
            NATIVE.run(spec.program, captured(spec), options)


def test_it_shows_no_state() -> None:
    spec = example("nat")
    execution = execute(spec, captured(spec), NATIVE)
    assert execution.record.history is None and execution.record.ends == ()
    found = {p.name: p.judge(execution) for p in properties(spec)}
    assert all(judgement.failure is None for judgement in found.values())
    assert any(judgement.cases for judgement in found.values())
    looking = {"expiry", "pools"}  # into state
    assert {found[name].skipped for name in looking} == {"the engine does not show its state"}


def test_a_failure_of_the_library_is_a_crash_of_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = example("load_balancer")
    trace = captured(spec)
    monkeypatch.setattr(native, "encode", lambda program, values: encode(program, values)[:-1])
    record = NATIVE.run(spec.program, trace, RunOptions())
    assert record.crash == "the config is malformed" and record.fates == ()


def test_what_happened_before_a_failure_is_kept() -> None:
    spec = example("load_balancer")
    trace = captured(spec)
    library = load(_built(spec))
    middle = trace.arrivals[len(trace.arrivals) // 2].time
    with Running(library, encode(spec.program, trace.config), sizes(spec.program), batch=1) as running:
        with pytest.raises(Failed, match="malformed"):
            running.change_at(middle, b"\xff")
            running.arrive([(a.port, a.time, a.data) for a in trace.arrivals])
        kinds = {happened.kind for happened in running.records()}
    assert Kind.decided in kinds


ROUTED = """
use net.l4;
nf routed {
  port a, b;
  config way: port = a;
  config routes: lpm<ipv4, port>;
  on packet { send way; }
}
"""


def test_a_config_of_which_one_item_is_wrong_changes_nothing(tmp_path: Path) -> None:
    """Rows that the compiler refuses can come from elsewhere; items before and behind them stay too."""
    path = tmp_path / "routed.nf"
    path.write_text(ROUTED, encoding="utf-8")
    spec = read_spec(path)
    row = "20 08 0000000000000000000000000a000000 0001"
    wrong = bytes.fromhex(f"0000 0001 0001 00000002 {row} {row}")  # way = b, then two rows of one prefix
    with Running(load(_built(spec)), b"", sizes(spec.program), batch=1) as running:
        running.arrive([(0, 5, bytes(60))])
        with pytest.raises(Failed, match="malformed"):
            running.change_at(6, wrong)
            running.arrive([(0, 7, bytes(60))])
        left = [happened.number for happened in running.records() if happened.kind == Kind.left]
    assert left == [0, 0]


@cache
def _built(spec: Spec) -> Path:
    return build(spec.program)
