"""Why a queue pair is not proved: what the switch and the server counted meanwhile, and what that says, in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from polysome_controller import control_pb2 as pb
from polysome_controller.proving import Fault

REQUEST = 70  # bytes of a WRITE before its data, Ethernet to RETH
ICRC = 4
LEAST_PAD, CELL = 4, 4
ETHERNET = 14


@dataclass(frozen=True)
class Counted:
    """What rose while the probes were out. `switch`: events of the queue pair, "egress.write"; `server`: counters of
    its agent."""

    switch: Mapping[str, int]
    server: Mapping[str, int]


def rose(before: Mapping[str, int], after: Mapping[str, int]) -> dict[str, int]:
    return {name: value - before.get(name, 0) for name, value in after.items() if value > before.get(name, 0)}


def explain(fault: Fault, server: pb.RdmaServer, bring_up: pb.BringUp, counted: Counted) -> str:
    """What was missing, and the setting that mends it."""
    size = f"a probe of {fault.probe.length} B"
    if fault.stage == "sent":
        return f"{size} cannot be sent to {bring_up.interface}: {fault.found}"
    here = f"{bring_up.interface}, at switch port {bring_up.port}"
    if fault.stage == "fields":
        if fault.found:
            return f"of {size} came {fault.found}; the switch's program or tables are others than these"
        if "ingress.parked" in counted.switch:
            return f"{size} was parked, and its fields did not come back by {here}: look at that link"
        return (
            f"{size} did not reach the switch by {here}: that port must be up, and be the other end of the "
            "interface; [switch] of the site file may name others, `cpu_port` and `cpu_interface`"
        )
    if fault.found:
        return f"of {size} came back {fault.found}; the memory of {server.name} does not keep what is written"
    return _refused(server, bring_up, counted) or _lost(fault, server, bring_up, counted)


def _refused(server: pb.RdmaServer, bring_up: pb.BringUp, counted: Counted) -> str:
    """What the server's agent counted against the requests."""
    for name in counted.server:
        said = f"{server.name} counts them as {name}"
        if name in ("dropped_truncated", "dropped_bad_length"):
            return (
                f"the requests lack their four bytes of ICRC: {said}; the switch must append them: setting "
                f"`{bring_up.icrc}` of switch port {server.port}"
            )
        if "icrc" in name:
            return f"their ICRC is refused: {said}; the NIC must accept any: setting `{_of_nic(bring_up)}`"
        if name.startswith("nak_") and name != "nak_sequence_error":  # that one says that a request was lost before
            return f"the requests are refused: {said}; its region, its key and its path MTU must be the program's"
    return ""


def _lost(fault: Fault, server: pb.RdmaServer, bring_up: pb.BringUp, counted: Counted) -> str:
    """Nobody says where it was lost: what may be, the likeliest first."""
    length = fault.probe.length
    needed = REQUEST + CELL + LEAST_PAD + length + ICRC - ETHERNET
    for event in ("ingress.foreign_cell", "egress.short", "egress.long"):
        if event in counted.switch:
            return f"the switch refused a probe of {length} B or its cell ({event})"
    if length > min(probe.length for probe in bring_up.probes):
        return (
            f"nothing came back of a WRITE of {length} B, but of shorter ones: every interface between switch port "
            f"{server.port} and {server.name} needs an MTU of {needed} B or more"
        )
    return (
        f"nothing came back of a WRITE of {length} B to {server.name} by switch port {server.port}, and nobody says "
        f"why: the switch must append four bytes of ICRC there (setting `{bring_up.icrc}`), and the NIC accept any "
        f"(setting `{_of_nic(bring_up)}`)"
    )


def _of_nic(bring_up: pb.BringUp) -> str:
    return bring_up.nic_icrc or "none is named"
