"""Every line of the property catalogue is a property of an NF in `properties/`, and type-checks."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from polysome.ir import program as ir
from polysome.ir import properties as pr
from polysome.semantics.check import check
from polysome.syntax.diagnostics import Report

FOLDER = Path(__file__).parent / "properties"

# Item of the catalogue -> the properties (file.name) that say it.
FORWARDING = {
    "no loop (never back out of the port it came from, unless asked)": ["bridge.no_loop"],
    "unsolicited traffic blocked": ["firewall.unsolicited_blocked"],
    "replies of known flows pass": ["firewall.replies_pass"],
    "a known flow's lookup refreshes it": ["firewall.lookup_refreshes"],
    "one flow, one allocation": ["firewall.one_flow_one_allocation"],
    "expired entries are never used, unexpired ones never lost": [
        "firewall.expired_never_used",
        "firewall.unexpired_never_lost",
    ],
    "an expired backend's flows are reassigned, others are not": [
        "load_balancer.flows_of_the_gone_move",
        "load_balancer.minimal_disruption",
    ],
    "unknown destination floods, known does not": ["bridge.unknown_floods", "bridge.known_does_not_flood"],
    "every packet in is sent, dropped with a reason, or held": ["firewall.accounted"],
}
NAT = {
    "injective: two live flows never share a public port": ["nat.injective"],
    "inverse: outside-in undoes inside-out": ["nat.inverse"],
    "ports come from the range": ["nat.ports_come_from_the_range"],
    "exhaustion drops new flows and never hurts live ones": ["nat.exhaustion_spares_the_living"],
    "a port returns to the pool at expiry, not before": ["nat.ports_return_at_expiry"],
    "ICMP errors carry an inner header that must be translated too": ["nat.icmp_errors_are_translated_inside"],
    "UDP zero checksum stays zero": ["nat.udp_zero_stays_zero"],
}
LOAD_BALANCER = {
    "affinity while the backend lives": ["load_balancer.affinity"],
    "minimal disruption when one leaves or joins": ["load_balancer.minimal_disruption"],
    "share error bound": ["load_balancer.share_error_bound"],
    "checksums valid after the rewrite": ["load_balancer.checksums_follow"],
}
RATE_LIMITER = {
    "for every window: passed ≤ burst + rate·t": ["limiter.never_above"],
    "and ≥ min(offered, rate·t) − one packet": ["limiter.never_below", "limiter.long_run"],
    "poll invariance": ["limiter.poll_invariance"],
}
SCHEDULER = {
    "conservation": ["scheduler.conservation"],
    "order within a class": ["scheduler.order_within_a_class"],
    "hold time ≤ bound": ["scheduler.hold_time"],
    "work conservation": ["scheduler.work_conservation"],
    "shares converge to weights": ["scheduler.shares_by_weight"],
}
SKETCHES = {
    "count-min never under-counts": ["sketches.count_min_never_under_counts"],
    "and its error holds at the stated confidence": ["sketches.count_min_error_at_confidence"],
    "Bloom has no false negatives": ["sketches.bloom_has_no_false_negatives"],
    "HyperLogLog error bound": ["sketches.hyperloglog_error_bound"],
}
MACHINERY = {
    "batch ≡ single": ["machinery.batch_is_single"],
    "shards ≡ sequential": ["machinery.shards_are_sequential"],
    "split+merge ≡ no split, original length restored": ["machinery.split_is_invisible"],
    "every rewrite's checksum valid, fragments and options included": ["machinery.rewrites_have_valid_checksums"],
    "time jumps, equal timestamps, long idleness": [
        "machinery.time_jumps",
        "machinery.equal_timestamps",
        "machinery.long_idleness",
    ],
    "full tables, port reuse, hash collisions": [
        "machinery.full_tables",
        "nat.ports_return_at_expiry",
        "machinery.hash_collisions",
    ],
    "loss, duplication and reordering at every internal link": ["machinery.links_lose_packets_and_nothing_else"],
}
CATALOGUE = FORWARDING | NAT | LOAD_BALANCER | RATE_LIMITER | SCHEDULER | SKETCHES | MACHINERY
# The rules of the manual's section 12 that say how properties are written: properties of language.nf.
RULES = [f"L12_{n}" for n in range(2, 14)]


@cache
def checked(name: str) -> ir.Program:
    return check(FOLDER / f"{name}.nf", Report())


def property_of(name: str) -> pr.Property:
    file, _, wanted = name.partition(".")
    found = {p.name: p for p in checked(file).properties}
    assert wanted in found, f"{file}.nf has no property `{wanted}`"
    return found[wanted]


@pytest.mark.parametrize("item", CATALOGUE)
def test_catalogue_item_is_expressible(item: str) -> None:
    assert CATALOGUE[item]
    for name in CATALOGUE[item]:
        assert expectations(property_of(name).items), f"{name} expects nothing"


def expectations(items: tuple[pr.Item, ...]) -> int:
    return sum(expectations(i.body) if isinstance(i, pr.ForAll) else isinstance(i, pr.Expect) for i in items)


@pytest.mark.parametrize("rule", RULES)
def test_rule_has_a_property(rule: str) -> None:
    names = [p.name for p in checked("language").properties]
    assert any(n.startswith(f"{rule}_") for n in names), f"language.nf has no property for {rule}"


def test_the_nfs_have_no_warnings() -> None:
    for path in sorted(FOLDER.glob("*.nf")):
        report = Report()
        check(path, report)
        assert report.diagnostics == [], path.name
