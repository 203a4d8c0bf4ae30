"""The text of `--faults`: what it says, and one clear error for what says nothing."""

from __future__ import annotations

import pytest

from polysome.backends.system.faults import FOR_EVER, MIXES, Fault, FaultError, Kind, Where, parse

PORTS = ("clients", "servers_port")


def test_faults_of_every_kind() -> None:
    text = (
        "server0:loss=1e-3,dup=1e-4;nf:reorder=1e-2/20us;server1:dead@2ms..5ms;nf:stuck@1ms..3ms;server0:nak@4ms;"
        "clients:down@1s..;all:corrupt=1e-4"
    )
    assert parse(text, 2, PORTS) == (
        Fault(Kind.loss, Where.server, 0, 1e-3),
        Fault(Kind.duplicate, Where.server, 0, 1e-4),
        Fault(Kind.reorder, Where.nf, 0, 1e-2, hold=20_000),
        Fault(Kind.dead, Where.server, 1, start=2_000_000, end=5_000_000),
        Fault(Kind.stuck, Where.nf, 0, start=1_000_000, end=3_000_000),
        Fault(Kind.nak, Where.server, 0, start=4_000_000),
        Fault(Kind.down, Where.port, 0, start=1_000_000_000, end=FOR_EVER),
        Fault(Kind.corrupt, Where.nf, 0, 1e-4),
        Fault(Kind.corrupt, Where.server, 0, 1e-4),
        Fault(Kind.corrupt, Where.server, 1, 1e-4),
    )


def test_spaces_and_a_last_semicolon_do_not_matter() -> None:
    assert parse(" nf : loss = 0.5 , dup=1 ; ", 1) == parse("nf:loss=0.5,dup=1", 1)
    assert [fault.index for fault in parse("servers:loss=1", 3)] == [0, 1, 2]


@pytest.mark.parametrize("mix", MIXES)
def test_mixes_hit_every_link_inside(mix: str) -> None:
    found = parse(mix, 2)
    assert {(fault.where, fault.index) for fault in found} == {(Where.nf, 0), (Where.server, 0), (Where.server, 1)}
    assert all(0 < fault.probability < 0.1 for fault in found)


@pytest.mark.parametrize(
    ("text", "message", "mend"),
    [
        ("lots", "`lots` is no fault (column 1)", "nf:loss=1e-3"),
        ("nf:loss=0.1;server2:loss=1", "there is no RDMA server 2 (column 13)", "server0 to server1"),
        ("wire:loss=1", "`wire` is no place (column 1)", "all, nf, servers, server0, server1, clients"),
        ("nf:lost=1", "`lost=1` is no fault (column 4)", "loss=P"),
        ("nf:loss", "`loss` is no fault (column 4)", "loss=P"),
        ("nf:loss=2", "`2` is no probability (column 9)", "from 0 to 1"),
        ("nf:loss=nan", "`nan` is no probability", "from 0 to 1"),
        ("nf:loss=1%", "`1%` is no probability", "from 0 to 1"),
        ("nf:loss=1/2us", "does not hold a frame back", "Leave out"),
        ("nf:reorder=1", "does not say how long a frame is held back", "reorder=1e-3/20us"),
        ("nf:reorder=1/20", "`20` is no duration (column 14)", "20us"),
        ("nf:reorder=1/20kB", "`20kB` is no duration", "20us"),
        ("nf:dead@1ms", "only RDMA servers can be `dead` (column 4)", "server0:dead@2ms"),
        ("all:nak@1ms", "only RDMA servers can be `nak`", "server0:nak@2ms"),
        ("server0:stuck@1ms..2ms", "only the NF can be `stuck`", "nf:stuck@1ms..3ms"),
        ("server0:nak@1ms..2ms", "a NAK comes at one time", "nak@4ms"),
        ("server0:dead@2ms..2ms", "ends before it begins", "2ms..5ms"),
        ("server0:dead@soon", "`soon` is no duration (column 14)", "20us"),
        ("", "nothing is said (column 1)", "one fault each"),
        ("nf:loss=1;;nf:dup=1", "nothing is said (column 11)", "one fault each"),
        ("nf:", "nothing is said (column 4)", "one fault each"),
    ],
)
def test_what_says_nothing_is_one_error(text: str, message: str, mend: str) -> None:
    refused(text, 2, message, mend)


@pytest.mark.parametrize(
    ("text", "message", "mend"),
    [
        ("server0:loss=1", "there is no RDMA server 0 (column 1)", "There is none."),
        ("servers:loss=1", "`servers` is no place (column 1)", "Places are all, nf, clients"),
    ],
)
def test_without_servers_nothing_happens_at_one(text: str, message: str, mend: str) -> None:
    refused(text, 0, message, mend)
    assert {(fault.where, fault.index) for fault in parse("mix", 0, PORTS)} == {(Where.nf, 0)}


def refused(text: str, servers: int, message: str, mend: str) -> None:
    with pytest.raises(FaultError) as caught:
        parse(text, servers, PORTS)
    assert message in caught.value.message and mend in caught.value.mend
