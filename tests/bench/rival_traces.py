"""Traffic that meets both sides of every condition of the rivals (native/rivals), drawn at random from a seed.

Few hosts and ports, so that flows come back; times just before, at and behind each idle time of a packet before; frames
that lie about their lengths, have options, are fragments, or come twice. No VLAN tags, IPv6, ARP and ICMP: rivals do
without.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Sequence
from dataclasses import dataclass

from native_nfs import Config, ipv4

SECOND = 10**9
MINUTE = 60 * SECOND
TCP, UDP = 6, 17

Packet = tuple[int, int, bytes]  # time in ns, port, frame

HOSTS = [0x0A000001, 0x0A000002, 0x0A0000FE]
REMOTES = [0xC6120001, 0x0A000064]  # the second is the load balancer's address
PUBLIC = [0x64400000, 0x64400001]
BACKENDS = [(0x0A000100 + i, 0x020000000B00 + i, i % 2) for i in range(3)]  # address, MAC, port


@dataclass(frozen=True)
class Kind:
    """What is special of an NF: its idle times, its config, and whether its ports are its hosts' sides."""

    idles: tuple[int, ...]
    config: Config
    sides: bool = False
    ends: tuple[int, ...] = (REMOTES[0], REMOTES[1])


POLICER = (
    'default_plan = { cir = "8Kbps", cbs = "100B", pir = "16Kbps", pbs = "200B" }',
    [(0, 8000, 100, 16000, 200), (HOSTS[1], 999_983, 61, 1_000_003, 90)],
)
EXPORTER = (0x020000000003, 0xC0000209, 0x020000000009, 0xC000020A, 9900)
RULES = [
    (0, HOSTS[0], 32, REMOTES[0], 32, TCP, 0, 65535, 80, 80, 1, 3),
    (2, 0x0A000000, 31, 0, 0, UDP, 1000, 1023, 0, 65535, 0, 4),
    (1, 0, 0, 0x0A000000, 8, 256, 0, 65535, 0, 65535, 1, 5),
    (2, 0, 0, 0, 0, 47, 0, 65535, 0, 65535, 0, 255),
    (0, 0, 0, 0, 0, 256, 0, 0, 0, 0, 1, 0),
]


def _backends() -> Config:
    rows = BACKENDS
    names = ("clients", "servers")
    lines = [
        f'  {{ ip = "{ipv4(ip)}", mac = "{m.to_bytes(6, "big").hex(":")}", uplink = "{names[p]}" }},'
        for ip, m, p in rows
    ]
    return Config({"": "\n".join(["backends = [", *lines, "]"])}, rows)


def _plans() -> Config:
    toml, rows = POLICER
    own = "\n".join(f"{ipv4(a)},{cir}bps,{cbs}B,{pir}bps,{pbs}B" for a, cir, cbs, pir, pbs in rows[1:])
    return Config({"": toml, "plans": f"key,cir,cbs,pir,pbs\n{own}"}, rows)


def _exporter() -> Config:
    own_mac, own, mac, ip, port = EXPORTER
    toml = (
        f'[exporter]\nmac = "{own_mac.to_bytes(6, "big").hex(":")}"\nip = "{ipv4(own)}"\n'
        f'collector_mac = "{mac.to_bytes(6, "big").hex(":")}"\ncollector_ip = "{ipv4(ip)}"\nport = {port}\n'
    )
    return Config({"": toml}, [EXPORTER])


def _rules() -> Config:
    lines = ["from,src,dst,protocol,sport,dport,effect,counter"]
    for from_, src, src_length, dst, dst_length, protocol, s0, s1, d0, d1, permit, counter in RULES:
        side = ("inside", "outside", "*")[from_]
        source = f"::ffff:{ipv4(src)}/{96 + src_length}" if src_length else "*"
        target = f"::ffff:{ipv4(dst)}/{96 + dst_length}" if dst_length else "*"
        number = "*" if protocol == 256 else str(protocol)
        effect = "permit" if permit else "deny"
        lines.append(f"{side},{source},{target},{number},{s0}-{s1},{d0}-{d1},{effect},{counter}")
    return Config({"rules": "\n".join(lines)}, RULES)


