"""The properties of the library, `stdlib/test`: each kind in an NF of its own, whose names agree or are given."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from polysome.analysis.all import analyse
from polysome.engines import ENGINES
from polysome.engines.trace import Arrival, Trace
from polysome.ir import program as ir
from polysome.semantics.check import check
from polysome.syntax.diagnostics import Report, SpecError
from polysome.testing.execution import execute
from polysome.testing.judge import properties
from polysome.testing.spec import Spec
from polysome.testing.traffic import seeded

LIBRARY = Path(__file__).parents[2] / "stdlib" / "test"
PROPERTIES = Path(__file__).parents[1] / "properties"
WIRE = "on packet from {0} {{ send {1}; }} on packet from {1} {{ send {0}; }}"

# File: ports, params and the `use` where the names agree; then where they are given.
KINDS: dict[str, tuple[tuple[str, str, str], tuple[str, str, str]]] = {
    "acl": (("lan, wan", "", "test.acl"), ("lan, wan", "", "test.acl as filter")),
    "bridge": (
        ("lan, wan", "param ageing: duration = 300s;", "test.bridge"),
        ("lan, wan", "", "test.bridge { ageing: 10s, floods_groups: false }"),
    ),
    "checksums": (("lan, wan", "", "test.checksums"), ("lan, wan", "", "test.checksums as sums")),
    "connection_limiter": (
        ("inside, outside", "param limit: u64 = 9; param idle: duration = 4min;", "test.connection_limiter"),
        ("lan, wan", "", "test.connection_limiter { inside: lan, limit: 9, idle: 4min }"),
    ),
    "firewall": (
        ("inside, outside", "param idle: duration = 30s;", "test.firewall"),
        ("lan, wan", "", "test.firewall { inside: lan, outside: wan, idle: 30s, longest: 1h }"),
    ),
    "limiter": (
        ("inside, outside", "param rate: bitrate = 1Mbps; param burst: bytes = 3KB;", "test.limiter"),
        ("lan, wan", "", "test.limiter { inside: wan, rate: 1Mbps, burst: 3KB, per_source: true, layer3: true }"),
    ),
    "link": (
        ("lan, wan", "param rate: bitrate = 1Mbps;", "test.link"),
        ("lan, wan", "param serve: bitrate = 1Mbps;", "test.link { rate: serve }"),
    ),
    "load_balancer": (
        ("clients, servers", "param idle: duration = 30s;", "test.load_balancer"),
        ("lan, wan", "", "test.load_balancer { clients: wan, idle: 30s, sticky: false }"),
    ),
    "marker": (("lan, wan", "", "test.marker"), ("lan, wan", "", "test.marker as colours")),
    "nat": (
        ("inside, outside", "param idle: duration = 5min;", "test.nat"),
        ("lan, wan", "", "test.nat { inside: lan, outside: wan, idle: 5min, tcp_idle: 2h, lowest: 1024 }"),
    ),
    "packet_limiter": (
        ("inside, outside", "param rate: packetrate = 2pps; param burst: u64 = 2;", "test.packet_limiter"),
        ("lan, wan", "", "test.packet_limiter { inside: lan, rate: 2pps, burst: 2 }"),
    ),
    "policer": (
        ("inside, outside", "param rate: bitrate = 1Mbps; param burst: bytes = 3KB;", "test.policer"),
        ("lan, wan", "", "test.policer { inside: lan, rate: 1Mbps, burst: 3KB, per_source: false }"),
    ),
    "router": (("lan, wan", "", "test.router"), ("lan, wan", "", "test.router as rfc1812")),
    "scheduler": (
        ("lan, wan", "param hold: duration = 1ms;", "test.scheduler"),
        ("lan, wan", "", "test.scheduler { hold: 1ms }"),
    ),
    "shaper": (
        (
            "lan, wan",
            "param rate: bitrate = 1Mbps; param burst: bytes = 3KB; param hold: duration = 1s;",
            "test.shaper",
        ),
        ("lan, wan", "", "test.shaper { rate: 1Mbps, burst: 3KB, hold: 1s }"),
    ),
    "telemetry": (
        ("lan, wan", "", "test.telemetry"),
        ("inside, outside", "", "test.telemetry { lan: inside, wan: outside }"),
    ),
    "transparent": (("lan, wan", "", "test.transparent"), ("lan, wan", "", "test.transparent as wire")),
    "tunnel": (("access, fabric", "", "test.tunnel"), ("lan, wan", "", "test.tunnel { access: lan, fabric: wan }")),
}
USES = [(kind, number) for kind in KINDS for number in (0, 1)]


def wire(kind: str, number: int) -> str:
    """An NF of two ports that passes everything."""
    ports, params, use = KINDS[kind][number]
    parser = "net.tunnel" if kind == "tunnel" else "net.l4"
    return f"use {parser};\nnf wire {{ port {ports}; {params} use {use}; {WIRE.format(*ports.split(', '))} }}\n"


def checked(folder: Path, text: str) -> tuple[Path, ir.Program, Report]:
    path, report = folder / "spec.nf", Report()
    path.write_text(text, encoding="utf-8")
    program = check(path, report)
    analyse(program, report)
    report.stop_on_errors()
    return path, program, report


def broken(path: Path, program: ir.Program, small: bool = False, count: int = 20) -> Iterator[tuple[str, int]]:
    """The properties that traffic breaks, and with how many packets."""
    spec = Spec(path, program)
    spec = spec.small() if small else spec
    judges = properties(spec.program)
    for trace in seeded(spec, 5, count=count):
        run = execute(spec, trace, ENGINES["interp"])
        for judge in judges:
            if judge.judge(run).failure is not None:
                yield judge.name, len(trace.arrivals)


def test_every_file_is_here() -> None:
    blocks = {p.stem for p in LIBRARY.glob("*.nf") if "\nblock " in p.read_text(encoding="utf-8")}
    assert blocks == set(KINDS)


@pytest.mark.parametrize(("kind", "number"), USES)
def test_one_line_gives_an_nf_the_properties_of_its_kind(kind: str, number: int, tmp_path: Path) -> None:
    _, program, report = checked(tmp_path, wire(kind, number))
    assert report.diagnostics == []
    assert len(program.properties) > 0
    alias = KINDS[kind][number][2].split("{")[0].split(" as ")[-1].strip().removeprefix("test.")
    for found in program.properties:
        assert found.name.startswith(f"{alias}."), found.name
        assert found.doc.endswith((".", ".)")), f"{found.name} does not say what it promises"
        assert found.span.file.startswith("stdlib/test/")


@pytest.mark.parametrize(
    "kind", sorted(k for k in KINDS if k not in ("acl", "checksums", "marker", "router", "scheduler"))
)
def test_what_it_needs_and_is_not_there_is_said(kind: str, tmp_path: Path) -> None:
    """A port or param without its value."""
    text = f"use net.l4; nf wire {{ port x, y; use test.{kind}; on packet {{ send x; }} }}"
    if kind in ("transparent", "link", "shaper", "bridge"):
        text = text.replace("port x, y;", f"port x, y; param own: u8 = 1; use test.{kind} as other {{ own: own }};")
    with pytest.raises(SpecError) as found:
        checked(tmp_path, text)
    assert {d.code for d in found.value.diagnostics} <= {"E0218", "E0219", "E0220"}


def test_a_parser_that_lacks_a_header_is_told_so(tmp_path: Path) -> None:
    for kind in sorted(KINDS.keys() - {"transparent", "bridge", "scheduler", "shaper", "link", "telemetry"}):
        text = wire(kind, 0).replace("use net.l4;", "use net.ethernet; parser p { state start { extract ethernet; } }")
        text = text.replace("use net.tunnel;", "use net.l4;")
        with pytest.raises(SpecError) as found:
            checked(tmp_path, text)
        (error,) = found.value.diagnostics
        assert error.code == "E0224" and f"`test.{kind}` does not fit this NF" in error.message


@pytest.mark.parametrize("kind", ["connection_limiter", "limiter", "load_balancer", "packet_limiter"])
def test_what_is_said_of_ports_needs_no_ipv6(kind: str, tmp_path: Path) -> None:
    own = (PROPERTIES / "wrong" / "forgetful_balancer.nf").read_text(encoding="utf-8")
    parser = own[: own.index("nf forgetful_balancer")]
    parser = parser.replace("group l4", "group ip = ipv4;\n  group l4")
    checked(tmp_path, wire(kind, 0).replace("use net.l4;", parser))


# ---------------------------------------------------------------- they hold, and they catch

LIMITER = """use net.l4;
nf limiter {
  port inside, outside;
  param rate: bitrate = 1Mbps;
  param burst: bytes = 3KB;
  use test.limiter;
  state { m: map<Flow, token_bucket(RATE, burst)> { capacity 1K; idle 30s; when full HOW; } }
  on packet from inside { require CONDITION else drop "too fast"; send outside; }
  on packet from outside { send inside; }
}
"""
RIGHT = {"RATE": "rate", "CONDITION": "m[flow].take(len)", "HOW": "drop"}


def limiter(**changed: str) -> str:
    text = LIMITER
    for name, value in (RIGHT | changed).items():
        text = text.replace(name, value)
    return text


@pytest.mark.parametrize("how", ["drop", "pass", "evict oldest"])
def test_a_right_limiter_holds_even_when_it_is_full(how: str, tmp_path: Path) -> None:
    path, program, _ = checked(tmp_path, limiter(HOW=how))
    assert list(broken(path, program)) == []
    assert list(broken(path, program, small=True)) == []


FLOORED = """use net.l4;
struct Bucket { tokens: u64, last: time }
nf limiter {
  port inside, outside;
  param rate: packetrate = 2pps;
  param burst: u64 = 2;
  use test.packet_limiter as limiter;
  state { m: map<Flow, Bucket> { capacity 1K; idle 30s; when full drop; } }
  on packet from inside {
    let b = m[flow] else Bucket { tokens: burst, last: now };
    let tokens = min(b.tokens + (now - b.last) / 500ms, burst);
    m[flow] = Bucket { tokens: if tokens > 0 { tokens - 1 } else { 0 }, last: now };
    require tokens > 0 else drop "too fast";
    send outside;
  }
  on packet from outside { send inside; }
}
"""
FAST, SLOW = (0, 0, 0, 0), (0, 0, 0, 8_000_000)  # 1000 bytes each; at 1 Mbit/s they take 8 ms
STEPS = (0, 0, 400_000_000, 800_000_000)


@pytest.mark.parametrize(
    ("text", "times", "caught"),
    [
        (limiter(CONDITION="m[flow].has(len)"), FAST, "limiter.never_above"),
        (limiter(CONDITION="m[flow].take(60B)"), FAST, "limiter.never_above"),
        (limiter(RATE="2Mbps"), (0, 0, 0, 4_000_000), "limiter.never_above"),
        (limiter(RATE="500Kbps"), SLOW, "limiter.never_starved"),
        (FLOORED, STEPS, "limiter.never_starved"),
    ],
    ids=["never limits", "counts packets", "too fast", "too slow", "floored refill"],
)
def test_a_wrong_limiter_is_caught(text: str, times: tuple[int, ...], caught: str, tmp_path: Path) -> None:
    path, program, _ = checked(tmp_path, text)
    assert judged(path, program, times) == [caught]


@pytest.mark.parametrize("times", [FAST, SLOW, (0, 0, 0, 7_999_999), (0, 24_000_000, 24_000_000, 24_000_000)])
def test_a_right_limiter_is_not(times: tuple[int, ...], tmp_path: Path) -> None:
    path, program, _ = checked(tmp_path, limiter())
    assert judged(path, program, times) == []


def judged(path: Path, program: ir.Program, times: tuple[int, ...]) -> list[str]:
    """What is broken by packets of one flow, 1000 bytes each, that arrive at the first port at these times."""
    start = 10**18
    trace = Trace({}, tuple(Arrival(0, start + time, udp(1000)) for time in times))
    run = execute(Spec(path, program), trace, ENGINES["interp"])
    return [judge.name for judge in properties(program) if judge.judge(run).failure is not None]


def udp(size: int) -> bytes:
    """A frame of so many bytes, UDP over IPv4 from 10.0.0.1 to 10.0.0.2, port 1000 to 2000, without UDP checksum."""
    words = [0x4500, size - 14, 0, 0, 0x4011, 0, 0x0A00, 1, 0x0A00, 2]
    total = sum(words)
    words[5] = 0xFFFF - (total % 0xFFFF)
    words += [1000, 2000, size - 34, 0]
    head = bytes.fromhex("0200000000020200000000010800") + b"".join(w.to_bytes(2, "big") for w in words)
    return head.ljust(size, b"x")
