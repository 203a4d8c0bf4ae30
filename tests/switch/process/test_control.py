"""What a controller asks of the soft switch: entries, registers, meters, all or nothing; and who may not."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import grpc
import pytest
from tests.addresses import free_address
from tests.strangers import Port, check_the_controller_stays
from tests.switch.process.conftest import EXAMPLE, Site
from tests.switch.process.harness import Client, address, bundle_part, certificates, pb, running
from tests.switch.process.test_frames import B, entry, frame, tcp_packet, traffic_to_nf

from polysome_protocol import text_hash


def register(name: str, index: int, value: int, field: str = "") -> pb.Update:
    return pb.Update(register=pb.Cell(register=name, index=index, value=value, field=field))


def change(kind: str, mac: int, port: int) -> pb.Update:
    key, parameter = mac.to_bytes(6, "big"), port.to_bytes(1, "big")
    made = pb.Entry(table="Ingress.stations", key=[key], action="forward", parameters=[parameter])
    return pb.Update(**{kind: made})


def goes_to(site: Site, mac: int) -> int | None:
    """The port by which a frame to this address leaves."""
    site.wires[1].send(frame(mac, 80))
    return next((port for port in (2, 3) if site.wires[port].receive(0.15) is not None), None)


def test_a_switch_describes_itself(site: Site) -> None:
    request = pb.DescribeRequest(challenge=bytes(range(16)))
    first, second = (site.controller.call("Describe", request) for _ in range(2))
    assert first.challenge == request.challenge
    assert first.boot == second.boot != 0
    assert first.model == "software"
    assert first.program == text_hash(bundle_part(EXAMPLE)[f"switch/{EXAMPLE}.p4"].decode())


def test_entries_are_added_modified_put_removed_and_cleared(site: Site) -> None:
    controller = site.controller
    controller.write(change("add", B, 2))
    assert goes_to(site, B) == 2
    assert "is there already" in controller.refused(change("add", B, 3))
    controller.write(change("modify", B, 3))
    assert goes_to(site, B) == 3
    controller.write(change("put", B, 2), change("put", 9, 3))
    assert (goes_to(site, B), goes_to(site, 9)) == (2, 3)
    controller.write(change("remove", B, 0), change("remove", B, 0))
    assert (goes_to(site, B), goes_to(site, 9)) == (None, 3)
    assert "no such entry" in controller.refused(change("modify", B, 2))
    controller.write(change("add", B, 2), pb.Update(clear="Ingress.stations"))
    assert (goes_to(site, B), goes_to(site, 9)) == (None, None)


def test_registers_are_written_and_read(site: Site) -> None:
    writes = [register("Egress.psns", i, 100 + i) for i in range(4)]
    site.controller.write(*writes, register("Ingress.reads", 2, 7, "count"), register("Ingress.reads", 2, 9, "rests"))
    assert site.controller.cells("Egress.psns", 0, 5) == [100, 101, 102, 103, 0]
    assert site.controller.cells("Ingress.reads", 1, 2, "count") == [0, 7]
    assert site.controller.cells("Ingress.reads", 2, field="rests") == [9]


def test_counters_are_read_beside_registers(site: Site) -> None:
    site.controller.write(site.station(B, 2))
    assert goes_to(site, B) == 2
    request = pb.ReadRequest(
        registers=[pb.Cell(register="Egress.psns"), pb.Cell(register="Ingress.primaries")],
        counts=[2],
        counters=[pb.CounterCell(counter="Ingress.events")],
        counter_counts=[2048],
    )
    answer = site.controller.call("Read", request)
    assert [len(values.values) for values in answer.registers] == [2, 1]
    assert sum(answer.counters[0].packets) == 1 and len(answer.counters[0].bytes) == 2048


def test_queues_are_set_and_read_back(site: Site) -> None:
    """Limits are of each queue, and the higher a queue's number, the earlier it is served."""
    site.controller.write(pb.Update(port=pb.Port(port=2, rate=10**9, queue_bytes=8000, first_queue_bytes=160)))
    found = site.controller.port(2)
    assert found.rate == 10**9 and site.controller.statistics().cell == 80
    limits = {queue.queue: queue.limit for queue in found.queues}
    assert limits == {**dict.fromkeys(range(7), 8000), 7: 160}
    assert [queue.priority for queue in found.queues] == list(range(8))
    site.controller.write(pb.Update(port=pb.Port(port=2, queue_bytes=16_000)))
    assert {queue.limit for queue in site.controller.port(2).queues} == {16_000}


