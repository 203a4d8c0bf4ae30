"""An agent with the soft device, from its start to its end: what the controller and the switch see of it."""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path
from typing import Any

import pytest
from tests.agent import roce
from tests.agent.conftest import REGION, Start
from tests.agent.machines import SERVER_IP, SWITCH, Agent, Cable, Client, SwitchEnd, run, wait_until
from tests.certificates import Authority

from polysome_controller import control_pb2 as control

pytestmark = pytest.mark.slow

PEER = 0x40F787


def registration(client: Client) -> control.Registration:
    answer: control.Registration = client.call("Describe", challenge=os.urandom(16))
    return answer


def reset(client: Client, number: int, pair: int = 0, peer: int = PEER) -> control.QueuePair:
    lease = control.Lease(epoch=1, number=number)
    made: control.QueuePair = client.call("Reset", lease=lease, boot=registration(client).boot, pair=pair, peer=peer)
    return made


def counters(client: Client) -> dict[str, int]:
    return {counter.name: counter.value for counter in client.call("Health").counters}


def test_describes_itself(client: Client, cable: Cable) -> None:
    challenge = os.urandom(16)
    answer = client.call("Describe", challenge=challenge)
    link = run("ip", "-n", cable.server, "-br", "link", "show", "dev", "server0").split()
    assert answer.challenge == challenge
    assert (answer.server, answer.device, answer.mtu, answer.region) == ("memory0", "soft", 4096, REGION)
    assert answer.mac.hex(":") == link[2]
    assert answer.ip == socket.inet_aton(SERVER_IP)
    assert answer.boot != 0
    assert [pair.pair for pair in answer.queue_pairs] == [0, 1, 2, 3]
    assert len({pair.number for pair in answer.queue_pairs}) == 4
    assert not any(pair.ready or pair.peer for pair in answer.queue_pairs)


def test_a_reset_pair_serves_the_switch(client: Client, switch: SwitchEnd) -> None:
    old = registration(client).queue_pairs[2].number
    pair = reset(client, 1, pair=2)
    assert (pair.pair, pair.peer, pair.ready) == (2, PEER, True)
    assert pair.number != old
    assert registration(client).queue_pairs[2] == pair
    data = os.urandom(2000)
    ack = switch.write(pair.number, pair.psn, 0x8000, data)
    assert ack == roce.Answer(roce.ACK, PEER, pair.psn, 0x1F, 1, b"")
    read = switch.read(pair.number, pair.psn + 1, 0x8000, len(data))
    assert read == roce.Answer(roce.RESPONSE, PEER, (pair.psn + 1) & 0xFFFFFF, 0x1F, 2, data)
    assert counters(client)["written_bytes"] == counters(client)["read_bytes"] == len(data)


def test_the_largest_frames_pass(client: Client, switch: SwitchEnd) -> None:
    pair = reset(client, 1)
    data = os.urandom(4096)
    switch.write(pair.number, pair.psn, REGION - 4096, data)
    read = switch.read(pair.number, pair.psn + 1, REGION - 4096, 4096)
    assert read.payload == data


def test_a_pair_is_silent_before_its_first_reset(client: Client, switch: SwitchEnd) -> None:
    pair = registration(client).queue_pairs[0]
    assert switch.no_answer(pair.number, 0)
    assert counters(client)["dropped_not_ready"] == 1


def test_a_reset_ends_the_old_number(client: Client, switch: SwitchEnd) -> None:
    old = reset(client, 1)
    new = reset(client, 2, peer=PEER + 1)
    assert new.number != old.number
    assert switch.no_answer(old.number, old.psn)
    answer = switch.read(new.number, new.psn, 0, 64)
    assert answer.number == PEER + 1


def test_a_pair_in_error_is_restored(client: Client, switch: SwitchEnd) -> None:
    pair = reset(client, 1)
    nak = switch.read(pair.number, pair.psn, REGION, 64)
    assert nak.syndrome == 0x62
    assert not client.call("Health").queue_pairs[0].ready
    assert counters(client)["nak_remote_access_error"] == 1
    again = reset(client, 2)
    assert switch.read(again.number, again.psn, 0, 64).opcode == roce.RESPONSE


def test_every_frame_is_accounted_for(client: Client, switch: SwitchEnd) -> None:
    pair = reset(client, 1)
    switch.write(pair.number, pair.psn, 0, bytes(64))
    switch.write(pair.number, pair.psn, 0, bytes(64))  # again
    switch.read(pair.number, pair.psn + 1, 0, 64)
    switch.read(pair.number, pair.psn + 5, 0, 64)  # a gap
    assert switch.no_answer(pair.number ^ 0x800000, 0), "it is nobody's"
    found = counters(client)
    names = ("received", "requests", "repeated", "refused", "nak_sequence_error", "dropped_unknown_qpn")
    assert [found[name] for name in names] == [5, 2, 1, 1, 1, 1]
    dropped = sum(value for name, value in found.items() if name.startswith("dropped_"))
    assert found["received"] == found["requests"] + found["repeated"] + found["refused"] + dropped