KINDS = {
    "load_balancer": Kind((30 * SECOND,), _backends()),
    "nat": Kind(
        (124 * MINUTE, 5 * MINUTE),
        Config({"": f"pool_addresses = {[ipv4(a) for a in PUBLIC]}".replace("'", '"')}, [(a,) for a in PUBLIC]),
        sides=True,
        ends=(REMOTES[0], *PUBLIC),
    ),
    "firewall": Kind((2 * MINUTE, 4 * MINUTE, 124 * MINUTE, 10 * SECOND), Config({}, []), sides=True),
    "policer": Kind((60 * SECOND, 50_000_000, 7_812_500, 750_187), _plans()),
    "telemetry": Kind((15 * SECOND, SECOND, 30 * MINUTE, 10 * SECOND), _exporter()),
    "acl": Kind((SECOND,), _rules(), sides=True),
    "conn_limiter": Kind((30 * MINUTE, 4 * MINUTE), Config({"": "limit = 1"}, [(1,)]), sides=True),
}


def _sum(data: bytes) -> int:
    total = sum(struct.unpack(f"!{(len(data) + 1) // 2}H", data + bytes(len(data) % 2)))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


class Drawn:
    """Frames for one NF."""

    def __init__(self, kind: Kind, choice: random.Random, odd: float, one: float) -> None:
        """`odd`: how often a thing is not as usual; `one`: how many packets belong to one or two TCP connections."""
        self.kind, self.choice, self.odd, self.one = kind, choice, odd, one

    def rarely(self) -> bool:
        return self.choice.random() < self.odd

    def frame(self, port: int) -> bytes:
        """A frame that arrives at a port."""
        one = self.choice
        host, end = one.choice(HOSTS), one.choice(self.kind.ends)
        host_port = one.choice((1000, 1023)) if one.random() < 0.8 else 0
        end_port = one.choice((80, *range(1024, 1030))) if end in PUBLIC else one.choice((80, 443))
        protocol = one.choice((TCP, UDP)) if not self.rarely() else one.choice((47, 132, 0))
        if one.random() < self.one:
            host, end, host_port, end_port, protocol = HOSTS[0], REMOTES[0], one.choice((1000, 1000, 1023)), 80, TCP
        if port == 1 and self.kind.sides:
            src, dst, sport, dport = end, host, end_port, host_port
            if end in PUBLIC:
                src, dst, sport, dport = REMOTES[0], end, 80, end_port
        else:
            src, dst, sport, dport = host, end, host_port, end_port
        return self.ethernet(self.ip(src, dst, protocol, sport, dport))

    def ethernet(self, ip: bytes) -> bytes:
        one = self.choice
        ether_type = one.choice((0x0806, 0x88B5, 0x05DC)) if self.rarely() else 0x0800
        frame = bytes.fromhex("020000000001020000000002") + struct.pack("!H", ether_type) + ip
        if self.rarely():
            frame = frame[: one.randrange(len(frame))]
        elif one.random() < 0.3:
            frame += bytes(one.randrange(40))
        return frame

    def ip(self, src: int, dst: int, protocol: int, sport: int, dport: int) -> bytes:
        one = self.choice
        words = one.randrange(5, 8) if self.rarely() else 5
        fragments = one.choice((0x4000, 0x2000, 0x2001, 0x0001, 0x8000, 0x1FFF)) if self.rarely() else 0
        addresses = struct.pack("!II", src, dst)
        payload = self.layer4(addresses, protocol, sport, dport)
        total = words * 4 + len(payload)
        if self.rarely():
            total = max(0, total + one.choice((-len(payload), -1, -8, 1, 2, -total, -words * 4, 9)))
        version = 5 if self.rarely() and self.rarely() else 4
        said = one.choice((4, 15, 0)) if self.rarely() and self.rarely() else words
        dscp = one.choice((0, 48, 49, 255))
        head = struct.pack(
            "!BBHHHBBH", version << 4 | said, dscp, total, one.randrange(65536), fragments, 64, protocol, 0
        )
        head += addresses + bytes(range(words * 4 - 20))
        right = _sum(head)
        given = one.choice((0, 0xFFFF, 0x1234)) if self.rarely() else right
        return head[:10] + struct.pack("!H", given) + head[12:] + payload

    def layer4(self, addresses: bytes, protocol: int, sport: int, dport: int) -> bytes:
        one = self.choice
        data = bytes(one.randrange(256) for _ in range(one.choice((0, 1, 5, 18, 60))))
        if protocol == TCP:
            offset = one.choice((4, 6, 7, 15)) if self.rarely() else 5
            flags = one.choice((2, 16, 18, 17, 4, 1, 20, 0, 24, 2, 16, 18, one.randrange(256)))
            l4 = struct.pack("!HHIIBBHHH", sport, dport, 1, 2, offset << 4, flags, 8, 0, 0) + data
            at = 16
        elif protocol == UDP:
            length = one.choice((0, 7, 8, 9000)) if self.rarely() else 8 + len(data)
            l4 = struct.pack("!HHHH", sport, dport, length, 0) + data
            at = 6
        else:
            return data
        right = _sum(addresses + struct.pack("!HH", protocol, len(l4)) + l4)
        given = one.choice((0, 0xFFFF, self.becomes_zero(addresses))) if one.random() < 0.3 else right
        return l4[:at] + struct.pack("!H", given) + l4[at + 2 :]

    def becomes_zero(self, addresses: bytes) -> int:
        """A checksum that is 0 when the destination has become a backend's address, as is to be avoided for UDP."""
        before = sum(struct.unpack("!HH", addresses[4:]))
        after = sum(struct.unpack("!HH", struct.pack("!I", self.choice.choice(BACKENDS)[0])))
        return (after - before) % 0xFFFF