@pytest.mark.parametrize(
    ("request_", "why"),
    [
        (pb.ReadRequest(registers=[pb.Cell(register="Egress.nothing")]), "Egress.nothing: there is no such register"),
        (pb.ReadRequest(registers=[pb.Cell(register="Egress.psns", index=60)], counts=[10]), "index 64 of 64"),
        (pb.ReadRequest(registers=[pb.Cell(register="Egress.psns", field="x")]), "no field `x`"),
        (pb.ReadRequest(counters=[pb.CounterCell(counter="Egress.no")]), "there is no such counter"),
        (pb.ReadRequest(registers=[pb.Cell(register="Egress.psns")], counts=[1, 2]), "more counts"),
        (pb.ReadRequest(registers=[pb.Cell(register="Egress.psns")], counts=[2**32 - 1]), "a request may name"),
    ],
)
def test_readings_of_what_is_not_there(site: Site, request_: pb.ReadRequest, why: str) -> None:
    with pytest.raises(grpc.RpcError) as error:
        site.controller.call("Read", request_)
    assert error.value.code() == grpc.StatusCode.INVALID_ARGUMENT and why in error.value.details()


def test_wrong_updates_are_refused_with_their_number_and_why(site: Site) -> None:
    def stations(**more: object) -> pb.Update:
        made = {"table": "Ingress.stations", "key": [b"\1"], "action": "forward", "parameters": [b"\1"], **more}
        return pb.Update(add=pb.Entry(**made))

    fine = site.station(B, 2)
    for update, why in (
        (pb.Update(), "it says nothing that this switch knows"),
        (stations(table="Ingress.x"), "Ingress.x: there is no such table"),
        (stations(key=[]), "0 keys, and it has 1"),
        (stations(key=[b"\1" * 7]), "the value of key hdr.station.dst does not fit"),
        (stations(key=[b"\1" * 17]), "a value of 17 bytes"),
        (stations(action="fly"), "it has no action fly"),
        (stations(parameters=[]), "takes 1 parameters, and 0 are given"),
        (stations(parameters=[b"\2\0"]), "does not fit into 9 bits"),
        (register("Ingress.primaries", 0, 256), "the value does not fit"),
        (register("Ingress.primaries", 64, 1), "index 64 of 64"),
        (pb.Update(meter=pb.Meter(name="Ingress.fallback", index=1)), "index 1 of 1"),
        (pb.Update(mirror=pb.Mirror(session=0, port=1)), "mirror session 0: there is no such session"),
        (pb.Update(mirror=pb.Mirror(session=65536 + 1, port=1)), "there is no mirror session 65537"),
        (pb.Update(group=pb.Group(group=0)), "0 means no group"),
        (pb.Update(group=pb.Group(group=1, ports=[600])), "there is no port 600"),
        (pb.Update(port=pb.Port(port=512)), "there is no such port"),
        (pb.Update(port=pb.Port(port=65537)), "there is no port 65537"),
        (pb.Update(port=pb.Port(port=1, role=7)), "there is no role 7"),
        (pb.Update(port=pb.Port(port=1, index=256)), "there is no port index 256"),
        (pb.Update(generator=pb.Generator(port=1, period=10, count=5)), "less than 1000 ns for a frame"),
        (pb.Update(generator=pb.Generator(port=512)), "there is no port 512"),
        (pb.Update(clear="Ingress.y"), "Ingress.y: there is no such table"),
    ):
        said = site.controller.refused(fine, update)
        assert said.startswith("update 2 of 2: ") and why in said


def test_a_request_that_fails_leaves_no_trace_while_packets_flow(site: Site) -> None:
    """Frames to B go to port 2 all the time; requests that would send them to 3 and then fail change nothing."""
    site.controller.write(site.station(B, 2), register("Egress.psns", 5, 77), register("Ingress.reads", 1, 3, "rests"))
    over = threading.Event()

    def flow() -> None:
        while not over.is_set():
            site.wires[1].send(frame(B, 200))
            time.sleep(0.0002)

    sender = threading.Thread(target=flow)
    sender.start()
    try:
        for attempt in range(3000):
            if attempt >= 30 and site.controller.port(1).frames_in > 31:
                break  # packets did flow meanwhile, however busy the machine is
            said = site.controller.refused(
                change("put", B, 3),
                register("Egress.psns", 5, attempt),
                register("Ingress.reads", 1, 9, "rests"),
                pb.Update(clear="Ingress.stations"),
                change("add", B, 3),
                change("remove", B, 3),
                change("add", 0x33, 3),
                register("Egress.psns", 5, attempt + 1),
                register("Egress.psns", 1000, 0),
            )
            assert said.startswith("update 9 of 9: Egress.psns")
    finally:
        over.set()
        sender.join()
    assert site.wires[3].receive(0.1) is None
    assert site.controller.cells("Egress.psns", 5) == [77]
    assert site.controller.cells("Ingress.reads", 1, field="rests") == [3]
    site.wires[1].send(frame(0x33, 80))
    end = time.monotonic() + 5
    while site.controller.drops()["ingress: dropped by the program"] == 0:
        assert time.monotonic() < end
    assert site.controller.port(3).frames_out == 0
    assert site.controller.port(2).frames_out == site.controller.port(1).frames_in - 1 > 30


