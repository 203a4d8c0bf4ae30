"""Kinds that are one description: all of the compiler knows them, and what needs their C++ refuses them in one line."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from typer.testing import CliRunner

from polysome.cli.main import app
from polysome.kinds.base import Method, Option, StateKind
from polysome.kinds.policy import POLICIES
from polysome.kinds.policy.fifo import KIND as FIFO
from polysome.kinds.state import STATE_KINDS

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "load_balancer"
PACKETS = f"clients={EXAMPLE / 'clients.pcap'}"
SPEC = """
use net.l4;
nf last_ports {
  port clients, servers;
  state { recent: ring<(ipv4, u16)> { room 3; } }
  on packet from clients {
    require ipv4 and l4 else drop "no ports";
    if recent.holds((ipv4.dst, l4.dport)) { drop "seen lately"; }
    recent.push((ipv4.dst, l4.dport));
    send servers;
  }
  on packet from servers { send clients; }
  property forgets {
    for p in trace where p.sent and p.in_port == clients expect p.after.recent.holds((p.in.ipv4.dst, p.in.l4.dport));
  }
  property never { for p in trace expect not p.after.recent.holds((p.in.ipv4.dst, p.in.l4.dport)); }
}
"""


class Ring:
    """The last values."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.clear()

    def push(self, value: object) -> None:
        self.items = [*self.items, value][-self.room :]

    def holds(self, value: object) -> bool:
        return value in self.items

    def clear(self) -> None:
        self.items: list[object] = []


RING = StateKind(
    name="ring",
    params=("V",),
    options=(Option("room", "count", required=True, why="it is how many are kept"),),
    methods=(
        Method("push", ("V",), None, writes=True),
        Method("holds", ("V",), "bool", writes=False),
        Method("clear", (), None, writes=True),
    ),
    make=lambda options, ctx: Ring(options["room"]),
    memory=lambda options, key_bits, value_bits: options["room"] * ((key_bits + 7) // 8),
    note=lambda options: f"the last {options['room']}",
)


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setitem(STATE_KINDS, "ring", RING)
    path = tmp_path / "last_ports.nf"
    path.write_text(SPEC, encoding="utf-8")
    return path


def polysome(*words: object) -> tuple[int, str]:
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.output


def test_it_is_checked(spec: Path) -> None:
    code, text = polysome("check", spec)
    assert code == 0 and "the last 3" in text and "recent" in text
    wrong = spec.with_name("wrong.nf")
    wrong.write_text(SPEC.replace("recent.holds((ipv4.dst, l4.dport)) {", "recent.hold(1) {"), encoding="utf-8")
    code, text = polysome("check", wrong)
    assert code == 1 and "`recent` has no member `hold`" in text and "holds" in text
    wrong.write_text(SPEC.replace("room 3;", ""), encoding="utf-8")
    code, text = polysome("check", wrong)
    assert code == 1 and "It is how many are kept" in text


def test_it_runs(spec: Path) -> None:
    code, text = polysome("run", spec, "--in", PACKETS)
    assert code == 0 and "seen lately" in text


def test_it_is_tested_and_planned(spec: Path) -> None:
    command = ("test", spec, "--traces", 30, "--property", "forgets", "--property", "never", "--out", spec.parent)
    code, text = polysome(*command)
    assert code == 1 and "holds    forgets" in text and "FAILS" in text
    code, text = polysome("test", spec, "--coverage", "--seconds", 200)  # it stops when all is reached
    assert code == 0 and "branch outcomes" in text
    code, text = polysome("plan", spec)
    assert code == 0 and "ipv4" in text


def scheduled(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A spec with a policy that is FIFO by another name."""
    instant = dataclasses.replace(FIFO, name="instant", form="instant", native="", native_served="")
    monkeypatch.setitem(POLICIES, "instant", instant)
    path = folder / "scheduled.nf"
    text = "use net.l4;\nnf scheduled { port a, b; schedule { class flow; instant; } on packet { send b; } }\n"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_policy_is_one_description_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = scheduled(tmp_path, monkeypatch)
    code, text = polysome("check", spec)
    assert code == 0 and "instant" in text
    code, text = polysome("run", spec, "--in", f"a={EXAMPLE / 'clients.pcap'}")
    assert code == 0 and "sent               222" in text
    code, text = polysome("run", spec, "--engine", "native", "--in", f"a={EXAMPLE / 'clients.pcap'}")
    assert code and "schedule policy instant" in text
    spec.write_text(spec.read_text(encoding="utf-8").replace("instant;", "instant 3;"), encoding="utf-8")
    code, text = polysome("check", spec)
    assert code == 1 and "E0704" in text and "Write `instant;`" in text


@pytest.mark.parametrize(
    "words",
    [
        ("run", "--engine", "native", "--in", PACKETS),
        ("run", "--engine", "system", "--in", PACKETS),
        ("test", "--engine", "native", "--traces", 2),
        ("test", "--engine", "system", "--traces", 2),
        ("check", "--cost"),
        ("compile", "-o", "out"),
        ("compile", "--site", "site.toml", "--no-proof", "-o", "bundle"),
    ],
    ids=lambda words: " ".join(map(str, words[:3])).replace(str(EXAMPLE), ""),
)
def test_what_needs_its_cpp_refuses_it(spec: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[object, ...]) -> None:
    monkeypatch.chdir(spec.parent)
    site = (EXAMPLE / "site.toml").read_text(encoding="utf-8")
    Path("site.toml").write_text(site.replace("[config]", "").replace('file = "config.toml"', ""), encoding="utf-8")
    code, text = polysome(words[0], spec, *words[1:])
    errors = [line for line in text.splitlines() if line.startswith("error")]
    assert code and len(errors) == 1 and "state of kind ring" in errors[0], text
    assert not (spec.parent / "out").exists() and not (spec.parent / "bundle").exists()
