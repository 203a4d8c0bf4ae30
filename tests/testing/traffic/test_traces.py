"""Traces: the same for the same seed, what the engine makes of them, and how far into the examples they get."""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st
from tests.testing.traffic.kit import EXAMPLES, NAMES, ODD, builders, example, written

from polysome.captures.errors import CaptureError
from polysome.config.tables import Tables
from polysome.engines import ENGINES
from polysome.engines.options import RunOptions
from polysome.engines.record import Record
from polysome.engines.trace import Trace
from polysome.ir import program as ir
from polysome.ir.walk import walk
from polysome.resources import MEANING
from polysome.testing import traffic
from polysome.testing.coverage import measure
from polysome.testing.spec import Spec
from polysome.testing.traffic.build import trace_of
from polysome.testing.traffic.choices import Choices
from polysome.testing.traffic.fresh import fresh
from polysome.testing.traffic.later import beside
from polysome.testing.traffic.world import World

CAPTURES = {
    "firewall": ("inside", "outside"),
    "load_balancer": ("clients",),
    "nat": ("inside_only", "outside_only"),
    "vxlan_gateway": ("access", "fabric"),
}


def test_a_dialog_goes_on_where_the_packet_before_was() -> None:
    """Of packets that go on with a conversation, how many go on with the last one: so conversations get far."""
    follow: dict[str, list[bool]] = defaultdict(list)
    for builder in builders(example("conn_limiter"), 300):
        begun = 0
        for one, other in pairwise(builder.sink.met):
            begun = max(begun, one.conversation)
            if other.conversation <= begun:
                follow[builder.mood.kinds].append(one.conversation == other.conversation)
    assert statistics.mean(follow["dialog"]) > 0.94 > 0.8 > statistics.mean(follow["usual"])


def records(spec: Spec, count: int, seed: int = 1) -> list[Record]:
    program = spec.program
    return [ENGINES[MEANING].run(program, t, RunOptions()) for t in traffic.seeded(spec, seed, count=count)]


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Spec:
    return written(tmp_path_factory.mktemp("odd"), ODD)


# ---------------------------------------------------------------- form


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_gives_the_same_traces(name: str) -> None:
    spec = example(name).small()
    assert list(traffic.seeded(spec, 5, count=4)) == list(traffic.seeded(spec, 5, count=4))
    assert list(traffic.seeded(spec, 5, count=4)) != list(traffic.seeded(spec, 6, count=4))


@pytest.mark.parametrize("name", NAMES)
def test_the_engine_does_what_was_seen_while_building(name: str) -> None:
    """So answers answer what really left: config changes and times mean the same in both."""
    spec = example(name).small()
    for builder in builders(spec, 10):
        trace = builder.trace()
        record = ENGINES[MEANING].run(spec.program, trace, RunOptions())
        assert [change.time for change in trace.changes] == sorted(change.time for change in trace.changes)
        seen = Counter(left for met in builder.sink.met for left in met.left)
        there = Counter((copy.port, copy.data) for fate in record.fates for copy in fate.copies)
        there += Counter((made.port, made.data) for made in record.emitted)
        assert not seen - there  # what was due at the end of the trace may be left later
        if spec.program.schedule.policy == "fifo" and not spec.program.timers:
            assert sum(f.sent for f in record.fates) == builder.machine.counters.sent


@given(st.data())
@settings(max_examples=25)
def test_configs_of_every_shape_are_tables(odd: Spec, data: st.DataObject) -> None:
    config = data.draw(traffic.configs(odd))
    assert set(config) == set(odd.program.config)
    Tables(odd.program, config)
    trace = data.draw(traffic.traces(odd))
    tables = Tables(odd.program, trace.config)
    for change in trace.changes:
        tables.replace(change.values)


def test_config_is_honoured_and_changes(odd: Spec) -> None:
    spec = odd
    colour = 2
    fixed = Spec(spec.path, spec.program, config={"colour": colour})
    traces = list(traffic.seeded(fixed, 3, count=120))
    assert all(trace.config["colour"] == colour for trace in traces)
    changed = {name for trace in traces for change in trace.changes for name in change.values}
    assert changed == set(spec.program.config)
    rows = {len(trace.config["ways"]) for trace in traces}
    assert {0, 1, 2, 3} <= rows
    assert any(change.time == arrival.time for t in traces for change in t.changes for arrival in t.arrivals)


