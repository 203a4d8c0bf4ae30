"""Try: what is said before a packet is what happens then, and what the decision looked at."""

from __future__ import annotations

import struct
import subprocess
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import pytest
from tests.native.test_fields_frames import HELD
from tests.nf_host.test_control import INSIDE, OUTSIDE, udp
from tests.testing.builtin.networks import EXAMPLES, STORE, captured, example
from tests.testing.traffic.kit import written

from polysome.analysis.values_text import text
from polysome.backends.nf_cpp.build import built, missing
from polysome.backends.nf_cpp.config_blob import encode
from polysome.backends.nf_cpp.generate import generate, namespace
from polysome.cli.five_tuple import five_tuple
from polysome.ir import types as t
from polysome.testing import traffic
from polysome.testing.spec import Spec

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(missing() is not None, reason="needs a C++20 compiler: `apt install clang`"),
]
DRIVER = Path(__file__).resolve().parent / "try_driver.cpp"
FLAGS = ("-std=c++20", "-O0", "-g0", "-Wall", "-Wextra", "-Werror", "-fsanitize=undefined", "-fno-sanitize-recover=all")
# The second copy of a packet may leave up to 15 ms after the first.
COPIES = "shape 800Kbps, 1500B; classes 4; idle 1s; buffer 64KB; when full drop;"


@dataclass
class Tried:
    """`would` and `did`: mask of ports, reason, packet. `looks`: state, operation, key, found."""

    would: list[str]
    did: list[str] = field(default_factory=list)
    looks: list[tuple[str, ...]] = field(default_factory=list)


def tried(spec: Spec, config: bytes, packets: list[tuple[int, bytes]]) -> list[Tried]:
    name = namespace(spec.program)
    defined = f'#define NF_HEADER "{name}.hpp"\n#define NF_NAME {name}\n'
    driver = built(name, generate(spec.program), defined + DRIVER.read_text(encoding="utf-8"), FLAGS)
    given = struct.pack(">I", len(config)) + config
    given += b"".join(struct.pack(">HI", port, len(data)) + data for port, data in packets)
    done = subprocess.run([str(driver)], input=given, capture_output=True, check=False, timeout=100)
    assert done.returncode == 0, f"{done.returncode} {done.stderr.decode()[-3000:]}"
    found: list[Tried] = []
    for line in done.stdout.decode().splitlines():
        what, *parts = line.split("\t")
        match what:
            case "would":
                found.append(Tried(parts))
            case "look":
                found[-1].looks.append(tuple(parts))
            case "did":
                found[-1].did = parts
    assert len(found) == len(packets)
    return found


@pytest.mark.parametrize("name", ["nat", "shaper", "telemetry", "store", "copies"])
def test_what_is_said_is_what_happens(name: str, tmp_path: Path) -> None:
    texts = {"store": STORE, "copies": HELD.format(policy=COPIES, to="{b, c}")}
    spec = written(tmp_path, texts[name]) if name in texts else example(name)
    traces = list(islice((t for t in traffic.seeded(spec, 1) if len(t.arrivals) > 8), 2))
    traces += [captured(spec)] if name in EXAMPLES else []
    for trace in traces:
        packets = [(a.port, a.data) for a in trace.arrivals if a.data][:60]
        found = tried(spec, encode(spec.program, trace.config), packets)
        for one, (port, data) in zip(found, packets, strict=True):
            assert one.would == one.did, f"{port} {data.hex()}"
    assert any(one.looks for one in found) == (name not in ("shaper", "copies"))
    assert name != "copies" or any(one.would[0] == "6" for one in found), "both ports"


def flow(spec: Spec, src: str, dst: str, sport: int, dport: int, protocol: int) -> str:
    """A Flow of IPv4, as `polysome test` writes it."""
    kind = next(d.key for d in spec.program.state.values() if getattr(d, "key", None) is not None)  # type: ignore[union-attr]
    assert isinstance(kind, t.Struct) and kind.name == "Flow"
    ends = [0xFFFF << 32 | int.from_bytes(bytes(map(int, a.split(".")))) if a else 0 for a in (src, dst)]
    return text((*ends, sport, dport, protocol), kind, spec.program)


def test_a_backend_and_why() -> None:
    spec = example("load_balancer")
    backends = [(0x0A000200 + n, 0x020000000B00 + n, 1) for n in (1, 2)]
    packet = five_tuple("udp 10.9.9.9:7 -> 10.0.0.100:80").packet()
    other = five_tuple("udp 10.9.9.9:7 -> 10.0.0.99:80").packet()
    first, again, dropped = tried(
        spec, encode(spec.program, {"backends": backends}), [(0, packet), (0, packet), (0, other)]
    )
    key = flow(spec, "10.9.9.9", "10.0.0.100", 7, 80, 17)
    chosen = "Backend { ip: 10.0.2.1, mac: 02:00:00:00:0b:01, uplink: servers }"
    assert first.looks == [
        ("sticky", "find", key, ""),
        ("turn", "read", "", "0"),
        ("backends", "at", "0", chosen),
        ("turn", "read", "", "0"),
        ("sticky", "insert", key, chosen),
    ]
    assert again.looks == [("sticky", "find", key, chosen)]
    assert dropped.looks == [] and dropped.would[1] == "not for the VIP"


def test_a_mapping_and_why() -> None:
    spec = example("nat")
    config = encode(spec.program, {"pool_addresses": [0xC0000201]})
    out = udp("10.0.0.7", "198.51.100.9", 4000, 53)
    back = udp("198.51.100.9", "192.0.2.1", 53, 1024)
    early, first, answer = tried(spec, config, [(OUTSIDE, back), (INSIDE, out), (OUTSIDE, back)])
    mapping = flow(spec, "10.0.0.7", "", 4000, 0, 17)
    endpoint = "Endpoint { ip: 192.0.2.1, port: 1024 }"
    public = f"(17, {endpoint}, ::, 0)"
    assert early.looks == [("back", "find", public, "")] and early.would[1] == "unsolicited"
    assert first.looks == [
        ("out", "find", mapping, ""),
        ("free", "take", "17", endpoint),
        ("out", "insert", mapping, endpoint),
        ("pool_addresses", "contains", "198.51.100.9", "false"),
    ]
    assert answer.looks == [("back", "find", public, f"{mapping} -> {endpoint}")]
