"""Two runs of one trace: do they show the same to whoever watches the ports?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import replace

from polysome.engines.record import Copy, Fate, Made, Record
from polysome.testing.builtin.base import Broken, difference, when


def same(first: Record, again: Record, how: str) -> int:
    """How many packets were compared. Broken if fates, bytes, ports or times differ; `how` the second run was made.

    Packets that the second run lost are no difference.
    """
    complete(first, again, how)
    if again.lost:
        first, again = _without(first, again.lost), _without(again, again.lost)
    for one, other in zip(first.fates, again.fates, strict=True):
        _fate(first, one, other, how)
    for number, (made, remade) in enumerate(zip(first.emitted, again.emitted, strict=False)):
        _emitted(first, number, made, remade, how)
    if len(first.emitted) != len(again.emitted):
        extra = max(first.emitted, again.emitted, key=len)[min(len(first.emitted), len(again.emitted))]
        causes = () if extra.cause is None else (extra.cause,)
        raise Broken(causes, f"{how}, {len(again.emitted)} packets are emitted instead of {len(first.emitted)}")
    return len(first.fates)


def _without(record: Record, lost: Collection[int]) -> Record:
    """As if these packets had not left."""
    fates = [replace(f, copies=()) if f.number in lost else f for f in record.fates]
    places = sorted([c.place for f in fates for c in f.copies] + [m.place for m in record.emitted])
    new = {place: n for n, place in enumerate(places)}
    return replace(
        record,
        fates=tuple(replace(f, copies=tuple(replace(c, place=new[c.place]) for c in f.copies)) for f in fates),
        emitted=tuple(replace(m, place=new[m.place]) for m in record.emitted),
    )


def fate_text(record: Record, fate: Fate) -> str:
    """What became of a packet, in words."""
    if fate.dropped:
        return f'dropped, "{fate.reason}"'
    if fate.held:
        return "held until the end"
    return "sent " + ", ".join(f"by port {record.program.ports[c.port]} at {when(record, c.time)}" for c in fate.copies)


def complete(first: Record, again: Record, how: str) -> None:
    """Broken if the second run did not get to the end."""
    if again.crash is not None:
        raise Broken((), f"{how}, the engine fails: {again.crash}")
    if len(first.fates) != len(again.fates):
        raise Broken((), f"{how}, {len(again.fates)} packets are decided instead of {len(first.fates)}")


def copies_of(fate: Fate) -> Counter[tuple[int, bytes]]:
    """Ports and bytes, whatever the times."""
    return Counter((copy.port, copy.data) for copy in fate.copies)


def _fate(record: Record, one: Fate, other: Fate, how: str) -> None:
    n = one.number
    if _outcome(one) != _outcome(other) or one.at != other.at:
        raise Broken(
            (n,),
            f"{how}, something else becomes of packet {n + 1}",
            f"expected: {fate_text(record, one)}",
            f"found:    {fate_text(record, other)}",
        )
    for a, b in zip(one.copies, other.copies, strict=True):
        if a.data != b.data:
            raise Broken((n,), f"{how}, packet {n + 1} leaves with other bytes", *difference(a.data, b.data))
        if a.place != b.place:
            raise Broken(
                (n,),
                f"{how}, packet {n + 1} leaves in another order: number {b.place} of all that leaves, not {a.place}",
            )


def _outcome(fate: Fate) -> tuple[str | None, tuple[tuple[int, int], ...]]:
    return fate.reason, tuple(map(_where, fate.copies))


def _where(copy: Copy) -> tuple[int, int]:
    return copy.port, copy.time


def _emitted(record: Record, number: int, made: Made, remade: Made, how: str) -> None:
    causes = () if made.cause is None else (made.cause,)
    if (made.port, made.time) != (remade.port, remade.time):
        ports = record.program.ports
        raise Broken(
            causes,
            f"{how}, packet {number + 1} of those that are emitted leaves elsewhere or at another time",
            f"expected: by port {ports[made.port]} at {when(record, made.time)}",
            f"found:    by port {ports[remade.port]} at {when(record, remade.time)}",
        )
    if made.data != remade.data:
        said = f"{how}, packet {number + 1} of those that are emitted has other bytes"
        raise Broken(causes, said, *difference(made.data, remade.data))
