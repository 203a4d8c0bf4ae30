"""The service Nf: configs in two phases, who may ask, and what would become of a packet."""

from __future__ import annotations

import base64
import hashlib
import json
import struct
from pathlib import Path
from typing import Any

import pytest
from tests import tags
from tests.backends import examples
from tests.nf_host import hosts
from tests.testing.traffic.kit import written

from polysome.backends.nf_cpp.config_blob import encode

pytestmark = pytest.mark.slow
CLIENTS, SERVERS = 0, 1
INSIDE, OUTSIDE = 0, 1


def udp(src: str, dst: str, sport: int, dport: int, payload: bytes = b"payload") -> bytes:
    """A packet without checksums, which an NF keeps as wrong as they are."""
    addresses = b"".join(bytes(map(int, a.split("."))) for a in (src, dst))
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 28 + len(payload), 1, 0, 64, 17, 0) + addresses
    return bytes(12) + b"\x08\x00" + ip + struct.pack(">HHHH", sport, dport, 8 + len(payload), 0) + payload


def whole(to: bytes, port: int, packet: bytes) -> bytes:
    return hosts.frame(to, hosts.WHOLE, 0, 1, len(packet), port, packet)


def packet_of(answer: bytes) -> bytes:
    return answer[hosts.HEAD :]


def refused(code: str, call: Any, *arguments: Any, **more: Any) -> str:
    """The call is refused with this code; why."""
    import grpc

    with pytest.raises(grpc.RpcError) as caught:
        call(*arguments, **more)
    assert caught.value.code().name == code, caught.value
    return str(caught.value.details())


def backend(number: int) -> dict[str, list[dict[str, object]]]:
    return {"backends": [(0x0A000200 + number, 0x020000000B00 + number, SERVERS)]}


def test_a_config_takes_effect_at_commit_and_survives_a_crash(tls: Path, cable: hosts.Cable, tmp_path: Path) -> None:
    nf = examples.program("load_balancer")
    configs = [encode(nf, backend(n)) for n in (1, 2, 3)]
    versions = [hashlib.sha256(c).hexdigest() for c in configs]
    program = hosts.built(nf)
    mac = cable.mac()

    def chosen(flow: int) -> int:
        return packet_of(cable.ask(whole(mac, CLIENTS, udp("10.9.9.9", "10.0.0.100", flow, 80))))[33]

    with hosts.running(program, tmp_path, cable.far, configs[0], tls) as host:
        assert host.describe().version == versions[0] and chosen(1) == 1
        assert host.prepare(configs[1]) == versions[1]
        said = host.describe()
        assert (said.version, said.prepared) == (versions[0], versions[1]) and chosen(2) == 1
        host.commit(versions[1])
        said = host.describe()
        assert (said.version, said.prepared) == (versions[1], "") and chosen(3) == 2
        host.commit(versions[1])  # the answer may have been lost
        why = refused("INVALID_ARGUMENT", host.prepare, b"\xff\xff nothing of ours")
        assert "no config of load_balancer" in why
        assert "SHA-256" in refused("INVALID_ARGUMENT", host.prepare, configs[2], "0" * 64)
        assert "not `" in refused("FAILED_PRECONDITION", host.commit, versions[2])
        host.prepare(configs[2])
        refused("FAILED_PRECONDITION", host.commit, versions[0])
        assert host.describe().version == versions[1] and chosen(4) == 2
        boot = said.boot
        host.process.kill()
        host.process.wait()
    with hosts.running(program, tmp_path, cable.far, configs[0], tls) as host:
        said = host.describe()
        assert (said.version, said.prepared) == (versions[1], "") and said.boot != boot and chosen(5) == 2
        host.process.kill()
        host.process.wait()
    kept = tmp_path / "state" / "config"
    for damage in (kept.read_bytes()[:-1], b"", b"x" + kept.read_bytes()[1:]):
        kept.write_bytes(damage)
        with hosts.running(program, tmp_path, cable.far, configs[0], tls) as host:
            assert host.describe().version == versions[0] and chosen(6) == 1
            assert "warning" in host.log() and str(kept) in host.log()


