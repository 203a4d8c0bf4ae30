"""The names that the controller uses are those of the P4 program, in its order; and its events are counted there."""

from __future__ import annotations

import pytest
from tests.backends.test_tofino import SIZES, text
from tests.p4.chips import TOFINO

from polysome.backends.tofino.program import EGRESS_EVENTS, INGRESS_EVENTS
from polysome.p4.load import load
from polysome.p4.program import Program
from polysome.p4.types import Composite
from polysome_controller import program as names
from polysome_controller.driver import Put, SetRegister
from polysome_protocol import LAST_SEQ

PUTS = [
    names.bucket(0, 0, 0, 0, 0, 0),
    names.nf_link(0, 0, 0, 0),
    names.send(0, 0),
    names.flood(0, 0),
    names.station(0, 0),
    names.flood_station(0, 0),
    names.server_port(0, 0),
    names.nf_station(0, 0),
    names.server(0, 0, 0, 0),
    names.answered(0, 0, 0),
    names.remote(0, 0),
]


@pytest.fixture(scope="module")
def p4() -> Program:
    return load("load_balancer.p4", text("load_balancer"), TOFINO)


def test_all_tables_are_filled(p4: Program) -> None:
    """Every table that the program does not fill itself has an entry above, and is cleared."""
    filled = {put.table for put in PUTS}
    assert filled == {*names.TABLES, *names.PARKING_TABLES}
    assert filled == {table.name for table in p4.tables.values() if not table.entries and not table.fixed}


def test_what_parks_nothing_has_no_tables_for_it() -> None:
    """The controller leaves alone what a program lacks whose packets all go whole, and clears the rest."""
    unsplit = load("bridge.p4", text("bridge"), TOFINO)
    assert {table.name for table in unsplit.tables.values() if not table.fixed} == set(names.TABLES)
    assert not unsplit.registers
    assert not unsplit.meters


@pytest.mark.parametrize("put", PUTS, ids=lambda put: f"{put.table} {put.action}")
def test_entries_are_as_in_the_program(p4: Program, put: Put) -> None:
    table = p4.tables[put.table]
    assert [key.name for key in table.keys] == [name for name, _ in put.key]
    action = next(p4.actions[name] for name in table.actions if name.rpartition(".")[2] == put.action)
    assert [place.path[-1] for place in action.params] == [name for name, _ in put.parameters]


def test_registers_are_as_in_the_program(p4: Program) -> None:
    cells = [*names.up(0, True), *names.no_history(0), *names.next_psn(0, 0)]
    for cell in cells:
        assert isinstance(cell, SetRegister)
        register = p4.registers[cell.register]
        element = register.element
        fields = [name for name, _ in element.fields] if isinstance(element, Composite) else [""]
        assert cell.field in fields
        assert register.size == SIZES.queue_pairs


def test_numbers_of_packets_are_as_in_the_program(p4: Program) -> None:
    register = p4.registers[names.parked_last(0).register]
    assert register.size == 1 and not isinstance(register.element, Composite)
    assert f"const bit<32> LAST_SEQ = 0x{LAST_SEQ:08x};" in text("load_balancer")


def test_counters_and_meter_are_as_in_the_program(p4: Program) -> None:
    bits = SIZES.queue_pairs.bit_length() - 1
    for counter, events in ((names.INGRESS_EVENTS, INGRESS_EVENTS), (names.EGRESS_EVENTS, EGRESS_EVENTS)):
        assert p4.counters[counter].size >= len(events) << bits
    assert p4.counters[names.REQUESTS].kind == "PACKETS_AND_BYTES"
    assert names.FALLBACK in p4.meters
    assert set(names.FORGED) <= set(INGRESS_EVENTS)
    events = {*(f"ingress.{name}" for name in INGRESS_EVENTS), *(f"egress.{name}" for name in EGRESS_EVENTS)}
    assert set(names.LOST) <= events
    assert events - set(names.LOST) >= {"ingress.ack", "ingress.down", "ingress.swept", "egress.resynchronised"}
