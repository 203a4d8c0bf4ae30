"""Checksums stay what they are: right, wrong or absent."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, NamedTuple

from polysome.engines.record import Fate, Made, Record
from polysome.ir import program as ir
from polysome.ir.walk import walk
from polysome.testing.builtin.base import Broken, Invariant
from polysome.testing.wire import Checksum, checksums, network_end


class Pushed(NamedTuple):
    """Does the NF push headers, `none`: such whose checksum says by zero that there is none?

    Without any, a checksum that cannot be paired could not be judged at arrival.
    """

    any: bool
    none: bool


@dataclass(frozen=True)
class Checksums(Invariant):
    """Every checksum that was right when a packet arrived is right when it leaves, whatever the NF changed.

    Those of headers that the NF made are right too, also in packets that it emitted. One that was wrong stays wrong, by
    the same amount, so that a damaged packet is not made to look intact. A UDP checksum of zero, which says that there
    is none, stays zero; so is that of a UDP header that the NF pushed (L10.4; RFC 768, for tunnels over IPv6 RFC 6935).
    Judged on the bytes as a receiver would, by the RFCs; see `polysome.testing.wire` for what.
    """

    name: ClassVar[str] = "checksums"
    place: ClassVar[int] = 3

    def check(self, record: Record) -> int:
        found = 0
        for fate in record.fates:
            if fate.copies:
                found += self._packet(fate, pushed(record.program))
        return found + sum(self._emitted(record, number, made) for number, made in enumerate(record.emitted))

    def _packet(self, fate: Fate, made: Pushed) -> int:
        arrived = fate.arrival.data
        before, end = by_name(checksums(arrived)), network_end(arrived)
        cases = 0
        for data in {copy.data for copy in fate.copies}:
            if data == arrived:
                continue
            longer = network_end(data) - end
            for name, after in by_name(checksums(data)).items():
                cases += len(after)
                # The innermost of each kind are the same ones; what is further out was pushed or popped.
                for i, now in enumerate(reversed(after)):
                    then = before[name][-1 - i] if i < len(before.get(name, [])) else None
                    if then is not None and made.any and now.at - then.at < longer and _may_be_new(now, then, made):
                        then = None  # in front of the one that arrived, which its protocol hides
                    if then is not None and longer < 0 and now.at - then.at not in (longer, len(data) - len(arrived)):
                        then = None  # it was inside, where nobody saw it: that one was popped
                    if then is not None or (made.any and longer >= 0):
                        self._pair(fate.number, then, now, data, made)
        return cases

    def _pair(self, n: int, then: Checksum | None, now: Checksum, data: bytes, made: Pushed) -> None:
        if then is None:
            if not now.right and not (_is_none(now) and made.none):
                raise Broken((n,), f"the {now.name} checksum that packet {n + 1} was given is wrong", _field(now, data))
            return
        if _is_none(now) or _is_none(then):
            if then.value != now.value:
                raise Broken(
                    (n,),
                    f"packet {n + 1} arrived with {_zero(then)} and left with {_zero(now)}: one that is zero says that "
                    "there is none, and must stay so",
                )
            return
        if then.right and not now.right:
            raise Broken(
                (n,),
                f"packet {n + 1} arrived with a right {then.name} checksum and left with a wrong one",
                _field(now, data),
            )
        if not then.right and now.residual != then.residual:
            raise Broken(
                (n,),
                f"packet {n + 1} arrived with a wrong {then.name} checksum, {then.value:#06x}, and was made to look "
                + ("intact" if now.right else "wrong in another way"),
                f"wrong by {then.residual:#06x} before, by {now.residual:#06x} after",
            )

    def _emitted(self, record: Record, number: int, made: Made) -> int:
        end = len(made.data)
        if made.headers is not None:
            end = sum(record.program.headers[name].fixed for name, _ in made.headers)
        own = [c for c in checksums(made.data) if c.at < end]
        for c in own:
            if not c.right:
                causes = () if made.cause is None else (made.cause,)
                because = f", because of packet {made.cause + 1}," if made.cause is not None else ""
                raise Broken(
                    causes,
                    f"packet {number + 1} of those that the NF emitted{because} has a wrong {c.name} checksum",
                    _field(c, made.data),
                )
        return len(own)


@lru_cache(maxsize=64)
def pushed(program: ir.Program) -> Pushed:
    """What the NF makes."""
    headers = [program.headers[node.header] for node in walk(program.packet_handlers) if isinstance(node, ir.Push)]
    sums = [f.checksum for header in headers for f in header.fields if f.checksum is not None]
    return Pushed(bool(headers), any(checksum.zero_is_none for checksum in sums))


def _is_none(c: Checksum) -> bool:
    """A zero of UDP, over whatever it is."""
    return c.value == 0 and c.name.endswith("UDP")


def _may_be_new(now: Checksum, then: Checksum, made: Pushed) -> bool:
    """One elsewhere, whose zero only a header that the NF made can have, or that is right whatever arrived."""
    return made.none if _is_none(now) and not _is_none(then) else now.right


def by_name(found: tuple[Checksum, ...]) -> dict[str, list[Checksum]]:
    """By what they are, wherever in tunnels, outermost first."""
    names: dict[str, list[Checksum]] = {}
    for c in found:
        names.setdefault(c.name.removeprefix("inner ").replace("inner ", ""), []).append(c)
    return names


def _zero(c: Checksum) -> str:
    return f"the UDP checksum {c.value:#06x}" if c.value else "a UDP checksum of zero"


def _field(c: Checksum, data: bytes) -> str:
    """What is there and what would be right."""
    total = (c.residual - c.value) % 0xFFFF
    right = (0xFFFF - total) % 0x10000 or 0xFFFF
    return f"bytes {c.at} and {c.at + 1} of {len(data)} are {c.value:04x}, they should be {right:04x}"


PROPERTY = Checksums()
