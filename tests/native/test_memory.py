"""The memory of state as `polysome check` prints it: against what C++ lays out, and against what the system gives."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from polysome.backends.nf_cpp.build import compiler, missing
from polysome.backends.nf_cpp.generate import generate
from polysome.backends.nf_cpp.memory import state_size
from polysome.backends.nf_cpp.names import identifier
from polysome.backends.nf_cpp.sizes import of_state
from polysome.ir import program as ir
from polysome.resources import folder
from polysome.semantics.check import check
from polysome.syntax.diagnostics import Report

pytestmark = [pytest.mark.skipif(missing() is not None, reason=missing() or ""), pytest.mark.slow]

HERE = Path(__file__).resolve().parent
EXAMPLES = sorted((HERE.parents[1] / "examples").glob("*/*.nf"))

ODD = """use net.l4;

struct Inner { a: u8, b: u64, c: bool }
struct Outer { x: bool, inner: Inner, y: u16, z: (u8, mac, bool) }
struct Wide { a: ipv6, b: u8, c: ipv6, d: u8, e: ipv6 }
struct Meter { bucket: token_bucket(1Mbps, 10KB), hits: u16, over: bool }
struct Pair { host: ipv4, number: u16 }
enum Phase { opening, open, closing }

nf odd {
  port a, b;
  config rows: list<Pair>;

  state {
    numbers: pool<u16> { from 1024..65535; }
    pairs: pool<(u8, u16)> { from 1..3, 1..900; }
    divided: pool<Pair> { from 10.0.0.1..10.0.0.20, 1..9; per ipv4.protocol; }

    nested: map<u32, Outer> { capacity 1000; idle 1s; when full drop; }
    one: map<bool, bool> { capacity 1; forever; when full pass; }
    mixed: map<(u8, ipv6, bool), (u8, ipv6, bool, u32)> { capacity 12345; forever; when full evict oldest; }
    wide: map<Wide, Wide> { capacity 63; age 2h; when full evict oldest; }
    both: map<ipv4, Phase> { capacity 100K; idle 5s; age 1min; when full evict oldest; }
    varying: map<Pair, duration> { capacity 4096; idle value max 1h; age life(key.number) max 2h; when full drop; }
    slow: map<Pair, duration> { capacity 4096; idle value max 1h; when full evict oldest; }
    meters: map<ipv6, Meter> { capacity 640; idle 10s; when full evict oldest; }
    nets: map<ipv4, prefix> { capacity 640; age 10s; when full evict oldest; }
    many: map<mac, set<port>> { capacity 20M; age 10s; when full drop; }

    taken: map<Flow, u16 from numbers> { capacity 1000; idle 10s; when full drop; }
    mapped: map<Flow, Pair from divided> { capacity 1000; idle 10s; when full drop; }
    several: map<Flow, Outer> { capacity 3000; idle 10s; when full evict oldest; }
    index by_y: several by (value.y, key.src);
    index by_b: several by value.inner.b;
    index by_all: several by (value.z, value.x, key.protocol);
    chosen: map<Flow, ref rows> { capacity 3000; idle 10s; when full evict oldest; }
    index by_host: chosen by (value.host, key.src, key.sport);
    index by_number: chosen by (key.dport, value.number);
    gone: map<u16, Phase> { capacity 500; idle 1s; when full drop; }

    hosts: set<ipv4> { capacity 100; idle 1s; when full pass; }
    links: set<(mac, mac)> { capacity 200; forever; when full evict oldest; }
    triples: set<(mac, ipv6, u16)> { capacity 200; idle 1s; age life(key.2) max 1s; when full drop; }

    bits: array<bool>[1000];
    outers: array<Outer>[10];
    buckets: array<token_bucket(1Mpps, 10)>[10];
    ports: array<port>[7];
    phase: Phase;
    outer: Outer;
    bucket: token_bucket(1Mpps, 10);

    few: top_k<u8> { k 5; }
    some: top_k<Flow> { k 10; error 0.1%; }
    counts: count_min<Pair> { error 1%; }
    seen: bloom<Pair> { capacity 1000; error 1%; }
    distinct: hyperloglog<Pair> { error 3%; }

    flows: map<Flow, u64> { capacity 1M; idle 30s; when full drop; }
    oldest: map<ipv6, u16> { capacity 1M; idle 5s; when full evict oldest; }
    uses: set<Flow> { capacity 1M; forever; when full evict oldest; }
  }
  fn life(n: u16) -> duration { if n > 1000 { 1s } else { 2s } }
  on end gone(key, value, why) { phase = value; }
  on packet from a { send b; }
  on packet from b { send a; }
}
"""
FILLED = ("flows", "oldest", "uses")
MILLION = 1_000_000

Printed = dict[str, tuple[int, int]]
State = dict[str, tuple[ir.Program, ir.AnyState]]


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> State:
    """All state of all programs, by names as the driver prints them."""
    odd = tmp_path_factory.mktemp("spec") / "odd.nf"
    odd.write_text(ODD, encoding="utf-8")
    programs = [check(path, Report()) for path in (*EXAMPLES, odd)]
    return {f"{p.name}.{decl.name}": (p, decl) for p in programs for decl in p.state.values()}


@pytest.fixture(scope="module")
def driver(state: State, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The executable: with a capacity it fills maps of that size, else it shows all state."""
    place = tmp_path_factory.mktemp("driver")
    programs = {identifier(program.name): program for program, _ in state.values()}
    for name, program in programs.items():
        (place / f"{name}.hpp").write_text(generate(program), encoding="utf-8")
    includes = "".join(f'#include "{name}.hpp"\n' for name in programs)
    fills = "".join(f'Fill<{_type("odd", name)}>::run("odd.{name}", capacity);\n' for name in FILLED)
    main = (
        "using namespace polysome::test;\nint main(int count, char** arguments) {\n"
        "if (count > 1) {\nconst uint64_t capacity = std::strtoull(arguments[1], nullptr, 10);\n"
        f"{fills}}} else {{\n{''.join(_shows(state))}}}\n}}\n"
    )
    (place / "main.cpp").write_text(f'{includes}#include "memory_driver.cpp"\n{main}', encoding="utf-8")
    flags = ("-std=c++20", "-O1", f"-I{place}", f"-I{HERE}", f"-I{folder('runtime')}")
    command = [*(compiler() or ()), *flags, str(place / "main.cpp"), "-o", str(place / "main")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:4000]
    return place / "main"


