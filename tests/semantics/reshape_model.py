"""push, pop and truncate on the packets of `packet_model`, beside the NF that does the same.

`L4_OPERATIONS` and `TUNNEL_OPERATIONS` are statements of the NF, one per bit of its config `op`; `reshape` and
`reshape_tunnel` do to a model what they do to a packet.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address

from checksum_strategies import found, found_in_tunnel, header_size, ip_size
from packet_model import (
    Bytes,
    Eth,
    Gre,
    Ipv4,
    Ipv6,
    Layer,
    Quote,
    Tcp,
    Udp,
    Vlan,
    Vxlan,
    frame,
)

USES = "use net.gre;\nuse net.vxlan;"
IPV4 = "ipv4 { src: 192.0.2.1, dst: 192.0.2.2, ttl: 7 }"
IPV6 = "ipv6 { src: 2001:db8::5, dst: 2001:db8::6, flow_label: 9 }"
ETHERNET = "ethernet { dst: 02:00:00:00:00:0a, src: 02:00:00:00:00:0b }"
ENCAP = f"push {ETHERNET} before %s; push {IPV4} before %s; "

L4_OPERATIONS = (
    "if vlan[0] { pop vlan[0]; }",
    "if vlan[1] { pop vlan[1]; }",
    "if ipv6_ext[0] { pop ipv6_ext[0]; }",
    "if vlan[0] { push vlan { vid: 101, pcp: 5 } before vlan[0]; }",
    "if ipv4 { push vlan { vid: 100 } before ipv4; } else if ipv6 { push vlan { vid: 100 } before ipv6; } "
    "else { push vlan { vid: 100 } before payload; }",
    f"if ipv4 {{ push {IPV4} before ipv4; push gre before ipv4; }} else if ipv6 {{ push {IPV6} before ipv6; }}",
    f"if ipv4 {{ if tcp {{ pop ipv4; push {IPV6} before tcp; }} else if udp {{ pop ipv4; push {IPV6} before udp; }} }} "
    f"else if ipv6 {{ if not ipv6_ext[0] {{ if tcp {{ pop ipv6; push {IPV4} before tcp; }} "
    f"else if udp {{ pop ipv6; push {IPV4} before udp; }} }} }}",
    "if ethernet { "
    + ENCAP.replace("%s", "ethernet")
    + "push udp { sport: 50000, dport: VXLAN_PORT } before ethernet; push vxlan { vni: 5 } before ethernet; }",
    "if ethernet { " + ENCAP.replace("%s", "ethernet") + "push gre before ethernet; }",
    "truncate most;",
)
TUNNEL_OPERATIONS = (
    "if vxlan { pop outer.ethernet..vxlan; }",
    "if gre { if inner.ethernet { pop outer.ethernet..gre; } else if outer.ipv4 { pop outer.ipv4..gre; } "
    "else if outer.ipv6 { pop outer.ipv6..gre; } }",
    "if inner.ip { if not gre { if not vxlan { "
    "if outer.ipv4 { pop outer.ipv4; } else if outer.ipv6 { pop outer.ipv6; } } } }",
    "if inner.ethernet { if inner.ipv4 { push vlan { vid: 3 } before inner.ipv4; } "
    "else if inner.ipv6 { push vlan { vid: 3 } before inner.ipv6; } }",
    "if vxlan { if inner.ethernet { pop vxlan; push gre before inner.ethernet; pop outer.udp; } }",
    "if outer.ipv4 { push vlan { vid: 4 } before outer.ipv4; }",
    "truncate most;",
)


def operations(texts: tuple[str, ...]) -> str:
    """The statements, each guarded by its bit."""
    return "".join(f"if op[{i}:{i}] == 1 {{ {text} }}\n" for i, text in enumerate(texts))


def new_ip4() -> Ipv4:
    return Ipv4(src=int(IPv4Address("192.0.2.1")), dst=int(IPv4Address("192.0.2.2")), ttl=7)


def new_ip6() -> Ipv6:
    return Ipv6(src=int(IPv6Address("2001:db8::5")), dst=int(IPv6Address("2001:db8::6")), flow_label=9)


def new_eth() -> Eth:
    return Eth(dst=0x02000000000A, src=0x02000000000B)


class Chain:
    """The layers; what is popped stays as an anchor until the end."""

    def __init__(self, layers: list[Layer]) -> None:
        self.layers = copy.deepcopy(layers)
        self.popped: list[Layer] = []

    def pop(self, *layers: Layer) -> None:
        self.popped += layers

    def pop_to(self, first: Layer, last: Layer) -> None:
        places = [i for i, layer in enumerate(self.layers) if layer is first or layer is last]
        self.popped += self.layers[places[0] : places[-1] + 1]

    def push(self, layer: Layer, before: Layer) -> None:
        place = next(i for i, x in enumerate(self.layers) if x is before)
        self.layers.insert(place, layer)

    def result(self) -> list[Layer]:
        """What is left; bytes behind a popped IP packet are then behind everything."""
        left = [x for x in self.layers if not any(x is y for y in self.popped)]
        behind = b"".join(x.behind for x in self.popped if isinstance(x, (Ipv4, Ipv6)))
        if behind:
            next(x for x in left if isinstance(x, Eth)).trailer += behind
        return left


def reshape(layers: list[Layer], op: int, most: int) -> list[Layer]:
    """What the NF with L4_OPERATIONS makes of the packet."""
    chain = Chain(layers)
    there = found(chain.layers)
    link = there["ethernet"]
    ip = there.get("ipv4") or there.get("ipv6")
    payload = ip or next(x for x in chain.layers if isinstance(x, Bytes))
    tag = there.get("vlan[0]")
    steps: list[Callable[[], None]] = [
        lambda: chain.pop(there["vlan[0]"]) if tag else None,
        lambda: chain.pop(there["vlan[1]"]) if "vlan[1]" in there else None,
        lambda: _pop_extension(ip),
        lambda: chain.push(Vlan(vid=101, pcp=5), tag) if tag else None,
        lambda: chain.push(Vlan(vid=100), payload),
        lambda: _push_ip(chain, ip),
        lambda: _translate(chain, ip, there),
        lambda: _encapsulate(chain, link, Udp(sport=50000, dport=4789, none=True), Vxlan(vni=5)),
        lambda: _encapsulate(chain, link, Gre()),
    ]
    order = [i for i in range(len(steps)) if op >> i & 1]
    if 2 in order and 6 in order:  # the NF sees the extension headers as parsed: it does not translate then
        order.remove(6) if isinstance(ip, Ipv6) and ip.extensions else None
    for i in order:
        steps[i]()
    result = chain.result()
    return truncated(result, most) if op >> len(steps) & 1 else result


def _pop_extension(ip: Layer | None) -> None:
    if isinstance(ip, Ipv6) and ip.extensions:
        ip.extensions = ip.extensions[1:]


def _push_ip(chain: Chain, ip: Layer | None) -> None:
    if isinstance(ip, Ipv4):
        chain.push(new_ip4(), ip)
        chain.push(Gre(), ip)
    elif isinstance(ip, Ipv6):
        chain.push(new_ip6(), ip)


def _translate(chain: Chain, ip: Layer | None, there: dict[str, Layer]) -> None:
    inner = there.get("tcp") or there.get("udp")
    if not isinstance(inner, (Tcp, Udp)) or (isinstance(ip, Ipv6) and ip.extensions):
        return
    new: Ipv4 | Ipv6 = new_ip6() if isinstance(ip, Ipv4) else new_ip4()
    assert isinstance(ip, (Ipv4, Ipv6))
    new.behind, ip.behind = ip.behind, b""
    chain.pop(ip)
    chain.push(new, inner)


def _encapsulate(chain: Chain, link: Layer, *shim: Layer) -> None:
    for layer in (new_eth(), new_ip4(), *shim):
        chain.push(layer, link)


def reshape_tunnel(layers: list[Layer], op: int, most: int) -> list[Layer]:
    """What the NF with TUNNEL_OPERATIONS makes of the packet."""
    chain = Chain(layers)
    there = found_in_tunnel(chain.layers)
    outer = there.get("outer.ipv4") or there.get("outer.ipv6")
    inner = there.get("inner.ipv4") or there.get("inner.ipv6")
    link, shim = there.get("inner.ethernet"), there.get("gre") or there.get("vxlan")
    assert outer is not None
    if op & 1 and "vxlan" in there:
        chain.pop_to(chain.layers[0], there["vxlan"])
    if op >> 1 & 1 and "gre" in there:
        chain.pop_to(chain.layers[0] if link else outer, there["gre"])
    if op >> 2 & 1 and shim is None and inner:
        chain.pop(outer)
    if op >> 3 & 1 and link and inner:
        chain.push(Vlan(vid=3), inner)
    if op >> 4 & 1 and "vxlan" in there and link:
        chain.push(Gre(), link)
        chain.pop(there["vxlan"], there["outer.udp"])
    if op >> 5 & 1 and isinstance(outer, Ipv4):
        chain.push(Vlan(vid=4), outer)
    result = chain.result()
    return truncated(result, most) if op >> 6 & 1 else result


# ---------------------------------------------------------------- truncate


def truncated(layers: list[Layer], most: int) -> list[Layer]:
    """At most `most` bytes, but all of the headers: bytes go from the end of the packet."""
    layers = copy.deepcopy(layers)
    surplus = len(frame(layers)) - most
    for layer in layers:
        if isinstance(layer, Eth):
            layer.trailer, surplus = _less(layer.trailer, surplus)
        elif isinstance(layer, (Ipv4, Ipv6)):
            layer.behind, surplus = _less(layer.behind, surplus)
    for layer in layers:
        if isinstance(layer, Bytes):
            layer.data, surplus = _less(layer.data, surplus)
        elif isinstance(layer, Quote):
            layer.size -= max(0, min(surplus, layer.size - parsed_size(layer)))
    return layers


def _less(data: bytes, surplus: int) -> tuple[bytes, int]:
    cut = max(0, min(surplus, len(data)))
    return data[: len(data) - cut], surplus - cut


def parsed_size(quote: Quote) -> int:
    """Bytes of the headers that are found in the quote."""
    header, inner = quote.layers[0], quote.layers[1]
    assert isinstance(header, (Ipv4, Ipv6))
    size = ip_size(header)
    if quote.size >= size + 4:
        size += header_size(inner)
    return min(size, quote.size)
