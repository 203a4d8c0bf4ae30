"""LANGUAGE.md section 13: where every packet went."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from rules.harness import Outcome, bare, run

US = 1000


def balance(outcome: Outcome) -> tuple[int, int, dict[str, int], int]:
    """Packets in, sent, dropped, held; the sum is right."""
    c = outcome.counters
    assert c.packets_in == c.sent + sum(c.dropped.values()) + outcome.held
    return c.packets_in, c.sent, c.dropped, outcome.held


def after(body: str, items: str, *packets: tuple[int, str, int], ports: str = "a, b, c") -> Outcome:
    trace = [(time * US, port, bytes([first]) + bytes(19)) for time, port, first in packets]
    return run(bare(body, "relevant byte0.first;" + items, ports=ports), trace)


def test_L13_1_every_packet_is_sent_or_dropped_with_a_reason() -> None:
    body = """if byte0.first == 1 { drop "one"; }
      if byte0.first == 2 { send ports - ports; }
      require byte0.first != 3;
      send b;"""
    outcome = after(body, "", *((i, "a", i) for i in range(6)))
    assert balance(outcome) == (6, 3, {"one": 1, "empty port set": 1, "requirement not met": 1}, 0)


def test_L13_1_built_in_reasons_count_like_others() -> None:
    spec = bare("t[n] = 1; n += 1; send b;", "state { n: u64; t: array<u8>[2]; }")
    outcome = run(spec, [(i, "a", b"x") for i in range(4)])
    (reason,) = outcome.dropped
    assert balance(outcome) == (4, 2, {reason: 2}, 0)
    assert reason.startswith("index past the end of t (spec.nf:")


def test_L13_1_a_packet_without_handler_counts() -> None:
    declared = "header byte0 { first: u8; }\nparser bare { state start { extract byte0; } }\n"
    spec = declared + "nf tiny { port a, b; on packet from a { send b; } }"
    assert balance(run(spec, [(0, "a", b"x"), (0, "b", b"x")])) == (2, 1, {"no handler": 1}, 0)


def test_L13_1_copies_are_counted_apart() -> None:
    outcome = after("send ports - in_port;", "", (0, "a", 1), (0, "b", 2))
    assert balance(outcome) == (2, 2, {}, 0)
    assert outcome.counters.copies == 4


def test_L13_1_emitted_packets_are_counted_apart() -> None:
    outcome = after('emit byte0 { first: 1 } to b; emit byte0 { first: 1 } to c; drop "x";', "", (0, "a", 1))
    assert balance(outcome) == (1, 0, {"x": 1}, 0)
    assert (outcome.counters.emitted, outcome.counters.copies) == (2, 0)


REFRAME = "schedule { class byte0.first; reframe 10us, 64; }"


def test_L13_1_what_the_schedule_still_has_at_the_end_is_held() -> None:
    outcome = after("send b;", REFRAME, (0, "a", 1), (5, "a", 2), (12, "a", 3))
    assert balance(outcome) == (3, 2, {}, 1)


def test_L13_1_what_is_due_with_the_last_packet_is_not_held() -> None:
    outcome = after("send b;", REFRAME, (0, "a", 1), (10, "a", 2))
    assert balance(outcome) == (2, 1, {}, 1)


# A byte per microsecond and port; 20 bytes may wait.
SERVE = "schedule { class byte0.first; fifo; serve 8Mbps; buffer 20B; when full drop; }"


def test_L13_1_the_schedules_drops_have_a_reason() -> None:
    # The first leaves, the second waits, the third finds no room.
    outcome = after("send b;", SERVE, *[(0, "a", 1)] * 3)
    assert balance(outcome) == (3, 1, {"buffer full": 1}, 1)


def test_L13_1_a_packet_is_sent_if_one_copy_leaves_whatever_becomes_of_the_others() -> None:
    # Port b is busy and what waits for it fills the buffer; port c is free.
    body = "if byte0.first == 9 { send {b, c}; } send b;"
    outcome = after(body, SERVE, (0, "a", 1), (0, "a", 1), (0, "a", 9))
    assert balance(outcome) == (3, 2, {}, 1)
    assert outcome.counters.copies == 2


def test_L13_1_a_packet_is_held_while_a_copy_is_held_and_none_has_left() -> None:
    # Both ports are busy; the copy for b finds room, that for c does not.
    body = "if byte0.first == 9 { send {b, c}; } send {b, c};"
    outcome = after(body, SERVE, (0, "a", 1), (0, "a", 9))
    assert balance(outcome) == (2, 1, {}, 1)


def test_L13_1_a_packet_is_dropped_once_if_all_copies_are() -> None:
    body = "if byte0.first == 9 { send {b, c}; } send {b, c};"
    outcome = after(body, SERVE, (0, "a", 1), (0, "a", 1), (0, "a", 9))
    assert balance(outcome) == (3, 1, {"buffer full": 1}, 1)
    assert outcome.counters.copies == 2


@settings(max_examples=100)
@given(
    st.lists(st.tuples(st.integers(0, 15), st.sampled_from("abc"), st.integers(0, 9)), max_size=25),
    st.sampled_from(["", REFRAME, SERVE]),
)
def test_L13_1_on_any_trace(gaps: list[tuple[int, str, int]], schedule: str) -> None:
    body = """
      if byte0.first < 2 { drop "small"; }
      emit byte0 { first: 1 } to c;
      if byte0.first < 4 { send ports - in_port; }
      if byte0.first < 5 { send ports - ports; }
      if byte0.first < 6 { t[9] = 1; }
      bounce;
    """
    time, packets = 0, []
    for gap, port, first in gaps:
        time += gap
        packets.append((time, port, first))
    outcome = after(body, "state { t: array<u8>[2]; }" + schedule, *packets)
    packets_in, sent, dropped, _ = balance(outcome)
    assert packets_in == len(packets)
    assert sent == len({order for _, _, _, order in outcome.left})
    assert outcome.counters.copies == len(outcome.left)
    assert outcome.counters.emitted == len(outcome.emitted) == sum(first >= 2 for _, _, first in packets)
    assert set(dropped) <= {"small", "empty port set", "buffer full"} | {
        r for r in dropped if r.startswith("index past")
    }