def test_a_meter_is_as_it_was_after_a_request_that_fails(site: Site) -> None:
    """TCP packets that find no queue pair go whole as far as the meter lets them: it has room for few more."""
    traffic_to_nf(site)
    site.controller.write(
        *(entry("Ingress.buckets", "choose", [1, b], [0, 3, 0, 3]) for b in range(site.buckets)),
        pb.Update(meter=pb.Meter(name="Ingress.fallback", rate=8, burst=3000)),
    )

    def pass_the_meter() -> int:
        for _ in range(6):
            site.wires[1].send(tcp_packet())
        count = 0
        while site.wires[2].receive(0.2) is not None:
            count += 1
        return count

    assert 1 <= pass_the_meter() < 6
    site.controller.refused(
        pb.Update(meter=pb.Meter(name="Ingress.fallback", rate=8_000_000_000, burst=1_000_000)), pb.Update()
    )
    assert pass_the_meter() == 0
    site.controller.write(pb.Update(meter=pb.Meter(name="Ingress.fallback", rate=8_000_000_000, burst=1_000_000)))
    assert pass_the_meter() == 6


# ---------------------------------------------------------------- who may not


def refused(site: Site, request: pb.WriteRequest, why: str) -> None:
    with pytest.raises(grpc.RpcError) as error:
        site.controller.call("Write", request)
    assert error.value.code() == grpc.StatusCode.FAILED_PRECONDITION
    assert why in error.value.details()
    site.process.await_log(f": {why}")
    assert "warning: refused Write from " in site.process.log
    assert site.controller.cells("Egress.psns", 0) == [0]


def test_changes_that_are_not_newer_are_refused(site: Site) -> None:
    update, boot = register("Egress.psns", 0, 1), site.controller.boot

    def request(epoch: int, number: int) -> pb.WriteRequest:
        return pb.WriteRequest(lease=pb.Lease(epoch=epoch, number=number), boot=boot, updates=[update])

    newest = pb.WriteRequest(lease=pb.Lease(epoch=5, number=3), boot=boot)
    site.controller.call("Write", newest)
    refused(site, request(5, 3), "change 3 of epoch 5 is not newer than 3 of epoch 5")
    refused(site, request(5, 2), "change 2 of epoch 5 is not newer")
    refused(site, request(4, 9), "change 9 of epoch 4 is not newer")
    site.controller.call("Write", request(6, 1))
    assert site.controller.cells("Egress.psns", 0) == [1]


def test_changes_for_another_process_are_refused(site: Site) -> None:
    request = pb.WriteRequest(lease=pb.Lease(epoch=9, number=1), boot=4, updates=[register("Egress.psns", 0, 1)])
    refused(site, request, "it is for process 4")


@pytest.mark.parametrize("method", ["Describe", "Write", "Read", "Statistics"])
def test_another_name_than_the_controllers_is_refused(site: Site, method: str) -> None:
    asked = {
        "Describe": pb.DescribeRequest(),
        "Write": pb.WriteRequest(
            lease=pb.Lease(epoch=9, number=1), boot=site.controller.boot, updates=[register("Egress.psns", 0, 1)]
        ),
        "Read": pb.ReadRequest(),
        "Statistics": pb.Nothing(),
    }[method]
    operator = Client(address(site.folder), site.tls, "operator")
    with pytest.raises(grpc.RpcError) as error:
        operator.call(method, asked)
    operator.close()
    assert error.value.code() == grpc.StatusCode.PERMISSION_DENIED
    site.process.await_log(f"refused /polysome.control.SoftSwitch/{method}: ")
    assert "the certificate is of `operator`" in site.process.log
    assert site.controller.cells("Egress.psns", 0) == [0]
    site.controller.write(register("Egress.psns", 0, 2))  # and the lease does not count as seen


def test_a_controller_of_another_authority_is_refused(site: Site, tmp_path: Path) -> None:
    other = certificates(tmp_path / "other", "controller")
    stranger = Client(address(site.folder), other, "controller", trusts=site.tls)
    with pytest.raises(grpc.RpcError) as error:
        stranger.call("Describe", pb.DescribeRequest())
    stranger.close()
    assert error.value.code() == grpc.StatusCode.UNAVAILABLE
    site.process.await_log("refused a connection without a valid certificate")


def test_a_peer_without_tls_is_refused(site: Site) -> None:
    channel = grpc.insecure_channel(address(site.folder))
    ask = channel.unary_unary(
        "/polysome.control.SoftSwitch/Statistics", request_serializer=pb.Nothing.SerializeToString
    )
    with pytest.raises(grpc.RpcError) as error:
        ask(pb.Nothing(), timeout=5)
    channel.close()
    assert error.value.code() == grpc.StatusCode.UNAVAILABLE
    assert site.controller.describe().boot != 0


def test_the_controller_stays_beside_strangers(tls: Path, tmp_path: Path) -> None:
    place = free_address()
    with running(EXAMPLE, tmp_path, tls, {}, listen=place):
        check_the_controller_stays(Port(place, tls, "operator"), "switch", "/polysome.control.SoftSwitch/Statistics")
