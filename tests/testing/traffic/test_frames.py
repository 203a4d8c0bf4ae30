"""Frames take the path they were made for, and are right by judges that share no code with what made them."""

from __future__ import annotations

import random
import shutil
import subprocess
from collections import Counter
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import pytest
from tests.testing.traffic.kit import ODD, builders, example, machine, written

from polysome.captures.write import PcapngWriter
from polysome.testing.spec import Spec
from polysome.testing.traffic.choices import Choices
from polysome.testing.traffic.frames import Frame, dissect, encode
from polysome.testing.traffic.fresh import fresh, set_length
from polysome.testing.traffic.later import answer, error, reverse
from polysome.testing.traffic.routes import route
from polysome.testing.traffic.world import World
from polysome.testing.wire import wrong_checksums


@lru_cache(maxsize=64)
def world_of(spec: Spec, seed: int) -> World:
    return World(spec.program, Choices(random.Random(seed).randbytes(96)), None)


def made(spec: Spec, number: int, rng: random.Random, simple: bool = False) -> Frame:
    """A frame for a parse class."""
    size = 0 if simple else 120
    world = world_of(spec, rng.randrange(8))
    return fresh(spec.program, Choices(rng.randbytes(size)), world, 0, 1, route(spec.program, number))


@pytest.mark.parametrize("name", ["nat", "vxlan_gateway", "router6", "bridge"])
def test_every_parse_class_is_reached_as_intended(name: str) -> None:
    spec = example(name)
    rng = random.Random(1)
    parser = spec.program.parser
    parse = machine(spec, World(spec.program, Choices(b""), None).config).parse
    for number, path in enumerate(parser.classes):
        for round in range(3):
            frame = made(spec, number, rng, simple=round == 0)
            data = encode(spec.program, frame)
            p = parse(0, data)
            names = [parser.instances[i].name for i in path]
            assert tuple(p.path) == path, f"{names}: {[parser.instances[i].name for i in p.path]}, {data.hex()}"
            assert encode(spec.program, dissect(spec.program, p)) == data
            assert not wrong_checksums(data) or any("fragment" in n or "ipv4" in n for n in names), names
            assert not p.short


@pytest.mark.parametrize("name", ["nat", "vxlan_gateway", "router6", "bridge"])
def test_a_header_that_is_announced_and_not_there_ends_the_path(name: str) -> None:
    """Each way to each class. `router6` has a header without bytes, which is there wherever it is announced."""
    spec = example(name)
    parser = spec.program.parser
    world = World(spec.program, Choices(b""), None)
    parse = machine(spec, world.config).parse
    ways = [
        (found, way) for n in range(len(parser.classes)) for found in [route(spec.program, n)] for way in found.broken
    ]
    for found, way in ways:
        frame = fresh(spec.program, Choices(b""), world, 0, 1, replace(found, chains=(), broken=(way,)))
        p = parse(0, encode(spec.program, frame))
        assert tuple(p.path) == found.path, [parser.instances[i].name for i in p.path]
    assert ways


def test_payloads_have_what_is_looked_for_and_what_differs_from_it_in_one_bit(tmp_path: Path) -> None:
    asks = """
      use net.l4;
      nf asks {
        port a, b;
        relevant payload[0..2];
        on packet { if payload[1..2] == 83 { send ports - in_port; } drop "other"; }
      }
    """
    spec, rng = written(tmp_path, asks), random.Random(3)
    seen = Counter(made(spec, 1, rng).payload[1:2] for _ in range(2000))
    assert b"\x53" in dict(seen.most_common(2))
    near = {82, 84, *(83 ^ 1 << bit for bit in range(8))}
    assert all(seen[bytes([value])] for value in near)


def test_rules_and_hooks_are_solved(tmp_path: Path) -> None:
    spec = written(tmp_path, ODD)
    parser = spec.program.parser
    parse = machine(spec, World(spec.program, Choices(b""), None).config).parse
    rng = random.Random(2)
    with_odd = [n for n, path in enumerate(parser.classes) if any(parser.instances[i].name == "odd" for i in path)]
    assert with_odd
    sizes = set()
    for number in with_odd:
        for _ in range(10):
            frame = made(spec, number, rng)
            p = parse(0, encode(spec.program, frame))
            assert tuple(p.path) == parser.classes[number]
            sizes.add(len(frame.layers[-1].rest))
    assert len(sizes) > 1 and all(size % 2 == 1 for size in sizes)  # three fixed bytes, a size of whole 2-byte words