def test_clear_gives_ones_and_silence(client: Client, switch: SwitchEnd) -> None:
    pair = reset(client, 1)
    switch.write(pair.number, pair.psn, 0x400, bytes(512))
    lease = control.Lease(epoch=1, number=2)
    client.call("Clear", lease=lease, boot=registration(client).boot)
    assert not any(pair.ready for pair in client.call("Health").queue_pairs)
    assert switch.no_answer(pair.number, pair.psn + 1)
    pair = reset(client, 3)
    read = switch.read(pair.number, pair.psn, 0x400, 512)
    assert read.payload == b"\xff" * 512


def test_the_machines_own_traffic_goes_past(client: Client, switch: SwitchEnd, cable: Cable) -> None:
    """The kernel answers what is its own, which the agent does not see, and does not answer what is the agent's."""
    server = switch.server
    before = counters(client)["received"]
    run("ip", "-n", cable.server, "neigh", "replace", "198.19.255.254", "lladdr", SWITCH.mac.hex(":"), "dev", "server0")
    switch.socket.send(roce.ipv4_udp(SWITCH, server, 4792, b"for somebody else"))
    unreachable = [frame for frame in switch.frames(0.3) if frame[12:14] == b"\x08\x00" and frame[23] == 1]
    assert unreachable, "the kernel tells that nobody has port 4792"
    assert counters(client)["received"] == before
    switch.socket.send(roce.request(SWITCH, server, roce.READ, 99, 0, roce.reth(0, 0, 4)))
    assert [frame for frame in switch.frames(0.3) if frame[12:14] == b"\x08\x00" and frame[23] == 1] == []
    assert counters(client)["received"] == before + 1
    assert counters(client)["dropped_unknown_qpn"] == 1


def test_health_knows_the_link(client: Client, cable: Cable) -> None:
    health = client.call("Health")
    assert health.link
    assert health.trouble == ""
    run("ip", "-n", cable.switch, "link", "set", "dev", "switch0", "down")
    wait_until(lambda: not client.call("Health").link)
    health = client.call("Health")
    assert not health.link
    assert "server0 is down" in health.trouble


def test_it_serves_again_after_a_broken_link(client: Client, switch: SwitchEnd, cable: Cable) -> None:
    pair = reset(client, 1)
    for state in ("down", "up"):
        run("ip", "-n", cable.server, "link", "set", "dev", "server0", state)
    wait_until(lambda: bool(client.call("Health").link))
    assert switch.read(pair.number, pair.psn, 0, 64).opcode == roce.RESPONSE


@pytest.mark.parametrize("down_before", [False, True])
def test_a_lost_interface_ends_it(agent: Agent, client: Client, cable: Cable, down_before: bool) -> None:
    if down_before:
        run("ip", "-n", cable.server, "link", "set", "dev", "server0", "down")
        wait_until(lambda: not client.call("Health").link)
    run("ip", "-n", cable.server, "link", "delete", "dev", "server0")
    assert agent.process.wait(timeout=10) == 3
    assert "the interface server0 is gone" in agent.said()


def cpu_ticks(pid: int) -> int:
    """User and system time."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def test_it_sleeps_while_there_is_nothing_to_do(agent: Agent, client: Client) -> None:
    reset(client, 1)
    before = cpu_ticks(agent.process.pid)
    time.sleep(1)
    assert cpu_ticks(agent.process.pid) - before <= 0.05 * os.sysconf("SC_CLK_TCK")


def statuses(pid: int) -> list[dict[str, str]]:
    """Of all threads."""
    texts = [path.read_text(encoding="utf-8") for path in Path(f"/proc/{pid}/task").glob("*/status")]
    return [dict(line.split(":\t", 1) for line in text.splitlines() if ":\t" in line) for text in texts]


def test_it_gives_up_its_privileges(start: Start, authority: Authority, address: str, cable: Cable) -> None:
    agent = start(user="nobody")
    agent.wait_for("ready")
    client = Client(address, "memory0", authority, "controller")
    pair = reset(client, 1)
    switch = SwitchEnd(cable, registration(client))
    assert switch.read(pair.number, pair.psn, 0, 64).opcode == roce.RESPONSE, "and still does its work"
    uid = run("id", "-u", "nobody").strip()
    found = statuses(agent.process.pid)
    assert len(found) > 1
    for status in found:
        assert set(status["Uid"].split()) == {uid}
        assert "0" not in status["Gid"].split() + status["Groups"].split()
        assert {int(status[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == {0}
        assert status["NoNewPrivs"] == "1"
    switch.close()
    client.close()


def test_a_new_process_is_another(
    start: Start, agent: Agent, client: Client, authority: Authority, address: str
) -> None:
    first = registration(client)
    assert agent.stop() == 0
    assert "ended" in agent.said()
    start().wait_for("ready")
    again = Client(address, "memory0", authority, "controller")
    second = registration(again)
    assert second.boot != first.boot
    assert second.rkey != first.rkey
    again.close()


def test_one_interface_has_one_agent(start: Start, agent: Agent) -> None:
    second: Agent = start()
    assert second.process.wait(timeout=10) == 3
    assert f"UDP port 4791 of {SERVER_IP}" in second.said()


def test_a_server_that_lends_nothing(start: Start, authority: Authority, address: str) -> None:
    nothing: dict[str, Any] = {"region": 0, "queue_pairs": 0}
    start(**nothing).wait_for("ready")
    client = Client(address, "memory0", authority, "controller")
    assert list(registration(client).queue_pairs) == []
    client.close()
