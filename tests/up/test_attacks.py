"""From the namespace of every role, all that only switch, NF and memory servers may say, while there is load (rule 8).

Nothing forged arrives anywhere, no queue pair or part goes down, and who asks the web servers has every answer. A
memory server says nothing here for its own queue pairs: of those, it may break what it likes.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from tests.up.load.capture import ALL, Capture
from tests.up.load.examples import VIP, Balanced
from tests.up.load.forged import (
    FIRST_IP,
    SECOND_IP,
    SOMEBODY,
    SWITCH_IP,
    SWITCH_MAC,
    edits,
    for_the_nf,
    roce,
    tagged,
    write,
)
from tests.up.load.healthy import wait_until_healthy
from tests.up.load.network import mac_of
from tests.up.load.senders import Outlet, send, senders
from tests.up.load.steady import LATE, steady
from tests.up.needed import DEPLOYED, need

need("nginx", "wrk", "nft", "tcpdump")
pytestmark = DEPLOYED

ROLES = {"clients": "port-clients", "servers": "port-servers", "nf": "nf1", "memory": "memory2"}
TAGS = ("", "81000000", "81000005", "88a8000181000000", "810000018100000281000003")
OPTIONS = b"\x01\x01\x01\x00"
NAKS = (0x60, 0x61, 0x63)  # PSN sequence error, invalid request, remote operational error
REFUSED = ("own_address", "unknown", "unknown_station", "foreign_answer", "old_edits")
GAP = 0.002  # s between two frames


def place(lb: Balanced, role: str) -> tuple[str, str]:
    """Its namespace, and its interface to the switch."""
    return f"ps-{lb.up.status().nf}-{ROLES[role]}", "eth0" if role in ("clients", "servers") else "eth1"


def forged(lb: Balanced, role: str) -> list[bytes]:
    nf, first, second = (
        bytes.fromhex(mac_of(f"ps-{lb.up.status().nf}-{name}", "eth1").replace(":", ""))
        for name in ("nf1", "memory1", "memory2")
    )
    pairs = [p for p in lb.up.status().queue_pairs if role != "memory" or p.server == "memory1"]
    seqs = (0, 1, 1 << 29, (1 << 32) - 1)
    frames = [edits(seq, pair.index) for pair in pairs for seq in seqs] + [edits(1, 0xFFFF)]
    frames += [edits(1, 0)[:length] for length in (16, 18, 25)]  # tagged shorter ones are refused by the kernel
    for pair in pairs:
        for psn in (0, 1 << 23):
            frames += [roce(opcode, pair.number, psn) for opcode in (0x0D, 0x0E, 0x0F, 0x10, 0x11)]
            frames += [roce(0x11, pair.number, psn, syndrome) for syndrome in NAKS]
    frames += [roce(0x10, pairs[0].number, options=OPTIONS), roce(0x11, 0xFFFFFF)]
    targets = [(first, FIRST_IP)] if role == "memory" else [(first, FIRST_IP), (second, SECOND_IP)]
    frames += [write(to, SWITCH_IP, ip, options) for to, ip in targets for options in (b"", OPTIONS)]
    if role != "nf":  # which may send whole packets, as it likes
        for to in (nf, SWITCH_MAC, b"\xff" * 6):
            frames += [for_the_nf(to, seq, flags) for seq in seqs for flags in (0, 1)]
    return [tagged(frame, tags) for frame in frames for tags in TAGS]


def refused(lb: Balanced) -> int:
    return sum(event.value for event in lb.up.status().events if event.name.removeprefix("ingress.") in REFUSED)


def states(lb: Balanced) -> tuple[Any, Any]:
    status = lb.up.status()
    pairs = [(pair.index, pair.number, pair.state, pair.restores) for pair in status.queue_pairs]
    return pairs, {part.name: part.state for part in status.parts}


@pytest.mark.parametrize("role", ROLES)
def test_nothing_forged_arrives_and_nobody_waits(lb: Balanced, tmp_path: Path, role: str) -> None:
    frames, (namespace, interface) = forged(lb, role), place(lb, role)
    wait_until_healthy(lb, time.monotonic())
    before, counted = states(lb), refused(lb)
    others = [(f"ps-{lb.up.status().nf}-memory1", "eth1"), *(place(lb, other) for other in ROLES if other != role)]
    seen = [Capture(lb.made, *other, tmp_path / f"{other[0]}.pcap", ALL, "in").begun() for other in others]
    outlet = Outlet(namespace, interface, 0, 0, 1514)
    with (
        steady(lb.made, lb.client, f"http://{VIP}/who", lb.servers, tmp_path / "wrk") as asking,
        senders([outlet]) as by,
    ):
        began = time.monotonic()
        send(by, ((outlet, frame) for frame in frames), GAP)
        ended = time.monotonic()
        during = asking.logged(began)
        asking.wait_for_all(ended, LATE)
    assert during > 0 and asking.result().errors == 0, asking.result().text
    assert [(other, f.data.hex()) for other, one in zip(others, seen, strict=True)
            for f in one.frames() if f.data[6:12] == SOMEBODY] == []  # fmt: skip
    wait_until_healthy(lb, time.monotonic())  # a busy machine answers late
    # What users send to other machines is traffic, about which the NF decides.
    ours = [frame for frame in frames if role in ("nf", "memory") or frame[:6] == SWITCH_MAC]
    deadline = time.monotonic() + 10
    while (told := refused(lb) - counted) < len(ours) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert told == len(ours)
    assert states(lb) == before
