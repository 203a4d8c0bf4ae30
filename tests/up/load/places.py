"""Sites for deployments on this machine, of any NF: what they differ in, and their files."""

from __future__ import annotations

from dataclasses import dataclass

# Between its first look and the next there is nothing on the links but what the test sends.
QUIET = '[controller]\nprobe = "1h"\n'


@dataclass(frozen=True)
class Place:
    """`rate`: of each traffic port; `several`: switch ports of the last logical one, the others have one; `memory`:
    what is said of each server that lends some, besides its name; `rest`: the end of the file."""

    name: str
    model: str = "linux"
    rate: str = "500Mbps"
    several: int = 1
    nf_servers: int = 1
    memory: tuple[str, ...] = ("", "")
    switch: str = ""
    rest: str = ""

    def text(self, ports: tuple[str, ...]) -> str:
        rack = self.model != "linux"
        numbers = iter(range(0, 256, 4 if rack else 1))  # a port of a chip has four lanes
        several = {ports[-1]: self.several}
        bound = "\n".join(f"{name} = {[next(numbers) for _ in range(several.get(name, 1))]}" for name in ports)
        head = f'[switch]\nmodel = "{self.model}"\naddress = "192.0.2.1"\ntraffic_rate = "{self.rate}"\n{self.switch}'
        parts = [head, f"[ports]\n{bound}\n"]
        for n in range(1, self.nf_servers + 1):
            nic = f"0000:3b:00.{n}" if rack else "eth1"
            own = f'name = "nf{n}"\naddress = "192.0.2.1{n}"\nnic = "{nic}"\ncores = [0]\n'
            parts += [f"[[nf_servers]]\nswitch_port = {next(numbers)}\n{own}"]
        nic = "mlx5_0" if rack else "soft"
        for n, more in enumerate(self.memory, 1):
            lends = more if "memory =" in more else f'memory = "256MiB"\n{more}'
            own = f'name = "memory{n}"\naddress = "192.0.2.2{n}"\nnic = "{nic}"\ninterface = "eth1"\n{lends}\n'
            parts += [f"[[rdma_servers]]\nswitch_port = {next(numbers)}\n{own}"]
        return "\n".join([*parts, self.rest, QUIET])


USUAL = Place("usual")
# One server lends, little, and to few queue pairs: its cells are written again and again.
SMALL = Place("small", rate="5Mbps", memory=('memory = "2MiB"',), rest="[plan]\nqueue_pairs = 4\n")
# NF servers of which one stands by, and links of servers that are not alike.
MANY = Place(
    "many",
    rate="200Mbps",
    nf_servers=2,
    memory=('link_rate = "1Gbps"', 'link_rate = "2Gbps"\nspare_bandwidth = "1Gbps"', ""),
    rest="[plan]\nqueue_pairs = 8\n",
)
# A logical port is two of the switch, and somebody has counted what goes whole.
SEVERAL = Place("several", rate="100Mbps", several=2, rest="[plan]\nqueue_pairs = 16\nwhole = 0.25\n")
# Packets up to 9000 B; a cell has room for less than half of that.
LONG = Place("long", rate="100Mbps", switch='mtu = "9000B"\n', rest="[plan]\nqueue_pairs = 8\n")
# A Tofino in a rack.
RACK = Place(
    "rack",
    model="tofino",
    rate="10Gbps",
    memory=('memory = "4GiB"',) * 3,
    switch='cpu_interface = "enp4s0f0"\nicrc = "of the vendor"\nnic_icrc = "of the firmware"\n',
)
