"""What a failed property tells: what was expected, the names, the value of every part, as the language writes them."""

from __future__ import annotations

from .kit import S, judged, run, spec
from .talk import CONFIG, LATER, NF, SPREAD, TALK, judge, one


def failure(text: str, packets: list[tuple[int, str, bytes]]) -> tuple[tuple[int, ...], list[str]]:
    found = judge(text, packets).failure
    assert found is not None
    return found.packets, list(found.said)


def test_a_failure_says_what_was_expected_and_every_value() -> None:
    packets, said = failure(
        "for p, q in trace where p.flow == q.flow let gap = q.at - p.at;\n"
        "    expect q.out.ipv4.ttl == p.in.ipv4.ttl and p.after.seen[p.flow] < 2 and gap / 2 > 1s;",
        TALK[:3],
    )
    flow = "Flow { src: ::ffff:10.0.0.1, dst: ::ffff:10.0.0.2, sport: 1000, dport: 80, protocol: 17 }"
    assert packets == (0, 2)
    assert said == [
        "expected: q.out.ipv4.ttl == p.in.ipv4.ttl and p.after.seen[p.flow] < 2 and gap / 2 > 1s",
        f"p = packet 1, 100 bytes, {flow}, from a at start; sent to b at start",
        f"q = packet 3, 100 bytes, {flow}, from a at start + 1s; sent to b at start + 1s",
        "gap = 1s",
        "q.out.ipv4.ttl == p.in.ipv4.ttl and p.after.seen[p.flow] < 2 and gap / 2 > 1s = false",
        "q.out.ipv4.ttl == p.in.ipv4.ttl and p.after.seen[p.flow] < 2 = false",
        "gap / 2 > 1s = false",
        "q.out.ipv4.ttl == p.in.ipv4.ttl = false",
        "p.after.seen[p.flow] < 2 = true",
        "gap / 2 = 500ms",
        "q.out.ipv4.ttl = 63",
        "p.in.ipv4.ttl = 64",
        "p.after.seen[p.flow] = 1",
        f"p.flow = {flow}",
    ]


def test_a_failure_says_what_was_asked_of_functions_over_packets() -> None:
    """And nothing of their bodies, where `p` may be another packet than it is here."""
    functions = (
        "fn most(p: packet, n: u64) -> bool { p.number <= n } fn swapped(q: packet, p: packet) -> bool { most(p, 0) }"
    )
    asked = "property asked { for p, q in trace expect swapped(q, p) and most(q, p.number); }"
    nf = spec(NF.replace("PROPERTIES", f"{functions} {asked}"))
    found = judged(run(nf, TALK[:2], CONFIG), "asked").failure
    assert found is not None
    assert found.said[0] == "expected: swapped(q, p) and most(q, p.number)"
    assert [line for line in found.said if " = " in line and "packet" not in line] == [
        "swapped(q, p) and most(q, p.number) = false",
        "swapped(q, p) = true",
        "most(q, p.number) = false",
        "p.number = 0",
    ]


def test_a_failure_shows_values_as_the_language_writes_them() -> None:
    _, said = failure(
        'for p in trace expect p.reason == "x" or p.left == p.at or p.in.ethernet.src != 02:00:00:00:00:01 '
        "or p.ports == {a} or bytes(p.flow, p.at..p.at + 1s) / 2s > 1Kbps;",
        [(5 * S, "a", one(dport=443))],
    )
    assert 'p.reason = "no TLS"' in said and "p.left = undefined" in said and "p.ports = {}" in said
    assert "p.in.ethernet.src = 02:00:00:00:00:01" in said and len(said) <= 20
    assert "bytes(p.flow, p.at..p.at + 1s) / 2s = about 0bps" in said


def test_a_failure_of_outputs_says_the_first_difference() -> None:
    packets, said = failure("expect outputs(ties: 4) == outputs();", SPREAD)
    assert packets == ()
    assert any(line.startswith("outputs(ties: 4): packet 3 is held") for line in said), said
    assert any(line.startswith("outputs(): packet 3 leaves by b: 02 00") for line in said), said


def test_a_failure_about_emitted_packets_names_what_caused_them() -> None:
    _, said = failure("for e in emitted expect e.note.number == 78;", LATER)
    assert said[1] == "e = emitted packet 1, to c at start + 2s" and "e.note.number = 77" in said


def test_long_failures_are_cut() -> None:
    many = " or ".join(f"p.number == {n + 10}" for n in range(30))
    _, said = failure(f"for p in trace expect {many};", TALK)
    assert len(said) == 20 and said[-1].startswith("…")
