"""The smallest program: an Ethernet switch with a table of stations."""

from __future__ import annotations

import pytest
from tests.p4.skeleton import program
from tests.p4.soft import WARNINGS, ethernet, executable, run

pytestmark = pytest.mark.slow

STATIONS = program(
    locals="""
    action forward(PortId_t port) { tm.ucast_egress_port = port; tm.bypass_egress = 1; }
    action drop() { dprsr.drop_ctl = 1; }
    table stations {
        key = { hdr.ethernet.dst: exact; }
        actions = { forward; drop; }
        size = 2;
        default_action = drop();
    }""",
    apply="stations.apply();",
)
PORTS = "port 1\nport 2\nport 3\n"


def test_a_known_station_gets_its_frames_and_others_are_dropped() -> None:
    known, unknown = ethernet("aa" * 46), ethernet("aa" * 46, dst="020000000009")
    found = run(
        STATIONS,
        f"{PORTS}add Ingress.stations forward 0x020000000001 : 2\nin 1 5 {known}\nin 1 6 {unknown}\nrun 9\ndrops",
    )
    assert found[0] == f"out 2 5 {known}"
    assert "ingress_program=1 no_port=0" in found[1] and len(found) == 2


def test_the_driver_changes_entries_and_says_what_is_wrong() -> None:
    frame = ethernet("bb" * 46)
    found = run(
        STATIONS,
        f"""{PORTS}
        add Ingress.stations forward 1 : 2
        add Ingress.stations forward 1 : 2
        add Ingress.stations forward 2 : 2
        add Ingress.stations forward 3 : 2
        add Ingress.stations forward 0x1000000000000 : 2
        add Ingress.stations backward 4 : 2
        add Ingress.stations forward 4 : 512
        add Ingress.stations forward 4
        add Ingress.stations forward 4 5 : 1
        add Ingress.nothing forward 4 : 1
        delete Ingress.stations 7
        delete Ingress.stations 1
        count Ingress.stations
        modify Ingress.stations forward 2 : 3
        add Ingress.stations forward 0x020000000001 : 2
        modify Ingress.stations Ingress.forward 0x020000000001 : 3
        in 1 0 {frame}
        run 0
        clear Ingress.stations
        default Ingress.stations forward : 2
        in 1 1 {frame}
        run 1
        """,
    )
    assert found == [
        "error Ingress.stations: the entry is there already",
        "error Ingress.stations: full: 2 entries",
        "error Ingress.stations: the value of key hdr.ethernet.dst does not fit",
        "error Ingress.stations: it has no action backward",
        "error Ingress.stations: parameter 1 of forward does not fit into 9 bits",
        "error Ingress.stations: forward takes 1 parameters, and 0 are given",
        "error Ingress.stations: 2 keys, and it has 1",
        "error Ingress.nothing: there is no such table",
        "error Ingress.stations: there is no such entry",
        "value 1",
        f"out 3 0 {frame}",
        f"out 2 1 {frame}",
    ]


def test_a_frame_too_short_for_its_headers_is_dropped_by_the_parser() -> None:
    found = run(STATIONS, f"{PORTS}default Ingress.stations forward : 2\nin 1 0 {'aa' * 13}\nrun 1\ndrops")
    assert len(found) == 1 and "ingress_parser=1" in found[0]


@pytest.mark.parametrize("compiler", ["clang++", "g++"])
def test_the_code_compiles_without_a_warning(compiler: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", compiler)
    executable.cache_clear()
    executable(STATIONS, flags=("-std=c++20", "-O2", "-march=native", *WARNINGS))
    executable.cache_clear()
