"""The typed tree of properties holds what an evaluator needs."""

from __future__ import annotations

from pathlib import Path

from polysome.ir import program as ir
from polysome.ir import properties as pr
from polysome.ir import types as t
from polysome.semantics.check import check
from polysome.syntax.diagnostics import Report

NF = """use net.l4;
nf n {
  port a, b;
  config backends: list<ipv4>;
  state {
    total: bytes;
    sticky: map<Flow, ipv4> { capacity 1K; idle 30s; when full evict oldest; }
    index by_ip: sticky by (value, key.sport);
    meters: array<token_bucket(1Mbps, 64KB)>[4];
  }
  schedule { class flow.protocol; fifo; }
  on packet { send b; }
  property one { PROPERTY }
}
"""


def items(folder: Path, text: str) -> tuple[pr.Item, ...]:
    path = folder / "n.nf"
    path.write_text(NF.replace("PROPERTY", text), encoding="utf-8")
    (found,) = check(path, Report()).properties
    assert isinstance(found, pr.Property)
    return found.items


def condition(folder: Path, text: str) -> ir.Expr:
    """The condition behind `for p, q in trace expect`."""
    (loop,) = items(folder, f"for p, q in trace expect {text};")
    assert isinstance(loop, pr.ForAll) and isinstance(loop.body[0], pr.Expect)
    return loop.body[0].condition


def test_names_of_one_for_are_in_order(tmp_path: Path) -> None:
    (loop,) = items(tmp_path, "for p, q in trace where p.sent expect q.sent;")
    assert isinstance(loop, pr.ForAll)
    assert loop.names == ("p", "q") and len(set(loop.slots)) == 2
    assert loop.domain.kind == "trace" and isinstance(loop.where, pr.Attribute)


def test_let_draws_what_follows_into_the_for(tmp_path: Path) -> None:
    (loop,) = items(
        tmp_path, "for p in trace let f = p.flow; for q in trace where q.flow == f expect q.sent; expect true;"
    )
    assert isinstance(loop, pr.ForAll)
    assert [type(i) for i in loop.body] == [pr.Let, pr.ForAll, pr.Expect]


def test_without_let_items_stand_beside_each_other(tmp_path: Path) -> None:
    found = items(tmp_path, "let d = 5s; for p in trace expect p.left - p.at <= d; expect true;")
    assert [type(i) for i in found] == [pr.Let, pr.ForAll, pr.Expect]


def test_a_group_reads_whichever_header_is_valid(tmp_path: Path) -> None:
    found = condition(tmp_path, "p.in.l4.sport == 53")
    assert isinstance(found, ir.Binary) and isinstance(found.left, pr.Seen)
    assert found.left.side == "in" and isinstance(found.left.value, ir.Choose) and found.left.type == t.U16


def test_what_a_snapshot_reads_is_one_access(tmp_path: Path) -> None:
    found = condition(tmp_path, "p.after.sticky[q.flow] == q.out.ipv4.dst")
    assert isinstance(found, ir.Binary) and isinstance(found.left, pr.Snapshot)
    read = found.left.read
    assert found.left.when == "after" and isinstance(read, pr.Lookup) and read.source == "sticky"
    assert isinstance(read.key, pr.Seen) and isinstance(read.key.packet, ir.Local) and read.key.packet.name == "q"


def test_indexes_give_entries(tmp_path: Path) -> None:
    found = condition(tmp_path, "p.after.by_ip[(10.0.0.1, 4)].key == q.flow")
    assert isinstance(found, ir.Binary) and isinstance(found.left, ir.Get) and found.left.index == 0
    assert isinstance(found.left.value, pr.Snapshot) and isinstance(found.left.value.read, pr.Lookup)
    assert (found.left.value.read.kind, found.left.value.read.index) == ("index", "by_ip")


def test_buckets_are_asked_where_they_are(tmp_path: Path) -> None:
    found = condition(tmp_path, "p.before.meters[3].has(64B)")
    assert isinstance(found, pr.Snapshot) and isinstance(found.read, ir.BucketOp)
    assert not found.read.take and found.read.place.kind == "array"


def test_config_is_of_a_time_or_of_the_start(tmp_path: Path) -> None:
    found = condition(tmp_path, "p.before.backends[0] == backends[0]")
    assert isinstance(found, ir.Binary)
    assert isinstance(found.left, ir.ListIndex) and isinstance(found.left.table, pr.Snapshot)
    assert isinstance(found.right, ir.ListIndex) and isinstance(found.right.table, ir.Config)


def test_class_has_the_type_of_the_schedule(tmp_path: Path) -> None:
    found = condition(tmp_path, "bytes(class: p.class, p.at..q.at) / (q.at - p.at) <= 1Mbps")
    assert isinstance(found, ir.Binary) and isinstance(found.left, ir.Ratio)
    passed = found.left.amount
    assert isinstance(passed, pr.Passed) and passed.by == "class" and passed.key.type == t.U8


def test_a_window_excludes_its_end(tmp_path: Path) -> None:
    found = condition(tmp_path, "within(q.at, p.at..p.left)")
    assert isinstance(found, ir.Binary) and isinstance(found.left, ir.Binary) and isinstance(found.right, ir.Binary)
    assert (found.left.op, found.op, found.right.op) == ("<=", "and", "<")


def test_sums_of_narrow_integers_are_wide(tmp_path: Path) -> None:
    found = condition(tmp_path, "sum(r in trace: r.in.ipv4.ttl) > 1000")
    assert isinstance(found, ir.Binary) and isinstance(found.left, pr.Aggregate)
    assert found.left.type == t.U64 and isinstance(found.left.value, ir.Cast)


def test_ends_name_their_maps(tmp_path: Path) -> None:
    by_key, by_name = condition(tmp_path, "evicted(p.flow)"), condition(tmp_path, "ended(sticky[p.flow])")
    assert isinstance(by_key, pr.Ended) and by_key.maps == ("sticky",) and by_key.why == t.END.number("evicted")
    assert isinstance(by_name, pr.Ended) and by_name.maps == ("sticky",) and by_name.why is None


def test_checksums_of_a_packet_are_judged_by_how_it_came(tmp_path: Path) -> None:
    found = condition(tmp_path, "checksums_valid(p)")
    assert isinstance(found, ir.Binary) and found.op == "or"
    assert isinstance(found.left, ir.Unary) and isinstance(found.left.operand, pr.ChecksumsValid)
    assert found.left.operand.side == "in" and isinstance(found.right, pr.ChecksumsValid) and found.right.side == "out"


def test_runs_hold_plain_values(tmp_path: Path) -> None:
    text = "outputs(engine: system, jump: 1h, split: true, faults: {loss, duplication}) <= outputs()"
    found = condition(tmp_path, text)
    assert isinstance(found, ir.Binary) and isinstance(found.left, pr.Run) and isinstance(found.right, pr.Run)
    hour = 3600 * 10**9
    options = (("engine", "system"), ("jump", hour), ("split", True), ("faults", ("duplication", "loss")))
    assert found.left.options == options and found.right.options == ()
