"""The host behind a switch on a DPDK port: the same as on a network interface."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.backends import examples
from tests.nf_host import hosts
from tests.nf_host.test_af_packet import traffic
from tests.nf_host.test_control import CLIENTS, SERVERS, packet_of, udp, whole

from polysome.backends.nf_cpp.config_blob import encode

pytestmark = pytest.mark.slow


def test_it_answers_and_obeys_on_a_dpdk_port(tls: Path, cable: hosts.Cable, tmp_path: Path) -> None:
    nf = examples.program("load_balancer")
    sent, answers = traffic(nf, cable.mac())
    program = hosts.built(nf, "dpdk")
    device = f"net_af_packet0,iface={cable.far}"
    with hosts.running(program, tmp_path, device, hosts.config(nf), tls, cores=[0]) as host:
        assert host.describe().mac == cable.mac()
        for frame in sent:
            cable.socket.send(frame)
        assert cable.take(len(answers)) == answers
        counted = host.counters()
        assert counted["frames in"] == len(sent) and counted["frames out"] == len(answers)
        packet = udp("10.9.9.9", "10.0.0.100", 7, 80, bytes(1472))
        said = host.attempt(CLIENTS, packet)
        assert said.ports == [SERVERS]
        assert packet_of(cable.ask(whole(cable.mac(), CLIENTS, packet))) == said.packet
        other = encode(nf, {"backends": [(0x0A000209, 0x020000000B09, SERVERS)]})
        host.commit(host.prepare(other))
        packet = udp("10.9.9.9", "10.0.0.100", 8, 80)
        assert packet_of(cable.ask(whole(cable.mac(), CLIENTS, packet)))[33] == 9
        assert host.end() == 0


@pytest.mark.parametrize(
    ("interface", "code", "words"), [("net_nothing0", 3, "DPDK does not start"), ("", 2, "`interface`")]
)
def test_a_device_that_is_none(interface: str, code: int, words: str, tls: Path, tmp_path: Path) -> None:
    nf = examples.program("load_balancer")
    program = hosts.built(nf, "dpdk")
    hosts.configured(tmp_path, interface, hosts.config(nf), tls)
    ended = hosts.ended(program, tmp_path)
    assert ended.returncode == code and words in ended.stderr
