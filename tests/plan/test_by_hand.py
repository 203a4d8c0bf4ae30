"""Plans of fourteen NFs on six sites, summed up here from what the protocol sends for each packet and nothing else.

No function of the planner is called but `plan` itself. What is said of an NF was read off its spec by hand.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from tests.plan.helpers import example, program_of, read_site

from polysome.ir import program as ir
from polysome.plan.architectures.ribosome.store import parking_of
from polysome.plan.model import Plan
from polysome.plan.split import plan
from polysome.syntax.diagnostics import Report, SpecError

HERE = Path(__file__).parent / "by_hand"
G = 10**9


@dataclass(frozen=True)
class Nf:
    """`split`: bytes of the frame to and from the NF, of what is usual and split; None: nothing usual is.

    `whole`: does something usual go whole, and then by how many bytes it leaves longer at most. `least`: packets up to
    so many bytes are not parked; 0: nothing at all is. `exits`: for each port, from which ports packets leave by it.
    """

    name: str
    split: tuple[int, int] | None
    whole: int | None
    least: int
    exits: tuple[tuple[int, ...], ...]

    @property
    def program(self) -> ir.Program:
        return program_named(self.name)


@cache
def program_named(name: str) -> ir.Program:
    own = HERE / f"{name}.nf"
    return program_of(own) if own.is_file() else example(name)


# Ethernet 14, VLAN 4, IPv4 20 to 60, IPv6 40, TCP 20 to 60, UDP 8, GTP-U 8, PPPoE with its protocol 8, VXLAN 8. What is
# parked has all the headers of any way, the last one with all options: with a tag, IPv4 and TCP 98 B, IPv4 alone 78 B,
# IPv6 and TCP 118 B; without, IPv6 and TCP 114 B, IPv6, IPv4 and TCP 134 B.
CROSSED = ((1,), (0,))
ANY2 = ((0, 1), (0, 1))
NFS = (
    Nf("load_balancer", (60, 60), None, 97, ANY2),  # by the port that the config gives a backend
    Nf("nat", (60, 60), None, 97, ANY2),
    # IPv6 and TCP: 26 + 16 + 16 + 2 + 2 + 1 of flow and 1 of flags; its answers have room in 60.
    Nf("firewall", (64, 60), None, 113, CROSSED),
    Nf("shaper", (60, 60), None, 97, CROSSED),
    Nf("fragments", (60, 60), None, 97, CROSSED),
    Nf("bridge", None, 0, 0, ((0, 1, 2),) * 3),
    Nf("router6", None, 0, 0, ANY2),
    Nf("slim_dpi", None, 0, 77, CROSSED),  # TCP and UDP whole, since it reads how long the payload is
    Nf("reader", None, 0, 77, CROSSED),
    Nf("vxlan_gateway", None, 14 + 20 + 8 + 8, 117, CROSSED),
    Nf("katran", None, 20, 77, ANY2),
    Nf("translator", None, 40 - 20, 0, CROSSED),
    Nf("bng", (60, 60), 8, 133, CROSSED),  # IPv4 comes or loses its PPPoE; IPv6 is dropped by fields alone
    Nf("upf", None, 20 + 8 + 8, 0, CROSSED),
)


@dataclass(frozen=True)
class Place:
    """A site: rates in bit/s; `nf`: of each NF server's link, the first first; `several`: switch ports of each port."""

    name: str
    model: str
    traffic: int
    nf: tuple[int, ...]
    memory: int  # servers
    goodput: int
    link: int
    several: int = 1
    whole: str = ""

    def text(self, ports: tuple[str, ...]) -> str:
        step = 1 if self.model == "linux" else 4
        numbers = [n * step for n in range(32)]
        take = iter(numbers)
        bound = "\n".join(f"{name} = {[next(take) for _ in range(self.several)]}" for name in ports)
        nic = {10 * G: "software" if self.model != "linux" else "linux", 100 * G: "connectx5"}
        servers = "\n".join(
            f'[[nf_servers]]\nname = "nf{n}"\nswitch_port = {next(take)}\nmodel = "{nic[rate]}"'
            for n, rate in enumerate(self.nf)
        )
        memories = "\n".join(
            f'[[rdma_servers]]\nname = "memory{n}"\nswitch_port = {next(take)}\nmemory = "16GiB"'
            for n in range(self.memory)
        )
        assumed = f"[plan]\nwhole = {self.whole}\n" if self.whole else ""
        head = f'[switch]\nmodel = "{self.model}"\ntraffic_rate = "{self.traffic}bps"\n[ports]\n'
        return f"{head}{bound}\n{servers}\n{memories}\n{assumed}"


