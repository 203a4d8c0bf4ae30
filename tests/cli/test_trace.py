"""`polysome trace`: packets of flows, and what a controller answers about them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from polysome.analysis.frames import repaired
from polysome.cli import five_tuple as made
from polysome.cli.five_tuple import BadFlow, five_tuple
from polysome.cli.main import app
from polysome.deploy.messages import control
from polysome.testing.wire import checksums

grpc = pytest.importorskip("grpc", reason="needs Python's gRPC: pip install grpcio")
FLOW = "tcp 198.51.100.7:40000 -> 192.0.2.1:80"


@pytest.mark.parametrize(
    ("flow", "sums"),
    [
        (FLOW, 2),
        ("TCP 198.51.100.7:0->192.0.2.1:65535", 2),
        ("udp 198.51.100.7:53 -> 192.0.2.1:53", 2),
        ("udp [2001:db8::1]:53 -> [2001:db8::2]:5353", 1),
        ("tcp [2001:db8::1]:53 -> [::ffff:1.2.3.4]:5353", 1),
        ("icmp 198.51.100.7 -> 192.0.2.1", 2),
        ("icmp 198.51.100.7:77 -> 192.0.2.1", 2),
        ("icmp 2001:db8::1 -> 2001:db8::2", 1),
    ],
)
def test_packets_are_right(flow: str, sums: int) -> None:
    packet = five_tuple(flow).packet()
    found = checksums(packet)
    assert len(found) == sums and all(one.right for one in found)
    assert repaired(packet) == packet


def test_a_syn_byte_by_byte() -> None:
    # By hand from RFC 791 and RFC 9293; the sums are those that a packet analyser accepts.
    packet = five_tuple(FLOW).packet()
    assert packet[:14] == made.ADDRESSES + b"\x08\x00"
    assert packet[14:24] == bytes.fromhex("45000028 00004000 4006".replace(" ", ""))
    assert packet[26:34] == bytes([198, 51, 100, 7, 192, 0, 2, 1])
    assert packet[34:50] == bytes.fromhex("9c400050 00000000 00000000 5002ffff".replace(" ", "")) and len(packet) == 54
    echo = five_tuple("icmp 10.0.0.1:77 -> 10.0.0.2").packet()
    assert echo[23] == 1 and echo[34:36] == b"\x08\0" and echo[38:40] == b"\0M"
    six = five_tuple("icmp fe80::1 -> fe80::2").packet()
    assert six[12:14] == b"\x86\xdd" and six[20] == 58 and six[54:56] == b"\x80\0" and six[58:60] == b"\0\1"


@pytest.mark.parametrize(
    ("flow", "words"),
    [
        ("", "is not PROTOCOL"),
        ("tcp 1.2.3.4:5 1.2.3.4:5", "is not PROTOCOL"),
        ("sctp 1.2.3.4:5 -> 1.2.3.4:5", "no protocol `sctp`"),
        ("tcp 1.2.3.4 -> 1.2.3.4:5", "`1.2.3.4` lacks a port"),
        ("tcp 1.2.3.4:5 -> 1.2.3.4", "`1.2.3.4` lacks a port"),
        ("tcp 1.2.3:5 -> 1.2.3.4:5", "`1.2.3` is no address"),
        ("tcp 1.2.3.4:65536 -> 1.2.3.4:5", "`65536` is no port"),
        ("tcp 1.2.3.4: -> 1.2.3.4:5", "`` is no port"),
        ("tcp 1.2.3.4:-1 -> 1.2.3.4:5", "`-1` is no port"),
        ("tcp [::1]:5 -> 1.2.3.4:5", "two versions of IP"),
        ("tcp ::1:5:x -> ::1", "`::1:5:x` is no address"),
        ("icmp 1.2.3.4 -> 1.2.3.4:5", "no ports"),
    ],
)
def test_flows_that_are_none(flow: str, words: str) -> None:
    with pytest.raises(BadFlow, match=None) as caught:
        five_tuple(flow)
    assert words in str(caught.value)
    result = CliRunner().invoke(app, ["trace", flow])
    assert result.exit_code == 2 and words in result.stderr and "198.51.100.7:40000" in result.stderr


# ---------------------------------------------------------------- asking


class Controller:
    """Answers Try with `answer`, and keeps what it was asked."""

    def __init__(self) -> None:
        self.answer: Any = control().TryResponse()
        self.asked: list[Any] = []

    def attempt(self, request: Any, context: Any) -> Any:
        self.asked.append(request)
        return self.answer


@pytest.fixture
def controller(tmp_path: Path) -> Iterator[Controller]:
    found = Controller()
    server = grpc.server(ThreadPoolExecutor(1))
    unary = grpc.unary_unary_rpc_method_handler(
        found.attempt, control().TryRequest.FromString, control().TryResponse.SerializeToString
    )
    server.add_generic_rpc_handlers(
        [grpc.method_handlers_generic_handler("polysome.control.Controller", {"Try": unary})]
    )
    server.add_insecure_port(f"unix:{tmp_path}/controller.sock")
    server.start()
    yield found
    server.stop(None)


def traced(place: Path, *arguments: str) -> Result:
    result = CliRunner().invoke(app, ["trace", str(place), *arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def test_where_it_goes_and_why(controller: Controller, tmp_path: Path) -> None:
    packet = bytearray(five_tuple(FLOW).packet())
    packet[30:34] = bytes([10, 0, 1, 2])
    lookups = [
        control().Lookup(state="sticky", operation="find", key="Flow { src: ::ffff:198.51.100.7 }"),
        control().Lookup(state="turn", operation="read", found="7"),
    ]
    controller.answer = control().TryResponse(
        sent=True, ports=[1], packet=repaired(bytes(packet)), version="f00", lookups=lookups, delay=1_500_000
    )
    result = traced(tmp_path, FLOW, "--port", "0")
    assert result.exit_code == 0, result.stderr
    (asked,) = controller.asked
    assert asked.port == 0 and asked.packet == five_tuple(FLOW).packet()
    lines = result.stdout.splitlines()
    assert lines[:2] == [f"{FLOW} at 0", "sent to 1 after 1.5ms"]
    assert "  ipv4.dst 192.0.2.1 -> 10.0.1.2" in lines and any(line.startswith("  tcp.checksum 0x") for line in lines)
    assert lines[-4:] == [
        "why",
        "  sticky find Flow { src: ::ffff:198.51.100.7 }: nothing",
        "  turn read: 7",
        "config f00",
    ]


def test_json_of_a_drop(controller: Controller, tmp_path: Path) -> None:
    controller.answer = control().TryResponse(reason="not for the VIP", version="f00")
    result = traced(tmp_path, FLOW, "--json")
    assert result.exit_code == 0, result.stderr
    shown = json.loads(result.stdout)
    assert (shown["sent"], shown["reason"], shown["ports"], shown["changed"]) == (False, "not for the VIP", [], [])
    assert "dropped: not for the VIP" in traced(tmp_path, FLOW).stdout


def test_what_cannot_be_asked(controller: Controller, tmp_path: Path) -> None:
    result = traced(tmp_path, FLOW, "--port", "clients")
    assert result.exit_code == 2 and "no port `clients`" in result.stderr and not controller.asked
    result = traced(tmp_path / "nothing", FLOW)
    assert result.exit_code == 2 and "no deployment" in result.stderr
    result = traced(tmp_path, "tcp 198.51.100.7:40000", "192.0.2.1:80")
    assert result.exit_code == 2 and "Quote it" in result.stderr