def test_every_branch_of_an_odd_program(odd: Spec) -> None:
    spec = odd.small()
    reached = measure(spec, traffic.seeded(spec, 3, count=250))
    lines = [spec.program.sources[o.point.span.file].position(o.point.span.start) for o in reached.missing]
    names = [(line, outcome.name) for line, outcome in zip(lines, reached.missing, strict=True)]
    assert len(names) <= 1, names


@settings(max_examples=25)
@given(packets=st.lists(traffic.packets(example("nat")), min_size=1, max_size=3), trace=traffic.traces(example("nat")))
def test_no_health_check_complains(packets: list[bytes], trace: Trace) -> None:
    assert all(isinstance(packet, bytes) for packet in packets)
    assert 1 <= len(trace.arrivals) <= 24


def test_wrong_sizes_and_captures_are_refused(tmp_path: Path) -> None:
    spec = example("nat")
    for most in (0, 129):
        with pytest.raises(ValueError, match="1 to 128"):
            traffic.traces(spec, most=most)
    assert max(len(t.arrivals) for t in traffic.seeded(spec, 1, most=128, count=6)) > 80
    assert max(len(t.arrivals) for t in traffic.seeded(spec, 1, most=3, count=12)) == 3
    broken = tmp_path / "broken.pcap"
    broken.write_bytes(b"not a capture")
    with pytest.raises(CaptureError):
        traffic.traces(spec, captures=[broken])


@pytest.mark.parametrize("error", [KeyboardInterrupt, AssertionError])
def test_what_comes_as_hypothesis_begins_is_raised(error: type[BaseException], monkeypatch: pytest.MonkeyPatch) -> None:
    def runner(*args: object, **named: object) -> None:
        raise error

    monkeypatch.setattr("hypothesis.core.ConjectureRunner", runner)
    with pytest.raises(error):
        next(traffic.seeded(example("forwarder"), 1))


def test_nothing_but_zeros_is_a_simple_trace() -> None:
    """What Hypothesis shrinks to."""
    spec = example("nat").small()
    trace = trace_of(spec, bytes(160), [bytes(54)] * 3)
    assert not trace.changes and {arrival.port for arrival in trace.arrivals} == {0}
    assert all(len(arrival.data) <= 64 for arrival in trace.arrivals)
    assert trace.arrivals[2].time - trace.arrivals[0].time <= 10**4
    assert ENGINES[MEANING].run(spec.program, trace, RunOptions()).fates[0].sent


@pytest.mark.slow
def test_hypothesis_shrinks() -> None:
    spec = example("bridge").small()

    def holds(trace: Trace) -> bool:
        record = ENGINES[MEANING].run(spec.program, trace, RunOptions())
        return "already there" in record.drops

    quick = settings(max_examples=500, phases=(Phase.generate, Phase.shrink))
    trace = find(traffic.traces(spec, most=3), holds, settings=quick)
    assert len(trace.arrivals) <= 2 and not trace.changes


# ---------------------------------------------------------------- reach


# Branches that 200 traces of small state may miss: what no packet can reach, or only hundreds of them, and the rarest.
MISSED = {"nat": 9, "telemetry": 3, "router6": 2, "firewall": 3, "policer": 1, "vxlan_gateway": 3}


@pytest.mark.parametrize("name", NAMES)
def test_branches_and_drops_of_the_examples(name: str) -> None:
    spec = example(name).small()
    program = spec.program
    traces = list(traffic.seeded(spec, 1, count=200))
    reached = measure(spec, traces)
    lines = [program.sources[o.point.span.file].position(o.point.span.start) for o in reached.missing]
    assert len(lines) <= MISSED.get(name, 0), lines
    seen = {reason for t in traces for reason in ENGINES[MEANING].run(program, t, RunOptions()).drops}
    rare = {"undeliverable, too many errors"}  # eleven errors in a tenth of a second
    assert _reasons(program) - rare <= seen, _reasons(program) - seen


