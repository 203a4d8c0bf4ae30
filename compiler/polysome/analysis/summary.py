"""One line that says what a frame is, as packet analysers do, whatever the spec knows of it."""

from __future__ import annotations

from polysome.analysis.frames import Layer, layers
from polysome.analysis.values_text import address

_FLAGS = ("FIN", "SYN", "RST", "PSH", "ACK", "URG", "ECE", "CWR")  # from the lowest bit
_ICMP = {
    0: "echo reply",
    3: "destination unreachable",
    5: "redirect",
    8: "echo request",
    11: "time exceeded",
    12: "parameter problem",
}
_ICMPV6 = {
    1: "destination unreachable",
    2: "packet too big",
    3: "time exceeded",
    4: "parameter problem",
    128: "echo request",
    129: "echo reply",
    135: "neighbor solicitation",
    136: "neighbor advertisement",
}


def summary(data: bytes) -> str:
    """`192.168.1.10:4000 > 198.51.100.20:80 TCP SYN len 60`; `len` counts the frame."""
    return f"{_told(data, layers(data))} len {len(data)}"


def _told(data: bytes, found: list[Layer]) -> str:
    inner = next((n for n, layer in enumerate(found) if layer.quoted), len(found))
    for n, layer in enumerate(found):
        if layer.kind == "vxlan":
            vni = int.from_bytes(data[layer.start + 4 : layer.start + 7], "big")
            return f"{_packet(data, found[:n])} VXLAN {vni} ({_told(data, found[n + 1 :])})"
    text = _packet(data, found[:inner])
    return f"{text} about ({_packet(data, found[inner:])})" if inner < len(found) else text


def _packet(data: bytes, found: list[Layer]) -> str:
    """Layers without those of a tunnel or quote."""
    tags = "".join(f"VLAN {_number(data, n.start, 2) & 0xFFF} " for n in found if n.kind == "vlan")
    ip = next((n for n, layer in reversed(list(enumerate(found))) if layer.kind in ("ipv4", "ipv6")), None)
    if ip is not None:
        return tags + _ip(data, found[ip], found[ip + 1] if ip + 1 < len(found) else None)
    if found and found[-1].kind == "arp":
        return tags + _arp(data, found[-1].start)
    if not found:
        return "no Ethernet header"
    ends = f"{address(_number(data, found[0].start + 6, 6), 48)} > {address(_number(data, found[0].start, 6), 48)}"
    return f"{tags}{ends} Ethernet type 0x{_number(data, found[-1].end - 2, 2):04x}"


def _ip(data: bytes, ip: Layer, behind: Layer | None) -> str:
    at = ip.start
    if ip.kind == "ipv4":
        source, target, protocol = _number(data, at + 12, 4), _number(data, at + 16, 4), data[at + 9]
    else:
        source, target, protocol = _number(data, at + 8, 16), _number(data, at + 24, 16), data[at + 6]
    width = 32 if ip.kind == "ipv4" else 128
    ends = [address(source, width), address(target, width)]
    note = _fragment(data, at) if ip.kind == "ipv4" else ""
    if behind is None:
        return f"{ends[0]} > {ends[1]} protocol {protocol}{note}"
    if behind.kind in ("tcp", "udp"):
        ports = _number(data, behind.start, 2), _number(data, behind.start + 2, 2)
        ends = [f"{e}:{p}" if width == 32 else f"[{e}]:{p}" for e, p in zip(ends, ports, strict=True)]
    return f"{ends[0]} > {ends[1]} {_layer4(data, behind)}{note}"


def _layer4(data: bytes, layer: Layer) -> str:
    at = layer.start
    match layer.kind:
        case "tcp":
            flags = [name for bit, name in enumerate(_FLAGS) if data[at + 13] >> bit & 1]
            return " ".join(["TCP", *sorted(flags, key=lambda f: f == "ACK")])
        case "icmp" | "icmpv6":
            known = (_ICMP if layer.kind == "icmp" else _ICMPV6).get(data[at], f"type {data[at]}")
            name = "ICMP" if layer.kind == "icmp" else "ICMPv6"
            return f"{name} {known}" + (f" id {_number(data, at + 4, 2)}" if known.startswith("echo") else "")
        case _:
            return layer.kind.upper()


def _fragment(data: bytes, at: int) -> str:
    word = _number(data, at + 6, 2)
    if not word & 0x3FFF:
        return ""
    return f" fragment at byte {(word & 0x1FFF) * 8}" + ("" if word & 0x2000 else ", the last")


def _arp(data: bytes, at: int) -> str:
    sender, target = address(_number(data, at + 14, 4), 32), address(_number(data, at + 24, 4), 32)
    match _number(data, at + 6, 2):
        case 1:
            return f"ARP who has {target}? tell {sender}"
        case 2:
            return f"ARP {sender} is at {address(_number(data, at + 8, 6), 48)}"
        case operation:
            return f"ARP operation {operation} from {sender} to {target}"


def _number(data: bytes, at: int, size: int) -> int:
    return int.from_bytes(data[at : at + size], "big")
