"""Who floods the port of a part's service: memory stays, and who may ask gets an answer. All parts have this server."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
from tests.backends import examples
from tests.nf_host import hosts
from tests.strangers import Open, Port, check_the_controller_stays, closed, greeted, idle, many, preface, tcp

pytestmark = pytest.mark.slow
MEGABYTE = 1 << 20


@pytest.fixture
def host(tls: Path, cable: hosts.Cable, tmp_path: Path) -> Iterator[hosts.Host]:
    nf = examples.program("load_balancer")
    with hosts.running(hosts.built(nf), tmp_path, cable.far, hosts.config(nf), tls) as running:
        yield running


def port(host: hosts.Host) -> Port:
    return Port(host.address, host.tls)


def memory(host: hosts.Host) -> int:
    """The most bytes that it has had."""
    text = Path(f"/proc/{host.process.pid}/status").read_text()
    return 1024 * int(re.findall(r"VmHWM:\s+(\d+) kB", text)[0])


@pytest.mark.parametrize(("open_one", "count"), [(tcp, 1000), (greeted, 600), (idle, 600)])
def test_a_thousand_connections_keep_nobody_out(host: hosts.Host, open_one: Open, count: int) -> None:
    host.describe()
    before = memory(host)
    with many(port(host), open_one, count) as found:
        assert len(found) > count / 3
        for _ in range(3):
            began = time.monotonic()
            host.describe()
            assert time.monotonic() - began < 4  # not as long as it takes for one of them to end
        assert len(list(Path(f"/proc/{host.process.pid}/fd").iterdir())) < 600
        assert memory(host) - before < 96 * MEGABYTE
    assert host.end() == 0


def test_the_controller_stays_beside_strangers_of_its_own_address(host: hosts.Host) -> None:
    check_the_controller_stays(port(host), "nf1", "/polysome.control.Nf/Statistics")
    assert "refused a connection" in host.log()


@pytest.mark.parametrize("open_one", [tcp, greeted, preface])
def test_who_says_nothing_is_cut_off(host: hosts.Host, open_one: Open) -> None:
    connection = open_one(port(host), "127.0.0.1")
    began = time.monotonic()
    while not closed(connection):
        assert time.monotonic() - began < 20
    assert time.monotonic() - began > 3
    host.describe()


def send(host: hosts.Host, peer: str, size: int, tls: Path | None = None) -> grpc.StatusCode:
    control = hosts.control()
    with pytest.raises(grpc.RpcError) as error:
        request = control.PrepareRequest(lease=control.Lease(epoch=9, number=9), config=bytes(size))
        host.call("Prepare", request, "Nothing", peer=peer, tls=tls)
    code: grpc.StatusCode = error.value.code()
    return code


@pytest.mark.parametrize("peer", ["memory0", "controller"])
def test_large_messages_take_no_memory(host: hosts.Host, peer: str) -> None:
    """Of a stranger they are not read; of the controller, gRPC reads one before it looks at its size, and may do so
    before the one before has gone."""
    host.describe()
    before = memory(host)
    denied, large = grpc.StatusCode.PERMISSION_DENIED, grpc.StatusCode.RESOURCE_EXHAUSTED
    for _ in range(10):
        assert send(host, peer, 200 * MEGABYTE) == (denied if peer == "memory0" else large)
    assert memory(host) - before < (32 if peer == "memory0" else 500) * MEGABYTE
    host.prepare(hosts.config(examples.program("load_balancer")))


def test_refusals_do_not_fill_the_log(host: hosts.Host) -> None:
    control = hosts.control()
    for _ in range(60):
        with pytest.raises(grpc.RpcError):
            host.call("Commit", control.CommitRequest(), "Nothing", peer="memory0")
    told = [line for line in host.log().splitlines() if "refused /polysome.control.Nf/Commit: " in line]
    assert len(told) == 20 and all("`memory0`, and only `controller` may" in line for line in told)

    def told_how_many() -> bool:
        send(host, "memory0", 1)
        return re.search(r"refused \d{2,} more before this one", host.log()) is not None

    hosts.until(told_how_many, 15)
