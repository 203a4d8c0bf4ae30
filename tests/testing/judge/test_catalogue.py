"""Every property of the catalogue (tests/language/properties) judged: on its NF, and on one with a mistake.

`MISTAKES`: what is replaced in the spec, and the properties that then fail; all others must still be there. Properties
of `language.nf` say things for their grammar's sake; test_planner.py compares them with nested loops.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from polysome.testing.execution import Judgement
from polysome.testing.judge import properties
from polysome.testing.spec import Spec

from .kit import CATALOGUE, MS, S, catalogue, ethernet, icmp, ipv4, run, spec, tcp, udp

Packets = list[tuple[int, str, bytes]]
SERVERS = {"backends": tuple((0x0A000100 + n, 0x020000000100 + n, 1, 1) for n in range(4))}
PUBLIC = {"addresses": (0xC0000201, 0xC0000202)}


def frame(n: int, size: int = 60, dport: int = 80, src: str = "", dst: str = "192.0.2.9") -> bytes:
    """A UDP frame of flow n."""
    return ethernet(ipv4(udp(b"x" * (size - 42), 1000 + n, dport), src=src or f"10.0.0.{n % 8 + 1}", dst=dst))


def back(n: int) -> bytes:
    return ethernet(ipv4(udp(b"y" * 20, 80, 1000 + n), src="192.0.2.9", dst=f"10.0.0.{n % 8 + 1}"))


def stations() -> Packets:
    def at(time: int, port: str, src: int, dst: int) -> tuple[int, str, bytes]:
        names = (f"02:00:00:00:00:{src:02x}", f"02:00:00:00:00:{dst:02x}")
        return time, port, ethernet(ipv4(udp(b"")), src=names[0], dst=names[1])

    return [
        at(S, "p1", 1, 2),
        at(2 * S, "p2", 2, 1),
        at(3 * S, "p1", 1, 2),
        at(4 * S, "p3", 3, 1),
        at(5 * S, "p1", 4, 1),
    ]


def both_ways() -> Packets:
    found = [(S + n * 100 * MS, "inside", frame(n)) for n in range(4)]
    found += [(2 * S + n * 100 * MS, "outside", back(n)) for n in range(6)]
    found += [(27 * S, "inside", frame(0)), (50 * S, "outside", back(0)), (65 * S, "outside", back(1))]
    refreshed = [(200 * S, "inside", frame(7)), (220 * S, "outside", back(7)), (240 * S, "outside", back(7))]
    return [*found, (100 * S, "inside", frame(0)), (101 * S, "outside", back(3)), *refreshed]


def steady(port: str, gap: int, count: int, size: int) -> Packets:
    return [(S + n * gap, port, frame(n % 2, size)) for n in range(count)]


def spread() -> Packets:
    found = [(S + n * 10 * MS, "clients", frame(n % 8)) for n in range(32)]
    return [*found, (3 * S, "clients", frame(1)), (40 * S, "clients", frame(1))]


def translated() -> Packets:
    """Out by two endpoints, answers to them (the NAT gives out ports from 1024 on), and an error about the first."""
    out = [(S + n * MS, "inside", ethernet(ipv4(tcp(b"", 5000 + n, 80), dst="192.0.2.9"))) for n in range(2)]
    out += [(S + 5 * MS, "inside", ethernet(ipv4(udp(b"", 5000, 80, check=0), dst="192.0.2.9")))]
    answers = [
        (2 * S + n, "outside", ethernet(ipv4(tcp(b"", 80, 1024 + n), src="192.0.2.9", dst="192.0.2.1")))
        for n in range(3)
    ]
    quote = ipv4(tcp(b"", 1024, 80), src="192.0.2.1", dst="192.0.2.9")
    error = (3 * S, "outside", ethernet(ipv4(icmp(quote, type=3), src="192.0.2.9", dst="192.0.2.1")))
    late = [(90 * S, "inside", ethernet(ipv4(tcp(b"", 6000, 80), dst="192.0.2.9")))]
    return [*out, *answers, error, *late]


TRACES: dict[str, tuple[Packets, dict[str, Any]]] = {
    "bridge": (stations(), {}),
    "firewall": (both_ways(), {}),
    "limiter": (steady("lan", 300_000, 400, 1000), {}),
    "load_balancer": (spread(), SERVERS),
    "machinery": ([*steady("lan", 10 * MS, 12, 100), (60 * S, "lan", frame(0)), (61 * S, "wan", frame(1))], {}),
    "nat": (translated(), PUBLIC),
    "scheduler": (steady("lan", 50_000, 200, 1514), {}),
    "sketches": (steady("left_side", MS, 60, 100), {}),
}

# (the NF, what is wrong in it: text and what stands there instead, properties that fail)
MISTAKES: list[tuple[str, str, str, set[str]]] = [
    ("bridge", "send ports - in_port", "send ports", {"no_loop", "unknown_floods"}),
    ("bridge", "send known;", "send ports - in_port;", {"known_does_not_flood"}),
    ("firewall", 'else drop "unsolicited"', "else { send inside; }", {"unsolicited_blocked", "expired_never_used"}),
    ("firewall", "flows[flow.reversed]", "flows[flow]", {"replies_pass", "lookup_refreshes"}),
    ("firewall", "idle 30s;", "idle 5s;", {"unexpired_never_lost", "replies_pass", "lookup_refreshes"}),
    ("limiter", "require meters[flow].take(len)", "require meters[flow].has(len)", {"never_above"}),
    ("limiter", "take(len)", "take(len * 4)", {"never_below"}),
    ("load_balancer", "sticky[flow] = chosen;", "", {"affinity"}),
    ("load_balancer", "turn += 1;", "", {"share_error_bound"}),
    ("nat", "l4.sport = public.port;", "", {"inverse"}),
    ("nat", "from addresses, 1024..65535", "from addresses, 1..65535", {"ports_come_from_the_range"}),
    ("nat", "icmp.quoted.ipv4.src = m.key.src as ipv4;", "", {"icmp_errors_are_translated_inside"}),
    ("machinery", "idle 30s", "idle 30min", {"long_idleness"}),
    ("machinery", "ipv4.src = 192.0.2.1;", "truncate 60B;", {"split_is_invisible"}),
    ("scheduler", "serve 100Mbps", "serve 10Mbps", {"work_conservation"}),
    ("sketches", "octets.add(flow, len as u64);", "octets.add(flow, 1);", {"count_min_never_under_counts"}),
    ("sketches", "seen.add(flow);", "", {"bloom_has_no_false_negatives"}),
    ("sketches", "hosts.add(flow.src);", "", {"hyperloglog_error_bound"}),
    ("sketches", "top.add(flow, len as u64);", "top.add(flow, 1);", {"top_flows_are_not_under_counted"}),
    ("sketches", "src: flow.src, dst: flow.dst, octets: octets", "src: flow.dst, dst: flow.src, octets: octets",
     {"reports_say_what_caused_them"}),
]  # fmt: skip


@cache
def judgements(checked: Spec, name: str) -> dict[str, Judgement]:
    packets, config = TRACES[name]
    execution = run(checked, packets, config)
    return {p.name: p.judge(execution) for p in properties(checked.program)}


@pytest.mark.parametrize("name", TRACES)
def test_the_catalogue_holds(name: str) -> None:
    found = judgements(catalogue(name), name)
    assert {n: j.failure for n, j in found.items() if j.failure is not None} == {}


@pytest.mark.parametrize(("name", "text", "instead", "failing"), MISTAKES)
def test_mistakes_are_caught(name: str, text: str, instead: str, failing: set[str]) -> None:
    source = (CATALOGUE / f"{name}.nf").read_text(encoding="utf-8")
    assert text in source
    found = judgements(spec(source.replace(text, instead, 1)), name)
    assert failing <= {n for n, j in found.items() if j.failure is not None}, {n: j.cases for n, j in found.items()}


def test_every_file_has_a_trace() -> None:
    assert {path.stem for path in CATALOGUE.glob("*.nf")} == {*TRACES, "language"}
