"""What a plan is: the numbers that the switch program, the servers and the controller are made from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

from polysome.analysis.layout import Carry
from polysome.plan.numbers import Group, Number
from polysome.plan.site import Site
from polysome.plan.sizes import Sizes
from polysome.plan.targets import Switch


@dataclass(frozen=True)
class Options:
    """`carry`: what the NF link carries. `queue_pairs`: on each server, a power of two; None: the site's."""

    carry: Carry = "fields"
    queue_pairs: int | None = None


USUAL = Options()


@dataclass(frozen=True)
class Asked:
    """What packets of a way have, or they go whole, and why."""

    what: str
    why: str


@dataclass(frozen=True)
class Frames:
    """What packets of one way through the switch's parser, or of classes that go whole, take on the NF link.

    `number`: the class that the tag names, None if whole. `depth`: bytes of the packet that the mirrored copy brings;
    `mirror_length`: the longest length of its mirror session; `least_length`: the shortest claimed length with which
    all headers are there; `asked`: of the packet besides. Whole: `to_nf` and `from_nf` are for a packet of the mean
    length, which leaves by `grows` bytes longer; `why`, `place`: the cause. `usual`: any number of packets may be so.
    """

    headers: str
    number: int | None
    fields: int
    edits: int
    to_nf: int
    from_nf: int
    depth: int = 0
    mirror_length: int = 0
    least_length: int = 0
    asked: tuple[Asked, ...] = ()
    why: str = ""
    place: str = ""
    usual: bool = False
    grows: int = 0


@dataclass(frozen=True)
class Traffic:
    """The load that is planned for; `mean` is of a frame without FCS."""

    rate: Number
    mean: Number
    packets: Number


@dataclass(frozen=True)
class Window:
    """A packet on a way is parked if `threshold` < claimed length <= `longest`."""

    threshold: Number
    longest: Number


@dataclass(frozen=True)
class Mix:
    """Packets per second that go whole whatever their length, and that are parked; both at worst, for the links that
    they load, so together they may be more than there are. `short`: of those on a way, too short to be parked."""

    whole: Number
    split: Number
    short: Number


@dataclass(frozen=True)
class Queues:
    """What the switch's traffic manager is told, in bytes of whole cells.

    `limit`: of every port's queue of all frames; `first`: of the one that is served before it, at ports of servers that
    have queue pairs; `total`: of all, which the packet buffer has room for.
    """

    limit: Number
    first: Number
    total: Number


@dataclass(frozen=True)
class Link:
    """Predicted load in one direction, in bit/s on the wire (`goodput`: of payload), and what the link can carry.

    `server`: at its end, "" for traffic ports.
    """

    name: str
    direction: str
    load: Number
    capacity: Number
    server: str = ""

    @property
    def share(self) -> int:
        """Of the capacity, in tenths of a percent, rounded up."""
        return -(-self.load.value * 1000 // self.capacity.value)


@dataclass(frozen=True)
class Store(Window, ABC):
    """Where packets wait while the NF decides: what an architecture's plan has of it, and what others ask of it.

    `queueing`: ns, the longest that a frame waits in the switch, for the port of the NF or of a machine of the store.
    """

    queueing: Number

    @property
    @abstractmethod
    def machines(self) -> tuple[str, ...]:
        """The servers that packets wait on, by name."""

    @property
    @abstractmethod
    def called(self) -> str:
        """What these machines are, in the middle of a sentence."""

    @property
    @abstractmethod
    def in_short(self) -> str:
        """What it takes of the switch."""

    @abstractmethod
    def lent(self, machine: str) -> str:
        """What a machine gives, in the words of `X lends …`."""

    @abstractmethod
    def groups(self) -> list[Group]:
        """Its numbers as people read them; titles begin small."""

    @abstractmethod
    def notes(self, site: Site, load: Traffic) -> Iterator[str]:
        """What people should know of it."""

    @abstractmethod
    def links(self, site: Site, load: Traffic, mixed: Mix) -> list[Link]:
        """The links of its machines with their predicted load."""

    @abstractmethod
    def relief(self, site: Site, link: Link) -> str:
        """What helps if one of its links is too full; "" of another's."""

    @abstractmethod
    def on_wire(self, cell: int) -> Iterator[tuple[int, str]]:
        """The most bytes on the wire that a cell of the packet buffer is, by its frames, and of which."""

    @abstractmethod
    def first_queue(self, chip: Switch) -> Number:
        """Bytes of the queue that is served before the other, at its machines' ports."""

    @abstractmethod
    def sizes(self, site: Site, edits: int) -> Sizes:
        """What the switch's program is told; `edits`: bytes of each frame of edits."""


@dataclass(frozen=True)
class Plan:
    """`store` None: no packet is split. `nf_link`: the longest frame between switch and NF, without FCS; `out_frame`:
    the longest that leaves by a traffic port.

    `nf_server` has all the traffic, on `cores`; those of `standby` get it all when it is down. `whole_rate`: what whole
    fallback may take of the NF link, in bit/s of packets; None where none is parked.
    """

    nf: str
    architecture: str
    carry: str
    site: str
    switch: str
    traffic: Traffic
    mix: Mix
    frames: tuple[Frames, ...]
    store: Store | None
    queues: Queues
    nf_server: str
    standby: tuple[str, ...]
    cores: Number
    nf_link: Number
    out_frame: Number
    whole_rate: Number | None
    links: tuple[Link, ...]
    notes: tuple[str, ...]

    @property
    def split(self) -> tuple[Frames, ...]:
        return tuple(f for f in self.frames if f.number is not None)
