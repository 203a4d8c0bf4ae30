"""How long the specs' own properties take to judge a long trace: 10 000 packets of 50 flows, and of 5.

Packets go out through the NF, and what leaves is answered (addresses and ports swapped), so that stateful NFs have
something to do; one packet per millisecond. Seconds are of the CPU. What counts is pairs per second: five flows have
ten million pairs.

    PYTHONPATH=compiler:. python tests/bench/bench_properties.py [--packets N] [SPEC...]   default: catalogue, examples
"""

from __future__ import annotations

import argparse
import random
import time
from pathlib import Path
from typing import Any

from tests.semantics.rules.packets import ethernet, ipv4, ipv6, tcp, udp
from tests.testing.judge.kit import default

from polysome.engines import ENGINES
from polysome.engines.trace import Arrival, Trace
from polysome.testing.execution import Execution, execute
from polysome.testing.judge import properties
from polysome.testing.spec import Spec, load

ROOT = Path(__file__).resolve().parents[2]
STEP = 10**6  # ns between packets
SLOW = 2.0  # seconds; runs above are marked
MADE_UP: dict[str, Any] = {  # for the catalogue, which has no config files
    "backends": tuple((0x0A000100 + n, 0x020000000100 + n, 1, 1) for n in range(4)),
    "addresses": (0xC0000201, 0xC0000202),
}
# Where the first port's packets go to, if not just anywhere.
TO = {"load_balancer": "10.0.0.100"}


def opened(path: Path) -> Spec:
    """The spec with the config beside it."""
    files = [str(p) for p in path.parent.glob("config*.toml")] + [f"{p.stem}={p}" for p in path.parent.glob("*.csv")]
    return load(path, config=files if path.is_relative_to(ROOT / "examples") else None)


def outgoing(spec: Spec, count: int, flows: int) -> list[Arrival]:
    """Packets at the first port."""
    rng, found = random.Random(1), []
    for n in range(count):
        flow = rng.randrange(flows)
        kind = tcp if flow % 2 else udp
        inner = kind(b"x" * rng.randrange(20, 400), 1024 + flow, 80)
        if spec.program.name == "router6":
            packet = ipv6(inner, src=f"2001:db8:1::{flow + 9:x}", dst="2001:db8:2::9")
        else:
            packet = ipv4(inner, src=f"10.0.0.{flow % 5 + 1}", dst=TO.get(spec.program.name, "192.0.2.9"))
        sender = f"02:00:00:00:01:{flow:02x}"
        found.append(Arrival(0, 10**9 + n * STEP, ethernet(packet, src=sender, dst="02:00:00:00:00:01")))
    return found


def answered(execution: Execution) -> list[Arrival]:
    """What left, sent back from where it left to."""
    found = []
    for fate in execution.record.fates:
        for copy in fate.copies[:1]:
            data = bytearray(copy.data)
            data[0:6], data[6:12] = data[6:12], data[0:6]
            if data[12:14] == b"\x08\0" and data[14] == 0x45:
                data[26:30], data[30:34] = data[30:34], data[26:30]
                data[34:36], data[36:38] = data[36:38], data[34:36]
            found.append(Arrival(copy.port, fate.at + STEP // 2, bytes(data)))
    return found


def trace(spec: Spec, packets: int, flows: int) -> Execution:
    config = dict(spec.config or {})
    for item in spec.program.config.values():
        config.setdefault(item.name, MADE_UP.get(item.name, default(item.type, item.default)))
    engine = ENGINES["interp"]
    out = outgoing(spec, packets, flows)
    back = answered(execute(spec, Trace(config, tuple(out[: packets // 2])), engine))
    arrivals = out[: packets - len(back)] + back
    return execute(spec, Trace(config, tuple(sorted(arrivals, key=lambda a: a.time))), engine)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--packets", type=int, default=10_000)
    parser.add_argument("specs", nargs="*", type=Path)
    given = parser.parse_args()
    specs = given.specs or [*ROOT.glob("tests/language/properties/*.nf"), *ROOT.glob("examples/*/*.nf")]
    for path in sorted(specs):
        spec = opened(path.resolve())
        for flows in (50, 5):
            execution = trace(spec, given.packets, flows)
            sent = sum(fate.sent for fate in execution.record.fates)
            print(f"{path.stem}: {flows} flows, {sent} of {len(execution.record.fates)} packets sent")
            for property in properties(spec.program):
                start = time.process_time()
                found = property.judge(execution)
                seconds = time.process_time() - start
                said = found.skipped or ("fails" if found.failure else "")
                print(
                    f"  {property.name:48} {seconds:7.2f} s {'!' if seconds > SLOW else ' '} {found.cases:9} cases"
                    f" {found.cases / max(seconds, 1e-9):12,.0f}/s {said[:40]}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
