"""Coverage of a spec: what counts, what is found, what is proved unreachable."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from polysome.engines.trace import Arrival, Trace
from polysome.testing.coverage import Coverage, as_json, campaign, measure, report
from polysome.testing.coverage.searched import Search
from polysome.testing.spec import Spec, load

SECONDS = 20  # at most; all but the tests of what cannot be found take a few


PARSER = """use net.ethernet; use net.ipv4; use net.tcp; use net.udp;
parser small {
  state start { extract ethernet; select ethernet.ether_type { EtherType.ipv4 => ipv4; } }
  state ipv4 { extract ipv4; select ipv4.protocol { IpProtocol.tcp => tcp; IpProtocol.udp => udp; } }
  state tcp { extract tcp; }
  state udp { extract udp; }
  group l4 = tcp | udp;
  value flow: (ipv4, ipv4) = if ipv4 { (ipv4.src, ipv4.dst) } else { (0.0.0.0, 0.0.0.0) };
}"""


def spec(tmp_path: Path, inside: str, before: str = "") -> Spec:
    """An NF with the ports a and b."""
    path = tmp_path / "tiny.nf"
    path.write_text(f"{PARSER}\n{before}\nnf tiny {{\n  port a, b;\n{inside}\n}}\n")
    return load(path)


def solved(spec: Spec, seconds: float = SECONDS) -> Coverage:
    """What z3 alone finds and proves, without random traffic; every trace of the corpus is run again to see it."""
    pytest.importorskip("z3")
    from polysome.testing.coverage.symbolic.chains import Chains

    search = Search(spec, time.monotonic() + seconds)
    search.prove()
    for _ in Chains(search).turns():
        pass
    found = search.coverage()
    assert {o.number for o in measure(spec, found.corpus).reached} <= {o.number for o in found.reached}
    return found


def missing(coverage: Coverage) -> list[str]:
    return [f"{o.point.kind} {o.name}" for o in coverage.missing]


def dead(coverage: Coverage) -> list[str]:
    return [f"{o.point.kind} {o.name}" for o in coverage.dead]


def marks(text: list[str]) -> dict[str, str]:
    """The mark of every line that ends in a statement."""
    lines = [line.partition(" | ") for line in text]
    return {code.strip(): head[0] for head, _, code in lines if code.endswith(("; }", ";")) and code.startswith("    ")}


FRAME = bytes(12) + b"\x08\x00" + bytes.fromhex("4500001c0000000040110000 0a000001 0a000002 0001 0002 0008 0000")


def test_counts_outcomes_and_lines(tmp_path: Path) -> None:
    tiny = spec(
        tmp_path,
        """  relevant ipv4.ttl when ipv4, udp.dport when udp;
  on packet {
    require ipv4 else drop "not IP";
    if udp { send b; }
    send a;
  }""",
    )
    found = measure(tiny, [Trace({}, (Arrival(0, 10, FRAME), Arrival(0, 11, FRAME)))])
    counts = {(o.point.kind, o.name): found.counts[o.number] for o in found.points.outcomes}
    assert counts == {
        ("handler", "runs"): 2,
        ("require", "holds"): 2,
        ("require", "fails"): 0,
        ("if", "true"): 2,
        ("if", "false"): 0,
    }
    assert not found.complete and missing(found) == ["require fails", "if false"]
    text = report(found)
    assert marks(text) == {
        'require ipv4 else drop "not IP";': "~",
        "if udp { send b; }": "~",
        "send a;": "-",
    }
    assert "reached 3 of 5 branch outcomes; 2 not reached" in text
    assert as_json(found)["reached"] == 3


def test_copies_of_an_action_are_one_point(tmp_path: Path) -> None:
    tiny = spec(
        tmp_path,
        """  relevant ipv4.{ttl, dscp} when ipv4;
  action check(limit: u8) { if ipv4 { require ipv4.ttl > limit else drop "old"; } }
  on packet from a { check(1); send b; }
  on packet from b { check(2); send a; }""",
    )
    kinds = [p.kind for p in measure(tiny, []).points.points]
    assert sorted(kinds) == ["handler", "handler", "if", "require"]


@pytest.mark.parametrize(
    "condition",
    [
        "ipv4.identification == 0xbeef and l4.dport == 4242",
        "ipv4.identification * 3 + 1 == 100",
        "payload[2..6] == 0xdeadbeef and payload.len == 7B",
        "len == 333B",
        "l4.sport / 7 == 100 and l4.sport % 7 == 3",
        "flow.0 == 10.0.0.9 and in_port == b",
        "max(l4.sport, l4.dport) - min(l4.sport, l4.dport) == 17",
    ],
)
def test_finds_magic(tmp_path: Path, condition: str) -> None:
    tiny = spec(
        tmp_path,
        f"""  relevant packet;
  on packet {{
    require ipv4 and l4 else drop "other";
    if {condition} {{ send b; }}
    send a;
  }}""",
    )
    assert missing(solved(tiny)) == []


@pytest.mark.parametrize(
    ("state", "body"),
    [
        (
            "m: map<u16, u16> { capacity 8; forever; when full drop; }",
            'let n = m[l4.sport] else { m[l4.sport] = l4.dport; send a; }; require n != 77 else drop "77";',
        ),
        ("n: u32;", 'n += 1; require n < 4 else drop "fourth";'),
        (
            "m: map<u16, Count> { capacity 8; idle 1s; when full drop; }",
            'm[l4.sport].n += 1; require m.len < 3 else drop "third";',
        ),
        (
            "seen: set<u16> { capacity 3; forever; when full drop; }",
            "if l4.sport in seen { send b; } seen.add(l4.sport);",
        ),
        ("bucket: token_bucket(1pps, 2);", 'require bucket.take(1) else drop "too many";'),
        *(
            (
                f"free: pool<u16> {{ from 1..2; per {per}; }} "
                "m: map<u16, u16 from free> { capacity 8; forever; when full drop; }",
                'let n = free.take() else drop "none free"; m[l4.sport] = n;',
            )
            for per in ("l4.dport", "(l4.dport, (l4.dport, true))")
        ),
    ],
)
def test_finds_chains(tmp_path: Path, state: str, body: str) -> None:
    """State that only earlier packets can have made."""
    tiny = spec(
        tmp_path,
        f"""  relevant l4.{{sport, dport}} else drop "other";
  state {{ {state} }}
  on packet {{ {body} send a; }}""",
        before="struct Count { n: u8 }",
    )
    assert missing(solved(tiny)) == []


def test_finds_ends_and_timers(tmp_path: Path) -> None:
    tiny = spec(
        tmp_path,
        """  relevant l4.{sport, dport} else drop "other";
  state { m: map<u16, u16> { capacity 8; idle 5s; when full evict oldest; }  ended: u32;  odd: u32; }
  on packet { m[l4.sport] = l4.dport; if ended > 0 { send b; } send a; }
  on end m(key, value, why) { ended += 1; if value == 4711 { odd += 1; } }
  every 1min { if ended > 0 { ended = 0; } }""",
    )
    assert missing(solved(tiny)) == []


def test_finds_config(tmp_path: Path) -> None:
    tiny = spec(
        tmp_path,
        """  config routes: lpm<ipv4, u8>;
  config limit: u8;
  config hosts: map<ipv4, u16>;
  config allowed: set<u16>;
  relevant ipv4.{src, dst}, l4.sport else drop "other";
  on packet {
    let class = routes[ipv4.dst] else drop "no route";
    require class < limit else drop "limit";
    let port = hosts[ipv4.src] else drop "unknown";
    require port == l4.sport and l4.sport in allowed else drop "port";
    send b;
  }""",
    )
    assert missing(solved(tiny)) == []


def test_a_length_beside_a_number_has_more_bits_than_a_u64(tmp_path: Path) -> None:
    body = """  config hosts: list<ipv4>;
  on packet { require hosts.len > 1 else drop "none"; if hosts.len < 1 { send b; } send a; }"""
    found = solved(spec(tmp_path, body))
    assert missing(found) == [] and dead(found) == ["if true"]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ('require ipv4 else drop "not IP";', ["require fails"]),
        ("if ipv4.ttl & 0xf0 == 0x0f { send b; }", ["if true"]),
        ("if ipv4.ttl > 7 { if ipv4.ttl < 5 { send b; } }", ["if true"]),
        ("if now < n { send b; } n = now;", []),  # that time does not run back is not known
        ("if dear { send b; }", ["if true"]),
        ("if hash(ipv4.src) == 1 { send b; }", []),  # not proved
    ],
)
def test_proves(tmp_path: Path, body: str, expected: list[str]) -> None:
    body = body.replace("ipv4.ttl & 0xf0 ==", "(ipv4.ttl & 0xf0) ==")
    tiny = spec(
        tmp_path,
        f"""  param dear: bool = false;
  relevant ipv4.{{ttl, src}} else drop "other";
  state {{ n: time; }}
  on packet {{ {body} send a; }}""",
    )
    found = solved(tiny)
    assert dead(found) == expected
    assert missing(found) == ([] if expected else ["if true"])
    if "dear" in body:
        assert any("unreachable, it is constant with these params" in line for line in report(found))
    if not expected:
        assert any("not reached (not proved unreachable)" in line for line in report(found))


def test_a_line_that_none_reaches(tmp_path: Path) -> None:
    tiny = spec(
        tmp_path,
        """  relevant ipv4.ttl else drop "other";
  on packet {
    if ipv4.ttl > 255 {
      send b;
    }
    send a;
  }""".replace("> 255", "< 0"),
    )
    text = report(solved(tiny))
    assert marks(text) == {"send b;": "x", "send a;": "+"}
    assert any(line.startswith("reached 3 of 4 branch outcomes; 1 is unreachable") for line in text)


MAGIC = """  relevant ipv4.identification, udp.dport else drop "other";
  on packet {
    if ipv4.identification == 0xbeef and udp.dport == 4242 { send b; }
    send a;
  }"""


def test_a_campaign_has_random_traffic_and_keeps_what_reached_something(tmp_path: Path) -> None:
    pytest.importorskip("z3")
    tiny = spec(tmp_path, MAGIC)
    found = campaign(tiny, seconds=60, seed=1)
    assert missing(found) == [] and found.proved
    assert measure(tiny, found.corpus).reached == found.reached


@pytest.mark.parametrize("turns", [0, 10**9])
def test_random_traffic_goes_on_where_z3_knows_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, turns: int
) -> None:
    """Beside what z3 tries, and when it has nothing left to try."""
    symbolic = pytest.importorskip("polysome.testing.coverage.symbolic.chains")

    def tried(chains: Any) -> Iterator[None]:
        yield from itertools.takewhile(lambda _: not chains.search.over, itertools.repeat(None, turns))

    monkeypatch.setattr(symbolic.Chains, "turns", tried)
    late = itertools.chain(itertools.repeat(FRAME[:14], 100), itertools.repeat(FRAME))
    monkeypatch.setattr(
        "polysome.testing.traffic.seeded", lambda spec, seed: (Trace({}, (Arrival(0, 10, data),)) for data in late)
    )
    found = campaign(spec(tmp_path, "  on packet { if udp { send b; } send a; }"), seconds=20, seed=1)
    assert missing(found) == []


def test_without_z3_nothing_is_said_to_be_unreachable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("polysome.testing.coverage.search.find_spec", lambda name: None)
    both = Trace({}, (Arrival(0, 10, FRAME), Arrival(1, 11, FRAME)))
    monkeypatch.setattr("polysome.testing.traffic.seeded", lambda spec, seed: itertools.repeat(both))
    tiny = spec(tmp_path, "  on packet { if in_port == a and in_port == b { send b; } send a; }")
    found = campaign(tiny, seconds=0.2, seed=1)
    assert (dead(found), found.proved, found.corpus) == ([], False, (both,))
    assert missing(found) == ["if true", "condition true"]
    assert any("pip install 'polysome[symbolic]'" in line for line in report(found))


EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bridge", "forwarder", "load_balancer"])
def test_examples_are_covered(name: str) -> None:
    """All others too, by `polysome test --coverage`; these are the quick ones."""
    pytest.importorskip("z3")
    found = campaign(load(EXAMPLES / name / f"{name}.nf"), seconds=60, seed=0)
    assert missing(found) == []
