"""Seeded faults: which kinds there are. The list was fixed before the properties that are to catch them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Kind(Enum):
    """What goes wrong, as somebody who writes an NF or the machinery below it would get it wrong."""

    # In a spec
    direction = "a packet goes to, or is accepted from, the wrong side"
    swapped = "two alike things are exchanged: source and destination, both ports, two arguments"
    missing_update = "state is not written although it should be"
    missing_write = "a field keeps its old value"
    missing_check = "a condition is not tested"
    inverted = "a condition means its opposite"
    boundary = "< for <=, one too many, one too few"
    timeout = "an entry lives too long, not long enough, or of the wrong clock"
    refresh = "a use keeps something alive that it should not, or does not although it should"
    when_full = "a full table does something else"
    leak = "something taken is never given back"
    key = "state is keyed by too much, too little or the wrong thing"
    constant = "a number is not the right one"
    arithmetic = "a wrong operator, an overflow, a rounding"
    rate = "a limit that limits too much, too little, or not at all"
    checksum = "a checksum is forgotten"
    order = "steps are in the wrong order; packets of one class leave in another order"
    verdict = "dropped instead of sent, sent instead of dropped, to several ports instead of one"
    # In the interpreter and the kinds of state
    time = "what is due happens too late, too early, not at all, or in another order"
    stale = "something that has gone is still used"
    estimate = "a sketch breaks its promise"
    lookup = "a table finds the wrong row"
    parsing = "a header is taken for another, or where none is"
    rebuilding = "the packet that leaves is not the edited packet"
    accounting = "a packet is lost, doubled, or counted wrong"


@dataclass(frozen=True)
class SpecMutant:
    """`old`, which stands exactly once in the example's spec (or in `file` of the library), becomes `new`.

    `equivalent`: why no trace can tell the mutant from the original; None for real faults.
    """

    name: str
    kind: Kind
    example: str
    old: str
    new: str
    file: str | None = None
    equivalent: str | None = None


@dataclass(frozen=True)
class EngineMutant:
    """`old`, which stands exactly once in a module of Polysome, becomes `new`; `example` is what it is tested with."""

    name: str
    kind: Kind
    module: str
    old: str
    new: str
    example: str
    equivalent: str | None = None


@dataclass(frozen=True)
class NativeMutant:
    """`old`, which stands exactly once in `file` (of the C++ runtime, or of its generator), becomes `new`.

    `example`: what it is tested with; or a spec of native_specs.py.
    """

    name: str
    kind: Kind
    file: str
    old: str
    new: str
    example: str
    equivalent: str | None = None


@dataclass(frozen=True)
class SystemMutant:
    """`old`, which stands exactly once in `file`, becomes `new`; `test`, as pytest names it, is the cheapest that
    should fail. Files are of the P4 program's templates and generator, the soft switch, the RDMA software, the
    simulated system.
    """

    name: str
    kind: Kind
    file: str
    old: str
    new: str
    test: str
    equivalent: str | None = None


Mutant = SpecMutant | EngineMutant | NativeMutant | SystemMutant