def test_who_may_ask_and_what_comes_again(
    tls: Path, cable: hosts.Cable, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    nf = examples.program("load_balancer")
    config = encode(nf, backend(1))
    foreign = hosts.certificates(tmp_path_factory.mktemp("foreign"), ["controller"])
    control = hosts.control()
    with hosts.running(hosts.built(nf), tmp_path, cable.far, config, tls) as host:
        version = host.describe().version
        refused("PERMISSION_DENIED", host.describe, peer="memory0")
        assert "refused /polysome.control.Nf/Describe: " in host.log() and "memory0" in host.log()
        refused("UNAVAILABLE", host.describe, tls=foreign)
        hosts.until(lambda: "refused a connection" in host.log())
        other = encode(nf, backend(2))
        wanted = control.PrepareRequest(lease=host.lease(), version=hashlib.sha256(other).hexdigest(), config=other)
        host.call("Prepare", wanted, "Nothing")
        commit = control.CommitRequest(lease=host.lease(), version=wanted.version)
        refused("PERMISSION_DENIED", host.call, "Commit", commit, "Nothing", peer="memory0")
        assert host.describe().version == version
        host.call("Commit", commit, "Nothing")
        back = host.prepare(config)
        assert "not newer" in refused("FAILED_PRECONDITION", host.call, "Commit", commit, "Nothing")
        refused("FAILED_PRECONDITION", host.call, "Prepare", wanted, "Nothing")
        earlier = control.CommitRequest(lease=control.Lease(epoch=0, number=99), version=back)
        refused("FAILED_PRECONDITION", host.call, "Commit", earlier, "Nothing")
        said = host.describe()
        assert (said.version, said.prepared) == (wanted.version, back)


def test_try_is_what_happens_then(tls: Path, cable: hosts.Cable, tmp_path: Path) -> None:
    nf = examples.program("load_balancer")
    config = hosts.config(nf)
    with hosts.running(hosts.built(nf), tmp_path, cable.far, config, tls) as host:
        mac, chosen, seen = cable.mac(), [], set[int]()
        for flow in (1, 2, 1, 3, 2, 4, 5):
            packet = udp("10.9.9.9", "10.0.0.100", flow, 80)
            said = [host.attempt(CLIENTS, packet) for _ in range(2)]
            assert said[0] == said[1] and said[0].sent and said[0].ports == [SERVERS] and not said[0].reason
            assert [one.state for one in said[0].lookups][:2] == (["sticky"] if flow in seen else ["sticky", "turn"])
            seen.add(flow)
            answer = cable.ask(whole(mac, CLIENTS, packet))
            assert packet_of(answer) == said[0].packet and tags.of(answer, "port") == 1
            chosen.append(answer[hosts.HEAD + 33])
        assert chosen == [1, 2, 1, 3, 2, 1, 2]
        counted = host.counters()
        said = host.attempt(CLIENTS, udp("10.9.9.9", "10.0.0.99", 1, 80))
        assert (said.sent, said.reason, list(said.ports), said.packet) == (False, "not for the VIP", [], b"")
        assert said.version == host.describe().version
        assert host.counters() == counted, "nothing of it counts"
        assert "logical port" in refused("INVALID_ARGUMENT", host.attempt, 2, packet)
        refused("INVALID_ARGUMENT", host.attempt, 0, b"")


def test_only_real_packets_make_mappings(tls: Path, cable: hosts.Cable, tmp_path: Path) -> None:
    nf = examples.program("nat")
    config = encode(nf, {"pool_addresses": [0xC0000201]})
    with hosts.running(hosts.built(nf), tmp_path, cable.far, config, tls) as host:
        mac, packet = cable.mac(), udp("10.0.0.7", "198.51.100.9", 4000, 53)
        first = host.attempt(INSIDE, packet)
        assert first.sent and first.ports == [OUTSIDE] and first.packet[26:30] == bytes([192, 0, 2, 1])
        public = int.from_bytes(first.packet[34:36])
        reply = udp("198.51.100.9", "192.0.2.1", 53, public)
        said = host.attempt(OUTSIDE, reply)
        assert (said.sent, said.reason) == (False, "unsolicited"), "the mapping was tried only"
        assert host.attempt(INSIDE, udp("10.0.0.8", "198.51.100.9", 4000, 53)).packet[34:36] == first.packet[34:36]
        assert packet_of(cable.ask(whole(mac, INSIDE, packet))) == first.packet
        said = host.attempt(OUTSIDE, reply)
        assert said.ports == [INSIDE] and said.packet[30:36] == bytes([10, 0, 0, 7]) + b"\0\x35"
        assert packet_of(cable.ask(whole(mac, OUTSIDE, reply))) == said.packet
        other = host.attempt(INSIDE, udp("10.0.0.8", "198.51.100.9", 4000, 53))
        assert int.from_bytes(other.packet[34:36]) == public + 1


SHAPED = """use net.l4;
nf shaped {
  port a, b;
  relevant flow, ipv4.ttl else drop "other";
  schedule { class flow; shape 40Kbps, 1000B; classes 4; idle 9s; buffer 64KB; queue 32KB; when full drop; }
  on packet from a { ipv4.ttl = 9; send b; }
}
"""


def test_what_the_schedule_holds_leaves_on_time(tls: Path, cable: hosts.Cable, tmp_path: Path) -> None:
    import time

    spec = written(tmp_path, SHAPED)
    with hosts.running(hosts.built(spec.program), tmp_path, cable.far, b"", tls) as host:
        packet = udp("10.0.0.1", "10.0.0.2", 1, 2, bytes(958))  # 1000 bytes: 200 ms at 40 kbit/s
        assert host.attempt(0, packet).delay == 0
        mac, start, came = cable.mac(), time.monotonic(), []
        for _ in range(5):
            cable.socket.send(whole(mac, 0, packet))
        hosts.until(lambda: host.counters()["frames in"] == 5)
        said = host.attempt(0, packet)
        assert said.sent and said.packet[22] == 9 and 0 < said.delay <= 1_000_000_000
        assert host.statistics().held > 0
        for _ in range(5):
            assert packet_of(cable.take(1)[0]) == said.packet
            came.append(time.monotonic() - start)
        assert came[4] >= 0.8, came
        assert host.statistics().held == 0


SAMPLES = [
    {"port": CLIENTS, "packet": base64.b64encode(udp("10.9.9.9", "10.0.0.100", 7, 80)).decode()},
    {"port": CLIENTS, "packet": base64.b64encode(udp("10.9.9.9", "10.0.0.99", 7, 80)).decode()},  # never gets through
]


def samples(place: Path) -> str:
    (place / "samples.json").write_text(json.dumps({"samples": SAMPLES}))
    return str(place / "samples.json")


def test_a_config_by_which_nothing_gets_through_is_refused(tls: Path, cable: hosts.Cable, tmp_path: Path) -> None:
    nf = examples.program("load_balancer")
    good, none = encode(nf, backend(1)), encode(nf, {"backends": []})
    with hosts.running(hosts.built(nf), tmp_path, cable.far, good, tls, samples=samples(tmp_path)) as host:
        why = refused("INVALID_ARGUMENT", host.prepare, none)
        assert "none of 2 packets that load_balancer is for gets through" in why
        assert "1: division by zero (load_balancer.nf:" in why and "1: not for the VIP" in why
        assert host.describe().prepared == ""
        version = host.prepare(none, force=True)
        host.commit(version)
        assert host.describe().version == version
        host.commit(host.prepare(good))
        assert host.counters()["frames in"] == 0, "nothing of it counts"
        (tmp_path / "samples.json").write_text("{")  # they cannot be read: then it is those before
        assert "gets through" in refused("INVALID_ARGUMENT", host.prepare, none)
        assert "warning" in host.log() and "samples.json" in host.log()
        (tmp_path / "samples.json").write_text("{}")  # none is asked
        host.prepare(none)


@pytest.mark.parametrize(
    ("config", "why"),
    [
        ({}, "`backends` is missing"),
        ({"backends": [(0x0A000201, 0x020000000B01, 2)]}, "no config of load_balancer"),  # there are ports 0 and 1
        ({"backends": [(0x0A000201, 1 << 48, SERVERS)]}, "no config of load_balancer"),
    ],
)
def test_a_config_that_is_not_whole_is_refused(
    config: dict[str, Any], why: str, tls: Path, cable: hosts.Cable, tmp_path: Path
) -> None:
    """Also with --force, and as the one to start with."""
    nf = examples.program("load_balancer")
    good, wrong = encode(nf, backend(1)), encode(nf, config)
    program = hosts.built(nf)
    with hosts.running(program, tmp_path, cable.far, good, tls, samples=samples(tmp_path)) as host:
        for force in (False, True):
            assert why in refused("INVALID_ARGUMENT", host.prepare, wrong, force=force)
        before = host.describe()
        assert (before.version, before.prepared) == (hashlib.sha256(good).hexdigest(), "")
    hosts.configured(tmp_path, cable.far, wrong, tls)
    done = hosts.ended(program, tmp_path)
    assert done.returncode == 2 and why in done.stderr
