"""What goes wrong in a run of the system, as `--faults` says it.

    server0:loss=1e-3,dup=1e-4;nf:reorder=1e-2/20us;server1:dead@2ms..5ms;nf:stuck@1ms..3ms;server0:nak@4ms

Parts are separated by `;`. Each says where, then after `:` what, separated by `,`. Probabilities are of a frame, times
count from the first packet; an interval without an end lasts for ever. What a later part says of the same fault at the
same place replaces the earlier. A part may also be the name of a mix, which is a fault on all links inside.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum

from polysome.syntax.literals import quantity

FOR_EVER = 2**64 - 1
LONGEST = 10**18  # ns; later than any trace ends

# Modest enough that most packets of a test arrive.
MIXES = {
    "loss": "all:loss=0.02",
    "duplication": "all:dup=0.02",
    "reordering": "all:reorder=0.02/20us",
    "corruption": "all:corrupt=0.02",
    "mix": "all:loss=0.005,dup=0.005,reorder=0.005/20us,corrupt=0.005",
}


class Kind(IntEnum):
    """As runtime/system/c_config.hpp numbers them."""

    loss = 0
    duplicate = 1
    reorder = 2
    corrupt = 3
    down = 4
    dead = 5
    stuck = 6
    nak = 7


class Where(IntEnum):
    """As runtime/system/c_config.hpp numbers them: the NF's link or the NF, a server's, that of a logical port."""

    nf = 0
    server = 1
    port = 2


@dataclass(frozen=True)
class Fault:
    """One fault at one place. Times in ns after the first packet; `hold`: how long others may overtake a frame."""

    kind: Kind
    where: Where
    index: int
    probability: float = 0.0
    hold: int = 0
    start: int = 0
    end: int = FOR_EVER


class FaultError(ValueError):
    """The text is wrong: `message` says what and where, `mend` what is allowed."""

    def __init__(self, message: str, mend: str) -> None:
        super().__init__(message)
        self.message, self.mend = message, mend


_SHARES = {"loss": Kind.loss, "dup": Kind.duplicate, "reorder": Kind.reorder, "corrupt": Kind.corrupt}
_TIMES = {"down": Kind.down, "dead": Kind.dead, "stuck": Kind.stuck, "nak": Kind.nak}
_WHATS = "loss=P, dup=P, reorder=P/DURATION, corrupt=P, down@A..B; dead@A..B or nak@A of a server; stuck@A..B of the NF"


def parse(text: str, servers: int, ports: Sequence[str] = ()) -> tuple[Fault, ...]:
    """The faults of a system with so many RDMA servers and these logical ports. Raises FaultError."""
    return tuple(_Parser(servers, ports).faults(text, 1))


@dataclass(frozen=True)
class _Parser:
    servers: int
    ports: Sequence[str]

    def faults(self, text: str, column: int) -> Iterator[Fault]:
        """`column`: where the text begins, from 1."""
        for part, at in _parts(text, ";", column):
            where, colon, rest = part.partition(":")
            if not colon:
                if part not in MIXES:
                    mend = f"Write WHERE:WHAT, for example `nf:loss=1e-3`, or a mix: {', '.join(MIXES)}."
                    raise FaultError(f"`{part}` is no fault ({_at(at)})", mend)
                yield from self.faults(MIXES[part], at)
                continue
            places = self._places(where.strip(), at)
            for what, start in _parts(rest, ",", at + len(where) + 1):
                for place in places:
                    yield self._fault(what, start, *place)

    def _places(self, name: str, at: int) -> list[tuple[Where, int]]:
        servers = [(Where.server, i) for i in range(self.servers)]
        if name == "all":
            return [(Where.nf, 0), *servers]
        if name == "nf":
            return [(Where.nf, 0)]
        if name == "servers" and servers:
            return servers
        if name in self.ports:
            return [(Where.port, self.ports.index(name))]
        number = name.removeprefix("server")
        if number != name and number.isascii() and number.isdigit():
            if int(number) < self.servers:
                return [servers[int(number)]]
            known = ("There is none.", "There is only server0.", f"There are server0 to server{self.servers - 1}.")
            mend = known[min(self.servers, 2)]
            raise FaultError(f"there is no RDMA server {int(number)} ({_at(at)})", mend)
        own = ["servers", *(f"server{i}" for i in range(self.servers))] if servers else []
        names = ["all", "nf", *own, *self.ports]
        raise FaultError(f"`{name}` is no place ({_at(at)})", f"Places are {', '.join(names)}.")

    def _fault(self, what: str, at: int, where: Where, index: int) -> Fault:
        name, equals, share = what.partition("=")
        if equals and name.strip() in _SHARES:
            return _share(_SHARES[name.strip()], share, at + len(name) + 1, where, index)
        name, sign, times = what.partition("@")
        if sign and name.strip() in _TIMES:
            kind = _TIMES[name.strip()]
            _check_place(kind, where, name.strip(), at)
            return _timed(kind, times, at + len(name) + 1, where, index)
        raise FaultError(f"`{what}` is no fault ({_at(at)})", f"There are {_WHATS}.")


def _share(kind: Kind, text: str, at: int, where: Where, index: int) -> Fault:
    """`1e-3`, or of frames that others overtake `1e-3/20us`."""
    share, slash, hold = text.partition("/")
    if (kind is Kind.reorder) != bool(slash):
        mend = "Write for example `reorder=1e-3/20us`: held back by at most 20us." if not slash else "Leave out `/…`."
        found = "does not say how long a frame is held back" if not slash else "does not hold a frame back"
        raise FaultError(f"`{text.strip()}` {found} ({_at(at)})", mend)
    return Fault(kind, where, index, _probability(share, at), _duration(hold, at + len(share) + 1) if slash else 0)


def _probability(text: str, at: int) -> float:
    try:
        value = float(text) if "_" not in text else -1.0
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise FaultError(
            f"`{text.strip()}` is no probability ({_at(at)})",
            "Write a number from 0 to 1, for example `0.01` or `1e-4`.",
        )
    return value


def _check_place(kind: Kind, where: Where, name: str, at: int) -> None:
    if kind in (Kind.dead, Kind.nak) and where is not Where.server:
        raise FaultError(f"only RDMA servers can be `{name}` ({_at(at)})", f"Write for example `server0:{name}@2ms`.")
    if kind is Kind.stuck and where is not Where.nf:
        raise FaultError(f"only the NF can be `stuck` ({_at(at)})", "Write for example `nf:stuck@1ms..3ms`.")


def _timed(kind: Kind, text: str, at: int, where: Where, index: int) -> Fault:
    """`2ms..5ms`, or for ever from `2ms` on; a NAK comes at one time."""
    first, dots, last = text.partition("..")
    start = _duration(first, at)
    if kind is Kind.nak:
        if dots:
            raise FaultError(f"a NAK comes at one time, not in an interval ({_at(at)})", "Write for example `nak@4ms`.")
        return Fault(kind, where, index, start=start)
    end = _duration(last, at + len(first) + 2) if last.strip() else FOR_EVER
    if end <= start:
        raise FaultError(f"`{text.strip()}` ends before it begins ({_at(at)})", "Write for example `2ms..5ms`.")
    return Fault(kind, where, index, start=start, end=end)


def _duration(text: str, at: int) -> int:
    """In ns."""
    plain = text.strip()
    found = quantity(plain) if plain[:1].isdigit() and not plain.isdigit() else "it has no unit"
    if isinstance(found, str) or found[1] != "duration" or found[0] > LONGEST:
        raise FaultError(f"`{plain}` is no duration ({_at(at)})", "Write for example `20us` or `1.5ms`.")
    return found[0]


def _parts(text: str, separator: str, column: int) -> Iterator[tuple[str, int]]:
    """The parts without spaces around them, and where each begins; an empty one is an error, but not an empty end."""
    pieces = text.split(separator)
    for number, piece in enumerate(pieces):
        begin = column + len(piece) - len(piece.lstrip())
        if piece.strip():
            yield piece.strip(), begin
        elif number + 1 < len(pieces) or number == 0:
            raise FaultError(f"nothing is said ({_at(column)})", f"Between `{separator}` there is one fault each.")
        column += len(piece) + len(separator)


def _at(column: int) -> str:
    return f"column {column}"
