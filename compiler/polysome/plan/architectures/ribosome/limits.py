"""What the parked packets, their edits and the queue pairs must fit into."""

from __future__ import annotations

from typing import NoReturn

from polysome.analysis.words import duration
from polysome.plan.limits import Limits
from polysome.plan.numbers import Number, binary, power_of_two, rate
from polysome.plan.site import RdmaServer
from polysome_protocol import TAG

MOST_SEQ = TAG["seq"].most + 1  # of the sequence numbers, which name cells and slots
MOST_QUEUE_PAIRS = TAG["queue_pair"].most


def no_bound(limits: Limits, why: str) -> NoReturn:
    """E1406: how long packets are held is not bounded, so no number of cells is enough."""
    limits.stop(
        "E1406",
        "the schedule has no bound on how long it holds a packet",
        limits.program.schedule.span,
        f"A parked packet's cell is written anew once the cells ran through. {why[0].upper()}{why[1:]}.",
        'Make what the bound needs constant, or write `hold = "200ms"` under `[plan]` in the site file: '
        "what is held longer is dropped and counted.",
        None,
    )


def memory(limits: Limits, server: RdmaServer, cells: Number, cell: int, packets: int, parked: int, hold: int) -> None:
    """E1401: every server has a place for each cell, since one counter numbers the cells of all."""
    need = cells.value * cell
    if need <= server.memory and cells.value <= MOST_SEQ:
        return
    fit = power_of_two(min(server.memory // cell, MOST_SEQ) + 1) // 2  # rounded down
    longest = fit * 10**9 // packets - (parked - hold)
    shorter = f"hold packets {duration(longest)} at most, " if hold > longest > 0 else ""
    limits.stop(
        "E1401",
        f"{binary(need)} of cells do not fit into the {binary(server.memory)} of server `{server.name}`",
        limits.program.schedule.span if hold else limits.program.span,
        f"{cells.value} cells × {cell} B, as {cells.formula}.",
        f"Lend {binary(need)}, {shorter}or declare a lower `traffic {{ rate … }}`.",
        (server.span, "this server"),
    )


def slots(limits: Limits, slots: int, cells: int, blocks: int, registers: int, widest: int, edits: int) -> None:
    """E1402: the registers of the slots and of the cells' bits must fit the switch's stateful memory."""
    chip = limits.site.switch
    rams = chip.stages * chip.map_rams_per_stage
    if widest > chip.map_rams_per_stage:
        limit = f"a register of {widest} blocks, but a stage has {chip.map_rams_per_stage} that registers can use"
    elif blocks > rams:
        limit = f"{blocks} blocks of SRAM, but `{chip.name}` has {rams} that registers can use"
    elif registers > chip.stateful_alus:
        limit = f"{registers} registers, but `{chip.name}` has {chip.stateful_alus} stateful ALUs"
    else:
        return
    limits.stop(
        "E1402",
        f"{slots} slots for the edits, and {cells} cells, need {limit}",
        limits.program.span,
        f"A slot has 8 bytes of seq and time, 4 of verdict and length, and {edits} of edits, in words of 4; a cell "
        "has a bit.",
        "Write fewer fields, declare a lower `traffic { rate … }`, or use faster links, where less is queued.",
        None,
    )


def queue_pairs(limits: Limits, server: RdmaServer, count: int, formula: str) -> None:
    """E1403: more queue pairs than the NIC is fast with, or than the tag can name."""
    total = count * len(limits.site.rdma_servers)
    if count <= server.nic.queue_pairs and total <= MOST_QUEUE_PAIRS:
        return
    limit = (
        f"{count} queue pairs on a server are more than the {server.nic.queue_pairs} that a `{server.nic.name}` "
        "is known to be fast with"
        if count > server.nic.queue_pairs
        else f"{total} queue pairs are more than the {MOST_QUEUE_PAIRS} that a tag can name"
    )
    limits.stop(
        "E1403",
        limit,
        limits.program.span,
        f"Each carries {rate(server.nic.queue_pair_bps)}: {formula}.",
        "Add RDMA servers, use fewer queue pairs, or declare a lower `traffic { rate … }`.",
        (server.span, "this server"),
    )


def sessions(limits: Limits, ways: int) -> None:
    """E1408: fields frames of each way to each NF server, and to the controller, are cut by a mirror session of their
    own; number 0 stands for none."""
    chip, servers = limits.site.switch, limits.site.nf_servers
    most, need = chip.mirror_sessions - 1, ways * (len(servers) + 1)
    if need <= most:
        return
    limits.stop(
        "E1408",
        f"{need} mirror sessions are needed, but `{chip.name}` has {most}",
        limits.program.span,
        f"One for each of {ways} ways of headers that are split, to each of {len(servers)} NF servers and to the "
        "controller: it cuts the copy where the fields of that way end.",
        f"Name {most // ways - 1} NF servers at most.",
        (servers[-1].span, "the last of them"),
    )
