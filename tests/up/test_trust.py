"""What comes from a traffic port is traffic, whatever it looks like, and servers speak for themselves (rule 8)."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.up.load.capture import ALL, Capture
from tests.up.load.examples import VIP, Balanced
from tests.up.load.forged import FIRST_IP, SECOND_IP, SOMEBODY, SWITCH_IP, edits, for_the_nf, roce, send, tagged, write
from tests.up.load.network import mac_of
from tests.up.load.web import curl
from tests.up.needed import DEPLOYED, need

need("nginx", "curl", "nft", "tcpdump")
pytestmark = DEPLOYED

INSIDE = ("servers",)  # to memory, probes go all the time


def seen(lb: Balanced) -> tuple[Any, dict[str, int]]:
    """All that a forged frame could change, and the counters."""
    status = lb.up.status()
    pairs = [(pair.index, pair.number, pair.state, pair.restores) for pair in status.queue_pairs]
    links = {link.name: link.frames_out for link in status.links if link.name in INSIDE}
    parts = {part.name: part.state for part in status.parts}
    return (pairs, links, parts), {event.name: event.value for event in status.events}


def test_forged_frames_change_nothing_and_are_told(lb: Balanced) -> None:
    curl(lb.client, f"http://{VIP}/who")
    time.sleep(1.5)  # what that caused is counted
    before, counted = seen(lb)
    numbers = [pair.number for pair in lb.up.status().queue_pairs][:8]
    assert len(numbers) == 8
    frames = [edits(seq, pair) for pair, _ in enumerate(numbers) for seq in (1, 2, 3)]
    frames += [roce(opcode, number) for number in numbers for opcode in (0x10, 0x11)]
    send(lb.client, "eth0", frames)
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        after, now = seen(lb)
        refused = now["ingress.own_address"] - counted["ingress.own_address"]
        if refused == len(frames):
            break
        time.sleep(0.2)
    assert refused == len(frames), (refused, len(frames))
    assert after == before
    told = [h.text for h in lb.up.status().happened if "refused" in h.text and "own_address" in h.text]
    assert told and "counted as own_address" in lb.up.log("controller")
    assert curl(lb.client, f"http://{VIP}/who").startswith("server")


def test_a_memory_server_speaks_to_nobody_in_anothers_name(lb: Balanced, tmp_path: Path) -> None:
    """Neither to the NF as if it were the switch, nor to the other memory server; its own RDMA passes as it is."""
    nf, first, second = (f"ps-{lb.up.status().nf}-{name}" for name in ("nf1", "memory1", "memory2"))
    to_nf, to_first = (bytes.fromhex(mac_of(place, "eth1").replace(":", "")) for place in (nf, first))
    before = {event.name: event.value for event in lb.up.status().events}
    seen = [Capture(lb.made, place, "eth1", tmp_path / f"{place}.pcap", ALL, "in").begun() for place in (nf, first)]
    forged = [
        for_the_nf(to, seq, flags) for to in (to_nf, to_first, b"\xff" * 6) for seq in (1, 1 << 29) for flags in (0, 1)
    ]
    forged.append(write(to_first, SWITCH_IP, FIRST_IP))
    forged += [tagged(frame, tags) for frame in forged for tags in ("81000000", "88a8000181000000")]
    own = write(to_first, SECOND_IP, FIRST_IP)
    send(second, "eth1", [*forged, own, tagged(own, "81000005")])
    deadline, refused = time.monotonic() + 10, 0
    while refused < len(forged) and time.monotonic() < deadline:
        time.sleep(0.2)
        now = {event.name: event.value for event in lb.up.status().events}
        refused = now["ingress.unknown"] - before.get("ingress.unknown", 0)
    assert refused == len(forged)
    assert curl(lb.client, f"http://{VIP}/who").startswith("server")
    at_nf, at_first = ([f.data for f in one.frames() if f.data[6:12] == SOMEBODY] for one in seen)
    assert at_nf == [] and at_first == [own, tagged(own, "81000005")]
    told = [h.text for h in lb.up.status().happened if "refused" in h.text and "unknown" in h.text]
    assert told and all(pair.state == "up" for pair in lb.up.status().queue_pairs)


def test_no_part_that_reads_packets_of_strangers_is_root(lb: Balanced) -> None:
    """Their users and what they may do, of all threads: the switch, the NF and the agents have given up both."""
    checked = set()
    for status in Path("/proc").glob("[0-9]*/task/*/status"):
        with suppress(OSError):
            lines = dict(line.split(":\t", 1) for line in status.read_text().splitlines() if ":\t" in line)
            command = (status.parent / "cmdline").read_bytes().split(b"\0")
            program = Path(command[0].decode()).name
            if str(lb.up.folder / "config").encode() in b" ".join(command) and "python" not in program:
                checked.add(program)
                assert set(lines["Uid"].split()) != {"0"} and int(lines["CapEff"], 16) == 0, command
    assert len(checked) == 3, checked