ONE = Place("one", "tofino", 25 * G, (100 * G,), 3, 75 * G, 100 * G)
STANDBYS = Place("standbys", "tofino", 25 * G, (100 * G, 100 * G, 100 * G), 3, 75 * G, 100 * G)
SEVERAL = Place("several", "tofino", 10 * G, (100 * G,), 3, 75 * G, 100 * G, several=2)
SMALL = Place("small", "tofino", 25 * G, (10 * G,), 3, 75 * G, 100 * G)
LINUX = Place("linux", "linux", G // 2, (10 * G,), 2, 75 * G // 10, 10 * G)
COUNTED = Place("counted", "tofino", 25 * G, (100 * G,), 3, 75 * G, 100 * G, whole="0.4")
SITES = (ONE, STANDBYS, SEVERAL, SMALL, LINUX, COUNTED)

MEAN, WIRE, TAGGED = 1000, 24, 26  # bytes: of a packet, of the wire around a frame, of Ethernet and tag around a packet
SUFFIX, LARGEST = 7, 1500 + 14 + 8
LONGEST = LARGEST - SUFFIX


def up(a: int, b: int) -> int:
    return -(-a // b)


@dataclass
class Sums:
    """What is to be expected, by link and direction, as (load, capacity)."""

    nf: Nf
    place: Place

    def packets(self) -> int:
        return up(self.rate(), 8 * (MEAN + WIRE))

    def rate(self) -> int:
        return len(self.nf.program.ports) * self.place.several * self.place.traffic

    def counts(self) -> tuple[int, int]:
        """Packets/s that go whole for what they are, and that are parked if long enough; each at worst."""
        packets = self.packets()
        if self.nf.least == 0:
            return packets, 0
        if self.place.whole:
            whole = up(packets * 4, 10)
            return whole, packets - whole
        return (packets if self.nf.whole is not None else 0), (packets if self.nf.split is not None else 0)

    def links(self) -> dict[tuple[str, str], tuple[int, int]]:
        whole, parked = self.counts()
        found = {("traffic ports", "in"): (self.rate(), self.rate()), **self.out(whole, parked)}
        for n, rate in enumerate(self.place.nf):
            name = f"{'standby ' if n else ''}NF server nf{n}"
            found |= {(name, way): (self.on_nf_link(whole, parked, way), rate) for way in ("to", "from")}
        if self.nf.least:
            # Ethernet 14, IPv4 20, UDP 8, BTH 12, ICRC 4; RETH 16 or AETH 4; cell: seq 4, pad 4, as 1000 is 4 × 250.
            roce = 14 + 20 + 8 + 12 + 4
            write, read, answer, ack = roce + 16 + 4 + 4 + MEAN, roce + 16, roce + 4 + 4 + 4 + MEAN, roce + 4
            # Buckets, 16 or more for each queue pair and a power of two, take queue pairs in turn: of 64 for as many as
            # three servers have one each, the first has 22, the others 21.
            parts = {2: (16, 16), 3: (22, 21, 21)}[self.place.memory]
            for n, part in enumerate(parts):
                share, name = up(parked * part, sum(parts)), f"RDMA server memory{n}"
                acks = up(
                    share * 8 * 2 * (ack + WIRE), 32
                )  # of two requests for a packet, each 32nd: all WRITEs, at worst
                found[name, "to"] = share * 8 * (write + read + 2 * WIRE), self.place.link
                found[name, "from"] = share * 8 * (answer + WIRE) + acks, self.place.link
                found[name, "goodput"] = share * 8 * MEAN, self.place.goodput
        return found

    def on_nf_link(self, whole: int, parked: int, way: str) -> int:
        packets = self.packets()
        grown = self.nf.whole or 0 if way == "from" else 0
        load = whole * (MEAN + TAGGED + grown + WIRE)
        if self.nf.least and packets > whole:
            own = 60 if self.nf.split is None else self.nf.split[way == "from"]
            short = min(packets - whole, up(parked * (LONGEST - MEAN), LONGEST - self.nf.least))
            load += short * (self.nf.least + TAGGED + WIRE) + (packets - whole - short) * (own + WIRE)
        return load * 8

    def out(self, whole: int, parked: int) -> dict[tuple[str, str], tuple[int, int]]:
        longer = max((self.nf.whole or 0) if whole else 0, SUFFIX if parked else 0)
        ports, rate = len(self.nf.program.ports), self.place.traffic
        load = self.rate() if not longer else self.packets() * 8 * (MEAN + longer + WIRE)
        found = {("traffic ports", "out"): (load, ports * rate)}
        if self.place.several > 1:
            for port, name in enumerate(self.nf.program.ports):
                arriving = len(self.nf.exits[port]) * self.place.several * rate
                found[f"port {name}", "out"] = min(self.rate(), arriving), rate
        return found


def planned(nf: Nf, place: Place, tmp_path: Path) -> Plan:
    path = tmp_path / "site.toml"
    path.write_text(place.text(nf.program.ports))
    return plan(nf.program, read_site(str(path), nf.program.ports, Report()))


@pytest.mark.parametrize("place", SITES, ids=lambda p: p.name)
@pytest.mark.parametrize("nf", NFS, ids=lambda n: n.name)
def test_the_load_of_every_link_or_the_link_that_is_too_full(nf: Nf, place: Place, tmp_path: Path) -> None:
    wanted = Sums(nf, place).links()
    binding = {key: sums for key, sums in wanted.items() if key != ("traffic ports", "out")}
    full = {key for key, (load, capacity) in binding.items() if load > capacity}
    if full:
        with pytest.raises(SpecError) as refused:
            planned(nf, place, tmp_path)
        (found,) = refused.value.diagnostics
        assert found.code == "E1404" and any(found.message.startswith(f"{name}, {way}: ") for name, way in full)
        return
    made = planned(nf, place, tmp_path)
    assert {(link.name, link.direction): (link.load.value, link.capacity.value) for link in made.links} == wanted
    parking = parking_of(made)
    assert (parking is not None) == (nf.least > 0)
    if parking is not None:
        assert (parking.threshold.value, parking.longest.value) == (nf.least, LONGEST)
    grown = max(nf.whole or 0, 0)
    assert made.nf_link.value == LARGEST + grown + TAGGED and made.out_frame.value == LARGEST + grown
    assert made.cores.value == 1 and len(made.standby) == len(place.nf) - 1


def test_what_is_refused_where_the_nf_link_is_small() -> None:
    """25 Gbit/s a port: what is whole, and nothing else, is too much for 10 Gbit/s."""
    for nf in NFS:
        wanted = Sums(nf, SMALL).links()
        full = {name for (name, way), (load, capacity) in wanted.items() if load > capacity and way != "out"}
        assert full == (set() if nf.whole is None else {"NF server nf0"}), nf.name


def test_a_site_that_counts_says_so_in_the_formula(tmp_path: Path) -> None:
    made = planned(NFS[4], COUNTED, tmp_path)
    assert made.mix.whole.formula.startswith("0.4 × ") and made.mix.whole.sources == (str(tmp_path / "site.toml"),)
