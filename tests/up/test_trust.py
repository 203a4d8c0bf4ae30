"""What comes from a traffic port is traffic, whatever it looks like (DESIGN 6, rule 8)."""

from __future__ import annotations

import time
from typing import Any

from tests.up.load.examples import VIP, Balanced
from tests.up.load.forged import edits, roce, send
from tests.up.load.web import curl
from tests.up.needed import DEPLOYED, need

need("nginx", "curl", "nft")
pytestmark = DEPLOYED

SWITCH_IP = bytes([198, 19, 255, 254])
INSIDE = ("memory1", "memory2", "servers")


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
    frames += [roce(opcode, number, 0, SWITCH_IP) for number in numbers for opcode in (0x10, 0x11)]
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
