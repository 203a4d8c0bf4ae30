"""LANGUAGE.md section 11: the handler before the schedule, classes, sizes. The policies: tests/semantics/policy."""

from __future__ import annotations

import pytest

from rules.harness import Outcome, bare, errors, nf, run
from rules.packets import ethernet, icmp, ipv4, tcp, udp

US = 1000
PACKET = "relevant byte0.first;"


def after(body: str, items: str, *packets: tuple[int, bytes]) -> Outcome:
    """Packets at times in microseconds, through a handler of port a."""
    return run(bare(body, PACKET + items), [(time * US, "a", data) for time, data in packets])


def left(outcome: Outcome) -> list[tuple[int, int]]:
    """(time in microseconds, first byte) of what left, in order."""
    return [(time // US, data[0]) for _, time, data, _ in outcome.left]


REFRAME = "schedule { class byte0.first; reframe 10us, 64; }"

# ---------------------------------------------------------------- L11.1


def test_L11_1_without_a_schedule_packets_leave_at_their_arrival_in_order() -> None:
    outcome = after("send b;", "", (0, b"\3"), (0, b"\1"), (5, b"\2"))
    assert left(outcome) == [(0, 3), (0, 1), (5, 2)]


def test_L11_1_the_handler_runs_at_arrival_and_the_schedule_afterwards() -> None:
    items = REFRAME + "state { n: u64; seen: u64; }"
    outcome = after("n += 1; seen = (now as u64) / 1000; send b;", items, (3, b"\1"))
    assert (outcome.state["n"], outcome.state["seen"], outcome.left, outcome.held) == (1, 3, [], 1)


def test_L11_1_what_the_handler_drops_never_gets_to_the_schedule() -> None:
    # The class of 2 would have been the first of the batch.
    body = 'if byte0.first == 2 { drop "two"; } send b;'
    outcome = after(body, REFRAME, (0, b"\2"), (1, b"\1"), (2, b"\3"), (30, b"\4"))
    assert (left(outcome), outcome.dropped) == ([(11, 1), (11, 3)], {"two": 1})


def test_L11_1_packets_of_one_class_keep_their_order() -> None:
    outcome = after("send b;", REFRAME, (0, b"\1a"), (1, b"\2b"), (2, b"\1c"), (3, b"\2d"), (30, b"\3"))
    assert outcome.bytes == [b"\1a", b"\1c", b"\2b", b"\2d"]


def test_L11_1_the_class_is_computed_from_fields_as_parsed() -> None:
    # All leave with the same byte, yet in two classes.
    body = "byte0.first = 9; send b;"
    outcome = after(body, REFRAME, (0, b"\1a"), (1, b"\2b"), (2, b"\1c"), (30, b"\3"))
    assert outcome.bytes == [b"\x09a", b"\x09c", b"\x09b"]


def test_L11_1_the_default_class_is_the_flow() -> None:
    spec = nf("if ipv4 { ipv4.src = 192.0.2.1; } send b;", "schedule { reframe 10us, 64; }")
    one, two = ethernet(ipv4(udp(b"one"))), ethernet(ipv4(tcp(b"two")))
    outcome = run(spec, [(0, "a", one), (1, "a", two), (2, "a", one), (30 * US, "a", two)])
    assert [order for _, _, _, order in outcome.left] == [0, 2, 1]


def test_L11_1_a_fragments_class_has_no_ports() -> None:
    # The first fragment has ports, the second none: both are one class, another flow of theirs is a third.
    spec = nf("send b;", "schedule { class flow; reframe 10us, 64; }")
    whole = ipv4(udp(b"x" * 40))
    first = ethernet(ipv4(whole[20:44], protocol=17, fragment=0x2000))
    second = ethernet(ipv4(whole[44:], protocol=17, fragment=3))
    other = ethernet(ipv4(icmp(b"")))
    outcome = run(spec, [(0, "a", first), (1, "a", other), (2, "a", second), (30 * US, "a", other)])
    assert [order for _, _, _, order in outcome.left] == [0, 2, 1]


def test_L11_1_a_class_may_be_a_tuple_or_a_config() -> None:
    assert errors(bare("send b;", PACKET + "schedule { class (byte0.first, in_port); fifo; }")) == []
    assert errors(bare("send b;", PACKET + "config c: u8; schedule { class byte0.first + c; fifo; }")) == []
    assert errors(bare("send b;", PACKET + "state { n: u8; } schedule { class n; fifo; }")) != []
    assert errors(bare("send b;", PACKET + "schedule { class now; fifo; }")) != []


def test_L11_1_one_policy_with_its_clauses() -> None:
    assert errors(bare("send b;", "schedule { fifo; reframe 1us, 2; }")) == ["E0703"]
    assert errors(bare("send b;", "schedule { shape 1Mbps, 1KB; }")) == ["E0701"]
    assert errors(bare("send b;", "schedule { police 1Mbps; classes 4; idle 1s; when full drop; }")) == ["E0704"]


# ---------------------------------------------------------------- L11.2

POLICE = "police 8Kbps, 60B; classes 4; idle 1s; when full drop;"  # 60 bytes at once


def test_L11_2_the_size_is_the_length_as_it_leaves() -> None:
    hundred = (0, bytes(100))
    items = f"schedule {{ class byte0.first; {POLICE} }}"
    assert after("send b;", items, hundred).dropped == {"policed": 1}
    assert after("truncate 60B; send b;", items, hundred).dropped == {}
    assert after("truncate 61B; send b;", items, hundred).dropped == {"policed": 1}


def test_L11_2_what_is_pushed_counts() -> None:
    items = f"schedule {{ class byte0.first; {POLICE} }}"
    spec = bare("push mark { m: 1 } before payload; send b;", PACKET + items, "header mark { m: u32; }")
    assert run(spec, [(0, "a", bytes(56))]).dropped == {}
    assert run(spec, [(0, "a", bytes(57))]).dropped == {"policed": 1}


def test_L11_2_what_is_behind_the_network_packet_does_not_count() -> None:
    spec = nf("send b;", f"schedule {{ class flow; {POLICE} }}")
    data = ethernet(ipv4(udp(b"x" * 18)))
    assert len(data) == 60
    assert run(spec, [(0, "a", data + bytes(40))]).dropped == {}


def test_L11_2_each_port_gets_a_copy_of_that_size() -> None:
    items = f"schedule {{ class byte0.first; {POLICE} }}"
    outcome = after("send {a, b};", items, (0, bytes(60)))
    assert (outcome.ports, outcome.dropped) == (["a"], {})  # 60 tokens for the first copy, none for the second


PRIORITY = "serve 8Mbps; buffer 1MB; when full drop;"  # a byte per microsecond


def served(body: str, policy: str, *firsts: int, state: str = "state { n: u64; }") -> list[int]:
    """First bytes in order of leaving: 20 bytes each, all at once; the first finds the port free."""
    items = f"{state} schedule {{ class byte0.first; {policy}; {PRIORITY} }}"
    outcome = after(body, items, *((0, bytes([f]) + bytes(19)) for f in firsts), (1000, bytes(20)))
    return [data[0] for data in outcome.bytes][: len(firsts)]


def test_L11_2_the_policys_values_see_state_as_the_handler_left_it() -> None:
    assert served("n = byte0.first as u64; send b;", "priority n", 1, 2, 3, 4) == [1, 4, 3, 2]


def test_L11_2_and_keep_what_they_were_at_arrival() -> None:
    # n is 4 at the end; 2 was judged with n = 2.
    assert served("n += 1; send b;", "priority 10 - n", 1, 2, 3, 4) == [1, 2, 3, 4]


def test_L11_2_and_fields_as_last_written() -> None:
    # Priorities 255 - first: 2 goes before 3.
    assert served("byte0.first = 255 - byte0.first; send b;", "priority byte0.first", 1, 4, 2, 3) == [
        254,
        253,
        252,
        251,
    ]


@pytest.mark.parametrize("value", ["t[n]", "1 / n"])
def test_L11_2_a_value_that_cannot_be_computed_drops_the_packet(value: str) -> None:
    items = f"state {{ n: u64; t: array<u64>[1]; }} schedule {{ class byte0.first; priority {value}; {PRIORITY} }}"
    outcome = after(
        "if byte0.first == 1 { n = 1; } else { n = 0; } send b;", items, (0, bytes(20)), (1, b"\1" + bytes(19))
    )
    (reason,) = outcome.dropped
    assert reason.startswith(("index past the end of t (spec.nf:", "division by zero (spec.nf:"))
    assert len(outcome.left) == 1


def test_L11_2_the_shortest_packet_counts_as_14_bytes() -> None:
    # 60 bytes of burst: four packets of one byte, at 14 each, and no fifth.
    items = f"schedule {{ class byte0.first; {POLICE} }}"
    outcome = after("send b;", items, *[(0, b"\1")] * 5)
    assert (len(outcome.left), outcome.dropped) == (4, {"policed": 1})
