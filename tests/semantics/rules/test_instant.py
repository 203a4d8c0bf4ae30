"""LANGUAGE.md L2.3: everything that may happen at one instant, all at once, in its order."""

from __future__ import annotations

from typing import Any

from rules.harness import BARE, Outcome, run

US = 1000

# What happens notes its number and the time: 1 to 2 map `one`, 3 to 4 map `two`, 5 `slow`, 6 `quick`, 7 a packet.
SPEC = f"""{BARE}
nf tiny {{
  port a, b;
  config level: u8;
  relevant byte0.first else drop "empty";
  state {{
    one: map<u8, u8> {{ capacity 8; idle 30us; when full drop; }}
    two: map<u8, u8> {{ capacity 8; age 30us; when full drop; }}
    order: array<u32>[32];  n: u64;
  }}
  schedule {{ class byte0.first; reframe 30us, 64; }}

  action note(what: u8, more: u8) {{ order[n] = what ++ more ++ level ++ ((now as u64) / 1000)[7:0]; n += 1; }}

  on packet from a {{
    note(7, byte0.first);
    one[byte0.first] = byte0.first;
    two[byte0.first + 100] = byte0.first;
    send b;
  }}
  on packet from b {{ drop "wrong way"; }}
  on end one(k, v, why) {{ note(1, k); }}
  on end two(k, v, why) {{ note(2, k); }}
  every 30us {{ note(5, 0); }}
  every 15us {{ note(6, 0); }}
}}
"""


def noted(outcome: Outcome) -> list[tuple[int, int, int, int]]:
    """(what, more, level, microseconds)."""
    return [(x >> 24, x >> 16 & 255, x >> 8 & 255, x & 255) for x in outcome.state["order"][: outcome.state["n"]]]


def after(*packets: tuple[int, int], changes: list[tuple[int, dict[str, Any]]] | None = None) -> Outcome:
    trace = [(time * US, "a", bytes([first])) for time, first in packets]
    config = [(time * US, values) for time, values in changes or []]
    return run(SPEC, trace, {"level": 0}, config)


def test_L2_3_expiries_then_releases_then_timers_then_config_then_packets() -> None:
    outcome = after((0, 1), (0, 2), (30, 3), changes=[(30, {"level": 5}), (30, {"level": 9})])
    assert noted(outcome) == [
        (7, 1, 0, 0),
        (7, 2, 0, 0),
        (6, 0, 0, 15),
        # At 30: `one` before `two`, as declared; in each the entry first that was inserted first.
        (1, 1, 0, 30),
        (1, 2, 0, 30),
        (2, 101, 0, 30),
        (2, 102, 0, 30),
        # Timers as declared, with the old config; the packet sees the last change in file order.
        (5, 0, 0, 30),
        (6, 0, 0, 30),
        (7, 3, 9, 30),
    ]
    # The release, between them, was at 30 and without the packet that arrived at 30.
    assert [(time, data) for _, time, data, _ in outcome.left] == [(30 * US, b"\1"), (30 * US, b"\2")]
    assert outcome.held == 1


def test_L2_3_due_time_counts_before_the_order_of_one_instant() -> None:
    # At 20 a packet, at 30 the first's entries, at 45 the quick timer, at 50 the second's, at 60 both timers.
    outcome = after((0, 1), (20, 2), (60, 3), changes=[(46, {"level": 4})])
    assert noted(outcome) == [
        (7, 1, 0, 0),
        (6, 0, 0, 15),
        (7, 2, 0, 20),
        (1, 1, 0, 30),
        (2, 101, 0, 30),
        (5, 0, 0, 30),
        (6, 0, 0, 30),
        (6, 0, 0, 45),
        (1, 2, 4, 50),
        (2, 102, 4, 50),
        (5, 0, 4, 60),
        (6, 0, 4, 60),
        (7, 3, 4, 60),
    ]


def test_L2_3_insertion_order_survives_a_write() -> None:
    # 1 is written again at 0, after 2: the same entry, in the same place.
    outcome = after((0, 1), (0, 2), (0, 1), (30, 9))
    assert [(what, key) for what, key, _, _ in noted(outcome) if what in (1, 2)] == [(1, 1), (1, 2), (2, 101), (2, 102)]


def test_L2_3_what_an_event_makes_due_at_its_own_instant_still_comes_then() -> None:
    # The timer at 30 removes an entry; `on end` of that writes into the log at 30, before the packet at 30.
    spec = f"""{BARE}
nf tiny {{
  port a, b;
  state {{
    one: map<u8, u8> {{ capacity 8; forever; when full drop; }}
    n: u64;  seen: u64;
  }}
  on packet {{ one[1] = 1; seen = n; send b; }}
  on end one(k, v, why) {{ n += 10; }}
  every 30us {{ remove one[1]; n += 1; }}
}}
"""
    outcome = run(spec, [(0, "a", b"x"), (30 * US, "a", b"y")])
    assert outcome.state["seen"] == 11


def test_L2_3_a_change_at_the_first_packet_comes_before_it() -> None:
    assert noted(after((0, 1), changes=[(0, {"level": 3})])) == [(7, 1, 3, 0)]


def test_L2_3_what_is_due_with_the_last_packet_comes_after_it() -> None:
    # Everything due at 30 was before the packet at 30; nothing is left for the end but what that packet made due.
    outcome = after((0, 1), (30, 2))
    assert noted(outcome)[-1] == (7, 2, 0, 30)
    assert (outcome.held, len(outcome.left)) == (1, 1)