def test_checksums_are_right_unless_they_are_meant_to_be_wrong() -> None:
    spec = example("firewall")
    checked: set[tuple[int, ...]] = set()
    for builder in builders(spec, 60):
        for arrival in builder.arrivals if builder.mood.damage == 0 else ():
            p = builder.machine.parse(arrival.port, arrival.data)
            if not any(spec.program.parser.instances[i].cut is not None for i in p.path):
                checked.add(tuple(p.path))
                assert not wrong_checksums(arrival.data), arrival.data.hex()
    assert len(checked) > 10  # kinds of packets
    damaged = [b for b in builders(spec, 60, seed=1) if b.mood.damage > 0.1]
    assert any(wrong_checksums(a.data) for b in damaged for a in b.arrivals)


def test_the_way_back() -> None:
    spec = example("nat")
    rng = random.Random(3)
    number = spec.program.parser.classes.index(_path(spec, "ethernet", "ipv4", "udp"))
    frame = made(spec, number, rng)
    back = reverse(spec.program, frame)
    shape = frame.layers[2].shape.header
    sport, dport = shape.index("sport"), shape.index("dport")
    assert sport is not None and dport is not None
    assert (back.layers[2].values[sport], back.layers[2].values[dport]) == (
        frame.layers[2].values[dport],
        frame.layers[2].values[sport],
    )
    assert encode(spec.program, reverse(spec.program, back)) == encode(spec.program, frame)
    assert not wrong_checksums(encode(spec.program, answer(spec.program, Choices(b""), frame)))


def test_a_port_that_selects_the_tunnel_stays() -> None:
    spec = example("vxlan_gateway")
    rng = random.Random(4)
    path = _path(
        spec, "outer.ethernet", "outer.ipv4", "outer.udp", "vxlan", "inner.ethernet", "inner.ipv4", "inner.udp"
    )
    frame = made(spec, spec.program.parser.classes.index(path), rng)
    parse = machine(spec, World(spec.program, Choices(b""), None).config).parse
    assert tuple(parse(0, encode(spec.program, reverse(spec.program, frame))).path) == path


@pytest.mark.parametrize("layer", ["tcp", "udp"])
def test_an_error_quotes_what_it_is_about(layer: str) -> None:
    spec = example("nat")
    rng = random.Random(5)
    world = World(spec.program, Choices(b""), None)
    about = made(spec, spec.program.parser.classes.index(_path(spec, "ethernet", "ipv4", layer)), rng)
    data = encode(spec.program, about)
    parse = machine(spec, world.config).parse
    for _ in range(20):
        found = error(spec.program, Choices(rng.randbytes(90)), world, about, 1, 0, data)
        assert found is not None
        p = parse(1, encode(spec.program, found))
        names = [spec.program.parser.instances[i].name for i in p.path]
        assert f"icmp.quoted.{layer}" in names
        quoted = p.data[p.offset[p.path[names.index("icmp.quoted.ipv4")]] :]
        assert quoted[12:20] == data[26:34] and quoted[20:24] == data[34:38]  # its addresses and ports


def test_lengths_follow_the_payload() -> None:
    spec = example("shaper")
    rng = random.Random(6)
    for mood in ("small", "any", "large"):
        sizes = set()
        for _ in range(60):
            frame = made(spec, spec.program.parser.classes.index(_path(spec, "ethernet", "ipv4", "udp")), rng)
            set_length(spec.program, Choices(rng.randbytes(20)), frame, mood)
            data = encode(spec.program, frame)
            sizes.add(len(data))
            assert int.from_bytes(data[16:18], "big") == len(data) - 14
            assert not wrong_checksums(data)
        assert len(sizes) > 3
        assert mood != "large" or max(sizes) > 9000


def _path(spec: Spec, *names: str) -> tuple[int, ...]:
    by_name = {instance.name: i for i, instance in enumerate(spec.program.parser.instances)}
    return tuple(by_name[name] for name in names)


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
def test_tshark_finds_nothing_wrong(tmp_path: Path) -> None:
    """A sample of whole frames, without quotes, and without what is encrypted: there payloads mean nothing."""
    spec = example("nat")
    rng = random.Random(7)
    parser = spec.program.parser
    frames = []
    for number, path in enumerate(parser.classes):
        names = " ".join(parser.instances[i].name for i in path)
        if path and "ah" not in names.split() and "esp" not in names.split() and "quoted" not in names:
            frames.append(encode(spec.program, made(spec, number, rng, simple=True)))
    file = tmp_path / "frames.pcapng"
    with PcapngWriter(file, ["a"]) as writer:
        for n, data in enumerate(frames):
            writer.write(0, 10**18 + n, data)
    command = ["tshark", "-r", str(file), "-T", "fields", "-e", "frame.number"]
    for protocol in ("ip", "tcp", "udp"):
        command += ["-o", f"{protocol}.check_checksum:TRUE"]
    wrong = "_ws.malformed or ip.checksum.status==0 or tcp.checksum.status==0 or udp.checksum.status==0"
    found = subprocess.run([*command, "-Y", wrong], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    assert len(frames) > 50 and found.stdout.split() == []