def _reasons(program: ir.Program) -> set[str]:
    """Why handlers and contract may drop packets."""
    contract = program.contract
    demanding = contract is not None and contract.passing != program.parser.all_classes
    roots = (program.packet_handlers, contract if demanding else ())
    return {node.reason for root in roots for node in walk(root) if isinstance(node, ir.Drop)}


def test_answers_get_through() -> None:
    for name, share in (("nat", 0.1), ("firewall", 0.15)):
        found = records(example(name).small(), 50)
        outside = [f for record in found for f in record.fates if f.arrival.port == 1]
        assert sum(f.sent for f in outside) / len(outside) > share, name


def test_entries_end_in_every_way_and_pools_run_dry() -> None:
    found = records(example("nat").small(), 80)
    assert sum(end.why == 0 for record in found for end in record.ends) > 10
    assert any("no free port" in record.drops for record in found)
    assert any("out full" in reason for record in found for reason in record.drops)
    found = records(example("load_balancer").small(), 50)
    assert {0, 2} <= {end.why for record in found for end in record.ends}  # idle, evicted


def test_flows_go_on() -> None:
    for name in ("reframer", "shaper", "telemetry"):
        found = records(example(name), 30)
        sizes = [len(r.fates) / len({f.order_class for f in r.fates}) for r in found if len(r.fates) > 15]
        assert statistics.mean(sizes) > 2, name


def test_times_are_exact() -> None:
    """Some entry is used in the last nanosecond of its life, some in the first one after it."""
    spec = example("load_balancer").small()
    gaps = Counter[int]()
    for trace in traffic.seeded(spec, 3, count=100):
        times = [arrival.time for arrival in trace.arrivals]
        gaps.update(b - a - 30 * 10**9 for n, a in enumerate(times) for b in times[n + 1 :])
    assert all(gaps[d] > 0 for d in (-1, 0, 1))
    assert any(gap < -30 * 10**9 for gap in gaps)  # time that runs back


@pytest.mark.parametrize("name", CAPTURES)
def test_captures_are_taken_up(name: str) -> None:
    spec = example(name).small()
    files = [EXAMPLES / name / f"{stem}.pcap" for stem in CAPTURES[name]]
    traces = list(traffic.seeded(spec, 4, captures=files, count=20))
    assert traces == list(traffic.seeded(spec, 4, captures=files, count=20))
    assert traces != list(traffic.seeded(spec, 4, count=20))
    sent = [f.sent for t in traces for f in ENGINES[MEANING].run(spec.program, t, RunOptions()).fates]
    assert sum(sent) / len(sent) > 0.1


def test_a_spec_without_config_and_with_one_port(tmp_path: Path) -> None:
    text = (
        "use net.ethernet;\nparser p { state start { extract ethernet; } }\nnf tiny { port a; on packet { bounce; } }\n"
    )
    spec = written(tmp_path, text)
    found = records(spec, 20)
    assert all(f.sent for record in found for f in record.fates)
    empty = 'nf none { port a; on packet { drop "all"; } }\n'
    assert records(written(tmp_path, "use net.l4;\n" + empty), 5)


def test_beside_another_packet_one_address_or_port_differs() -> None:
    """Not one of Ethernet, as long as there are others: it is flows that share something."""
    spec = example("policer")
    differing: dict[str, int] = {}
    for number in range(400):
        c = Choices(number.to_bytes(2, "big") * 40)
        world = World(spec.program, c, None)
        one = fresh(spec.program, c, world, 0, 1)
        if not any(layer.shape.header.name == "ipv4" for layer in one.layers):
            continue
        other = beside(spec.program, c, world, one, 0, 1)
        changed = [
            layer.shape.header.fields[f].name
            for layer, new in zip(one.layers, other.layers, strict=True)
            for f, value in enumerate(layer.values)
            if value != new.values[f] and layer.shape.header.name != "ethernet"
        ]
        assert len(changed) <= 1 and one.layers[0].values == other.layers[0].values
        for name in changed:
            differing[name] = differing.get(name, 0) + 1
    assert {"src", "dst"} <= differing.keys() <= {"src", "dst", "sport", "dport"}
