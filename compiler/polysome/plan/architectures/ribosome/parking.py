"""The numbers of parking: threshold, cells, slots, queue pairs and times, each with its formula (DESIGN section 6)."""

from __future__ import annotations

from collections.abc import Sequence

from polysome.analysis.layout import WIRE
from polysome.analysis.sizes import settings
from polysome.analysis.words import duration
from polysome.ir import program as ir
from polysome.ir.fold import NotConstant, Undefined, fold
from polysome.kinds.policy import POLICIES
from polysome.plan.architectures.ribosome import limits as fits
from polysome.plan.architectures.ribosome import requests
from polysome.plan.architectures.ribosome.memory import BUCKETS_EACH, bucket_count
from polysome.plan.architectures.ribosome.store import Parking, Region
from polysome.plan.limits import Limits
from polysome.plan.model import Frames, Options, Traffic, Window
from polysome.plan.numbers import Number, ceil_div, power_of_two, rate
from polysome.plan.site import Site
from polysome_protocol import CLOCK, MOST_SUFFIX

SECOND = 10**9
TICK = CLOCK.tick  # ns
SLOT_MARGIN = 2  # slots for twice the packets that are being read: edits do not come in the order of seq
MOST_TRIES = 128  # counted in eight bits
SILENCE = 1_000_000  # ns (rule 4)
LOOKS = 4  # of the packet generator at each queue pair, in the time of silence
# Behind the first READ that is out: the first look may come at once, so as many periods have passed as there were looks
# behind it.
LOOKS_UNTIL_SILENT = LOOKS + 1
LOOKS_UNTIL_DOWN = 2 * (LOOKS + 1)
LOOKS_AT_REST = LOOKS // 2 + 1  # behind the last READ or response
SLOT_WORDS = 4  # bytes of a register word
SLOT_OWNER = 8  # seq and time, in one paired register
MOST_BITS = 2**21  # of one register of cells' bits: as many as 16 blocks of SRAM have