def _type(nf: str, name: str) -> str:
    return f"decltype(polysome::nf::{identifier(nf)}::Nf::State::{identifier(name)})"


def _shows(state: State) -> Iterator[str]:
    for name, (program, decl) in state.items():
        if isinstance(decl, ir.PoolDecl) and any(isinstance(axis, str) for axis in decl.axes):
            continue  # how large it is, the config says
        sizes = (decl.size,) if isinstance(decl, ir.ArrayDecl) else of_state(decl)
        listed = ", ".join(f"{size}u" for size in sizes)
        yield f'Show<{_type(program.name, decl.name)}>::run("{name}", {{{listed}}});\n'


def printed(driver: Path, arguments: Sequence[str] = ()) -> Printed:
    done = subprocess.run([driver, *arguments], capture_output=True, text=True, check=True)
    rows = [line.split() for line in done.stdout.splitlines()]
    return {name: (int(entry), int(memory)) for name, entry, memory in rows}


def bitmaps(decl: ir.MapDecl) -> int:
    """Bytes that the bitmaps of a timing wheel's slots take at most: there is a slot for 32 entries, at least 64."""
    return decl.capacity // 32 // 7 + 64


def notes(decl: ir.MapDecl) -> int:
    """Bytes that notes in a timing wheel take at most: a chunk for 15, and one for each slot."""
    return 128 * min(decl.capacity, decl.capacity // 15 + decl.capacity // 32 + 64)


def test_what_the_compiler_lays_out(state: State, driver: Path) -> None:
    wrong = []
    for name, (entry, memory) in printed(driver).items():
        program, decl = state[name]
        said = state_size(program, decl)
        match decl:
            case ir.MapDecl():  # empty, so without what waits in queues; the C++ counts bitmaps of slots
                low, high = memory - bitmaps(decl), memory + 24 * decl.capacity + notes(decl)
                right = said.entry == entry and low <= said.memory <= high
                if decl.capacity >= 10_000:
                    right = right and 0.995 < said.memory / (entry * decl.capacity) < 1.05
            case ir.PoolDecl():
                right = memory * 0.9 - 4096 < said.memory <= memory
            case _:
                right = (said.entry or 0, said.memory) == (entry, memory)
        if not right:
            wrong.append(f"{name}: {entry} B each, {memory} B; said: {said.entry}, {said.memory}")
    assert not wrong, "\n".join(wrong)


def test_what_the_system_gives(state: State, driver: Path) -> None:
    """Within 10 % of what is said, by entries and in all, for maps of a million."""
    for name, (grown, memory) in printed(driver, [str(MILLION)]).items():
        program, decl = state[name]
        assert isinstance(decl, ir.MapDecl)
        said = state_size(program, replace(decl, capacity=MILLION))
        assert said.entry is not None
        assert said.memory * 0.96 < memory < said.memory + 32_768, name
        assert said.memory * 0.9 < grown < said.memory * 1.1, (name, grown, said)
        assert said.entry * MILLION * 0.9 < grown < said.entry * MILLION * 1.1, (name, grown, said)