def segment(sport: int, flags: int, back: bool = False) -> bytes:
    """A TCP segment of the first host to the first remote, or its answer."""
    ends = [(HOSTS[0], sport), (REMOTES[0], 80)]
    (src, own), (dst, other) = reversed(ends) if back else ends
    addresses = struct.pack("!II", src, dst)
    head = struct.pack("!BBHHHBBH", 0x45, 0, 40, 0, 0, 64, TCP, 0) + addresses
    l4 = struct.pack("!HHIIBBHHH", own, other, 1, 2, 0x50, flags, 8, 0, 0)
    l4 = l4[:16] + struct.pack("!H", _sum(addresses + struct.pack("!HH", TCP, len(l4)) + l4)) + l4[18:]
    ethernet = bytes.fromhex("0200000000010200000000020800")
    return ethernet + head[:10] + struct.pack("!H", _sum(head)) + head[12:] + l4


def draw(name: str, seed: int, packets: int) -> list[Packet]:
    """A trace in order of time; what is odd in it is more in some than in others."""
    kind, choice = KINDS[name], random.Random(seed)
    drawn = Drawn(kind, choice, choice.choice((0.0, 0.02, 0.1)), choice.choice((0.0, 0.7)))
    if name == "telemetry" and seed % 4 == 0:
        return _kept_alive(drawn, packets)
    now = choice.choice((0, 1, 10**18, 10**18 + choice.randrange(10**12)))
    calm = choice.choice((0.3, 0.8))
    trace: list[Packet] = []
    while len(trace) < packets:
        for _ in range(choice.choice((1, 1, 2, 5, 40))):
            port = choice.randrange(2)
            again = trace and choice.random() < 0.1
            frame = choice.choice(trace[-20:])[2] if again else drawn.frame(port)
            trace.append((now, port, frame))
        now = max(now, _later(kind.idles, trace, choice, calm))
    return trace


def _later(idles: Sequence[int], trace: Sequence[Packet], choice: random.Random, calm: float) -> int:
    """The next time: soon, or about an idle time after a packet, but not always the last one."""
    last = trace[-1][0]
    if choice.random() < calm:
        return last + choice.choice((1, 1000, 10**6, 10**9, choice.randrange(3 * 10**9)))
    idle = choice.choice(idles)
    since = trace[-1 - min(len(trace) - 1, choice.randrange(30))][0]
    return since + idle + choice.choice((-1, 0, 1, -1, 0, 1, idle))


def _kept_alive(drawn: Drawn, packets: int) -> list[Packet]:
    """A few flows without an end, each for just more than half an hour and again."""
    choice, start, most = drawn.choice, 10**18, 30 * MINUTE
    frames = [drawn.frame(0) for _ in range(3)]
    steps = range(start, start + packets // len(frames) * 14 * SECOND, 14 * SECOND)
    about = [start + most + choice.choice((-1, 0, 1)), start + most + 10 * SECOND]
    return [(now, choice.randrange(2), frame) for now in sorted([*steps, *about]) for frame in frames]


def many_talkers(seed: int, packets: int) -> list[Packet]:
    """Far more flows than a top list has counters, over some of its intervals; some have many packets."""
    kind, choice = KINDS["telemetry"], random.Random(seed)
    drawn = Drawn(kind, choice, 0.0, 0.0)
    frames = []
    for _ in range(3000):
        source = 0x0A000000 + choice.randrange(1 << 20)
        frames.append(drawn.ethernet(drawn.ip(source, REMOTES[0], UDP, choice.randrange(1024, 65536), 53)))
    now, trace = 10**18, list[Packet]()
    while len(trace) < packets:
        trace.append((now, choice.randrange(2), frames[min(choice.randrange(3000), choice.randrange(3000))]))
        now += choice.choice((0, 0, 0, 10**6, 4 * 10**6))
    return trace
