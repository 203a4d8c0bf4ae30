"""What proves queue pairs is the controller's alone (PROTOCOL.md, rule 14).

Its probes are parked on the queue pair that their source names, whatever the switch knows of that one. No table is
asked for a packet of traffic as it is for a probe, and no frame of the NF goes to the controller.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from polysome import smt
from polysome.p4 import program as pr
from polysome.prove.answers import EDITS, nf_frame
from polysome.prove.case import CONTROLLER, NF, TRAFFIC, Case, port_metadata
from polysome.prove.p4.pipe import Passed, passes
from polysome.prove.p4.store import Ran
from polysome.prove.result import Result, Status, answered
from polysome.prove.traffic import Traffic
from polysome.prove.window import Term, Window, same
from polysome.prove.wire import FIELDS, OWN, WHOLE
from polysome_protocol import ETHERNET, FRAMES

QUEUE_PAIRS = {"primary", "backup"}  # parameters of an action that says where a packet is parked


def probes(seen: Traffic) -> Iterator[Result]:
    """One result for each pass of a probe, of a packet of traffic that is parked, and of the NF's frames to the
    controller; none where nothing is parked."""
    if not seen.parked:
        return
    tables = buckets(seen.case.p4)
    for parked in seen.parked:
        yield _of(parked.passed, TRAFFIC, all(same(ran.keys[0], TRAFFIC) for ran in asked_of(parked.passed, tables)))
    passes = list(_walked(seen.case))
    for passed in passes:
        yield _probe(seen.case, passed, tables)
    if not any(passed.store.mirror is not None for passed in passes):
        yield Result("probes", "all of them", Status.refuted, "none is parked")
    for passed in _to_the_controller(seen.case):
        ends = bool(passed.lost) and not passed.store.accesses
        yield _of(passed, NF, ends, "the NF sends it to the controller")


def buckets(p4: pr.Program) -> set[str]:
    """The tables that say where a packet is parked."""
    says = {name for name, action in p4.actions.items() if {place.path[0] for place in action.params} >= QUEUE_PAIRS}
    return {name for name, table in p4.tables.items() if says & set(table.actions)}


def asked_of(passed: Passed, tables: set[str]) -> list[Ran]:
    return [ran for ran in passed.store.ran if ran.table in tables]


def _of(passed: Passed, role: int, right: bool, why: str = "") -> Result:
    why = why or f"where it is parked is not asked for packets from ports of role {role} alone"
    return Result("probes", str(passed.path), Status.proved if right else Status.refuted, "" if right else why)


def _walked(case: Case) -> tuple[Passed, ...]:
    """Every frame of the controller's that is none of the NF's."""
    known = (_of_ethernet(case, "ether_type") != FRAMES.ether_type, smt.UGE(case.frame.length, ETHERNET.size))
    metadata, window = port_metadata(case.p4, CONTROLLER, smt.BitVec("controllers", 8)), Window(case.frame)
    return passes(case.p4, case.p4.ingress, window, name="probe.", metadata=metadata, assumptions=known)


def _of_ethernet(case: Case, name: str) -> Term:
    field = ETHERNET[name]
    return case.bits(field.first, field.bits)


def _probe(case: Case, passed: Passed, tables: set[str]) -> Result:
    asked = asked_of(passed, tables)
    if passed.store.mirror is None or passed.lost:
        if not asked and not passed.lost:
            return _of(passed, CONTROLLER, True)  # not on a way: it comes back whole
        why = "a probe that could be parked is not, and is neither from nor to the switch"
        found = answered("probes", str(passed.path), why, case.frame, passed.conditions, case.own_address)
        return replace(found, packet=None)  # it would be the controller's
    source = _of_ethernet(case, "src")
    right = bool(asked) and all(same(r.keys[0], CONTROLLER) and _low(r.keys[1], source) for r in asked)
    return _of(passed, CONTROLLER, right, "it is not parked where its source says")


def _low(key: object, number: Term) -> bool:
    """Is it the last bits of the number?"""
    if not isinstance(key, smt.Term):
        return False
    return bool(smt.is_true(smt.simplify(key == smt.Extract(key.size() - 1, 0, number))))


def _to_the_controller(case: Case) -> Iterator[Passed]:
    for kind in (FIELDS, WHOLE, OWN):
        known = nf_frame(kind, to_the_controller=True)
        metadata, window = port_metadata(case.p4, NF), Window(EDITS)
        yield from passes(case.p4, case.p4.ingress, window, name="forged.", metadata=metadata, assumptions=known)