def park(limits: Limits, options: Options, load: Traffic, split: Sequence[Frames]) -> Parking:
    program, site, packets = limits.program, limits.site, load.packets.value
    fits.sessions(limits, len(split))
    cell, path_mtu = _cell(site)
    between = window(site, split)
    each = _queue_pairs(site, load, options, limits)
    hold = _hold(program, site, limits)
    queueing = _queueing(site)
    read = _read(site, each, cell, queueing)
    tries = _tries(program, site)
    parked = _parked(site, hold, queueing, read, tries)
    slots = Number(
        power_of_two(ceil_div(packets * read.value * SLOT_MARGIN, SECOND)),
        "slots",
        f"power of two ≥ {packets} packets/s × {duration(read.value)} × {SLOT_MARGIN} "
        f"= {ceil_div(packets * read.value * SLOT_MARGIN, SECOND)}",
    )
    needed = ceil_div(packets * parked.value, SECOND)
    cells = Number(
        max(power_of_two(needed), slots.value),
        "cells",
        f"power of two ≥ {packets} packets/s × {duration(parked.value)} parked = {needed}, and ≥ {slots.value} slots",
    )
    blocks = _slot_blocks(site, slots, cells, split, limits)
    for server in site.rdma_servers:
        fits.memory(limits, server, cells, cell.value, packets, parked.value, hold.value)
    timeout = Number(
        power_of_two(read.value // TICK + 1) * TICK,
        "ns",
        f"power of two of ticks of {TICK} ns > {duration(read.value)} of queueing and read",
    )
    return Parking(
        threshold=between.threshold,
        longest=between.longest,
        cell=cell,
        path_mtu=path_mtu,
        hold=hold,
        queueing=queueing,
        read=read,
        parked=parked,
        cells=cells,
        slots=slots,
        slot_blocks=blocks,
        queue_pairs=each,
        buckets=_buckets(site, each),
        timeout=timeout,
        tries=tries,
        **_sweep(site, each, timeout),
        regions=tuple(
            Region(s.name, s.port, i * each.value, each.value, cells.value * cell.value)
            for i, s in enumerate(site.rdma_servers)
        ),
    )


def window(site: Site, split: Sequence[Frames]) -> Window:
    """Which packets on ways are parked, by their length."""
    cell, _ = _cell(site)
    return Window(_threshold(split), _longest(site, cell))


def _threshold(split: Sequence[Frames]) -> Number:
    """Claimed lengths up to this go whole: headers may be missing, or the whole packet is no longer than its frames."""
    least = max(f.least_length for f in split)
    heavy = max(split, key=lambda f: f.to_nf + f.from_nf)
    pays = (heavy.to_nf + heavy.from_nf) // 2 - WIRE.overhead
    return Number(
        max(least - 1, pays),
        "B",
        f"the larger of {least} - 1, with which all headers are there, and ({heavy.to_nf} + {heavy.from_nf}) / 2 - "
        f"{WIRE.overhead} = {pays}, up to which a whole packet takes no more of the NF link",
    )


def _longest(site: Site, cell: Number) -> Number:
    """Neighbours on traffic ports need not take more than the largest frame, and bytes follow what was parked."""
    return Number(
        min(site.largest_frame - MOST_SUFFIX, cell.value - requests.CELL_HEADER - requests.MOST_PAD),
        "B",
        f"the smaller of the largest frame less what may follow on the way out, {site.largest_frame} - "
        f"{MOST_SUFFIX} B, and what a cell has room for, {cell.value} - {requests.CELL_HEADER} - "
        f"{requests.MOST_PAD} B",
        (site.name,),
    )


def _cell(site: Site) -> tuple[Number, Number]:
    need = site.largest_frame + requests.CELL_HEADER + requests.MOST_PAD
    mtus = set.intersection(*(set(s.nic.path_mtus_bytes) for s in site.rdma_servers))
    most = max(mtus)
    value = power_of_two(need)
    formula = (
        f"power of two ≥ {site.largest_frame} B + {requests.CELL_HEADER} B of header + {requests.MOST_PAD} B of pad"
    )
    if value > most:
        value = power_of_two(most + 1) // 2
        formula = f"the largest path MTU: {need} B do not fit, so longer packets go whole"
    nics = tuple(dict.fromkeys(f"targets/{s.nic.name}" for s in site.rdma_servers))
    path = Number(
        min(m for m in mtus if m >= value), "B", f"the smallest of the NICs' that holds a cell of {value} B", nics
    )
    return Number(value, "B", formula, (site.name, *nics)), path


def _queue_pairs(site: Site, load: Traffic, options: Options, limits: Limits) -> Number:
    """On each server, so that the others can take over one that died."""
    servers, packets, mean = len(site.rdma_servers), load.packets.value, load.mean.value
    among = max(1, servers - 1)
    nics = [s.nic for s in site.rdma_servers]
    carries, reads = min(n.queue_pair_bps for n in nics), min(n.outstanding_reads for n in nics)
    takes = max(n.read_ns for n in nics)
    payload = ceil_div(packets * mean * 8, among)
    by_load, by_reads = ceil_div(payload, carries), ceil_div(packets * takes, among * reads * SECOND)
    down = ", with one server down," if servers > 1 else ""
    formula = (
        f"power of two ≥ {rate(payload)} of payload{down} / {rate(carries)} = {by_load}, "
        f"and ≥ {ceil_div(packets, among)} reads/s × {duration(takes)} / {reads} = {by_reads}"
    )
    value = power_of_two(max(by_load, by_reads))
    if options.queue_pairs is not None:
        value, formula = options.queue_pairs, "as given"
    elif site.queue_pairs is not None:
        value, formula = site.queue_pairs, "as the site says"
    for server in site.rdma_servers:
        fits.queue_pairs(limits, server, value, formula)
    return Number(value, "queue pairs", formula, tuple(dict.fromkeys(f"targets/{n.name}" for n in nics)))


def _hold(program: ir.Program, site: Site, limits: Limits) -> Number:
    """By the schedule; timers send new packets only, so they hold none."""
    schedule = program.schedule
    try:
        args: tuple[int, ...] | None = tuple(int(fold(a)) for a in schedule.args)
    except (NotConstant, Undefined):
        args = None
    bound, words = POLICIES[schedule.policy].hold_bound(settings(schedule), args)
    words = words.removeprefix("0: ").removeprefix("none: ")
    if bound is not None:
        return Number(bound, "ns", words, (program.place(schedule.span),))
    if site.hold is not None:
        return Number(site.hold, "ns", "as the site says; longer ones are lost", (site.name,))
    fits.no_bound(limits, words)


def _queueing(site: Site) -> Number:
    """`queues` sees to it that no more waits."""
    limit = site.switch.queue_limit_bytes
    slowest = min(map(site.rate_to, site.machines))
    return Number(
        ceil_div(limit * 8 * SECOND, slowest),
        "ns",
        f"{limit} B on the wire × 8 / {rate(slowest)}, the slowest of NF and RDMA links",
        (f"targets/{site.switch.name}", site.name),
    )


def _read(site: Site, each: Number, cell: Number, queueing: Number) -> Number:
    nics = [s.nic for s in site.rdma_servers]
    outstanding, goodput = max(n.outstanding_reads for n in nics), min(n.goodput_bps for n in nics)
    takes = max(n.read_ns for n in nics)
    ahead = ceil_div(each.value * outstanding * cell.value * 8 * SECOND, goodput)
    return Number(
        queueing.value + takes + ahead,
        "ns",
        f"{duration(queueing.value)} of queueing + {duration(takes)} of a read + {duration(ahead)} of those before it: "
        f"{each.value} × {outstanding} × {cell.value} B × 8 / {rate(goodput)}",
        tuple(dict.fromkeys(f"targets/{n.name}" for n in nics)),
    )


def _parked(site: Site, hold: Number, queueing: Number, read: Number, tries: Number) -> Number:
    stay = max(s.latency for s in site.nf_servers)
    again = tries.value * site.switch.recirculation_ns
    return Number(
        hold.value + queueing.value + stay + again + read.value,
        "ns",
        f"{duration(hold.value)} held by the schedule + {duration(queueing.value)} of queueing + {duration(stay)} in "
        f"the NF server + {duration(again)} of recirculation + {duration(read.value)} to be read",
        (site.name,),
    )


def bit_registers(cells: int) -> int:
    """How many registers hold the bits of so many cells, which say whether their packets have left."""
    return ceil_div(cells, MOST_BITS)


def _slot_blocks(site: Site, slots: Number, cells: Number, split: Sequence[Frames], limits: Limits) -> Number:
    """Registers of slots and of cells; each has a spare block, and each block needs a map RAM."""
    chip = site.switch
    edits = max(f.edits for f in split)
    words = ceil_div(edits, SLOT_WORDS) + 1  # and verdict with length
    word = ceil_div(slots.value * SLOT_WORDS, chip.sram_block_bytes) + 1
    owner = ceil_div(slots.value * SLOT_OWNER, chip.sram_block_bytes) + 1
    rings = bit_registers(cells.value)
    ring = ceil_div(cells.value // rings, 8 * chip.sram_block_bytes) + 1
    blocks = owner + words * word + rings * ring
    fits.slots(limits, slots.value, cells.value, blocks, 1 + words + rings, max(owner, ring), edits)
    return Number(
        blocks,
        "blocks",
        f"{owner} for seq and time + {words} × {word} for verdict, length and {edits} B of edits + "
        f"{rings} × {ring} for a bit of each cell, each with one spare; of {chip.sram_blocks}",
        (f"targets/{chip.name}",),
    )


def _buckets(site: Site, each: Number) -> Number:
    total = each.value * len(site.rdma_servers)
    return Number(
        bucket_count(total),
        "buckets",
        f"power of two ≥ {BUCKETS_EACH} for each of {total} queue pairs, so that load moves in small parts",
    )


def _tries(program: ir.Program, site: Site) -> Number:
    """Until every packet that a buffer lets go at once is read, even if all are on one queue pair."""
    takes, again = max(s.nic.read_ns for s in site.rdma_servers), site.switch.recirculation_ns
    together, reads = settings(program.schedule).count or 1, min(s.nic.outstanding_reads for s in site.rdma_servers)
    rounds = ceil_div(together, reads)
    some = "" if rounds == 1 else f" × {rounds}: {together} packets leave together, {reads} are read at a time"
    return Number(
        min(MOST_TRIES, power_of_two(ceil_div(takes * rounds, again))),
        "tries",
        f"power of two ≥ {duration(takes)} of a read / {duration(again)} of a recirculation{some}",
        (f"targets/{site.switch.name}",),
    )


def _sweep(site: Site, each: Number, timeout: Number) -> dict[str, Number]:
    silence = max(ceil_div(SILENCE, TICK), 2 * timeout.value // TICK) * TICK
    total = each.value * len(site.rdma_servers)
    return {
        "silence": Number(
            silence, "ns", f"the larger of {duration(SILENCE)} and twice the timeout, in ticks of {TICK} ns"
        ),
        "sweep": Number(
            max(1, silence // LOOKS // total),
            "ns",
            f"{duration(silence)} / {LOOKS} / {total} queue pairs: each is looked at {LOOKS} times in that time",
        ),
    }
