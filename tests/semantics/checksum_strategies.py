"""Random packets, and which of their headers the parser `net.l4` finds, for test_checksums.py."""

from __future__ import annotations

from hypothesis import strategies as st
from packet_model import (
    Bytes,
    Eth,
    Gre,
    Icmp,
    Icmpv6,
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

DATA = st.binary(max_size=40)
ERROR = st.one_of(st.just(0), st.just(0), st.integers(1, 65534))
PORT = st.one_of(st.integers(0, 65535), st.sampled_from([0, 0xFFFF]))
V4 = st.one_of(st.integers(0, 2**32 - 1), st.sampled_from([0, 2**32 - 1, 0xFFFF0000]))
V6 = st.one_of(st.integers(0, 2**128 - 1), st.sampled_from([0, 2**128 - 1]))
MAC = st.integers(0, 2**48 - 1)
OTHER_PROTOCOL = 200
OPTION_WORDS = st.integers(0, 10)
TUNNEL_PORTS = (4789, 6081, 2152)

# RFC 8200: hop-by-hop (only first), destination options, a routing header with no segments left.
PADDING = b"\1\4\0\0\0\0"
EXTENSION = st.sampled_from([(60, b"\0" + PADDING), (43, b"\0\4\0\0\0\0\0"), (60, b"\1\1\14" + b"\0" * 12)])
HOP_BY_HOP = (0, b"\0" + PADDING)


@st.composite
def options(draw: st.DrawFn) -> bytes:
    return bytes(draw(st.binary(min_size=(n := draw(OPTION_WORDS)) * 4, max_size=n * 4)))


@st.composite
def ip_header(draw: st.DrawFn, version: int) -> Ipv4 | Ipv6:
    common = {"dscp": draw(st.integers(0, 63)), "ecn": draw(st.integers(0, 3))}
    behind = draw(st.sampled_from([b"", b"", b"\1", b"\2\3\4\5\6"]))
    if version == 4:
        return Ipv4(
            src=draw(V4), dst=draw(V4), ttl=draw(st.integers(0, 255)), identification=draw(PORT), behind=behind,
            options=draw(st.one_of(st.just(b""), options())), error=draw(ERROR), **common,
        )  # fmt: skip
    chain = draw(st.lists(EXTENSION, max_size=2))
    if draw(st.booleans()):
        chain = [HOP_BY_HOP, *chain]
    return Ipv6(
        src=draw(V6), dst=draw(V6), hop_limit=draw(st.integers(0, 255)), extensions=chain, behind=behind, **common
    )


@st.composite
def layer4(draw: st.DrawFn, version: int, echo_only: bool = False) -> list[Layer]:
    """TCP, UDP or an ICMP echo with their payload; what another IP header quotes, too."""
    kind = draw(st.sampled_from(["tcp", "udp", "udp", "none", "icmp", "other"]))
    payload = Bytes(data=draw(DATA))
    match kind:
        case "tcp":
            head = Tcp(sport=draw(PORT), dport=draw(PORT), flags=draw(st.integers(0, 255)), error=draw(ERROR))
            head.options = draw(st.one_of(st.just(b""), options()))
            return [head, payload]
        case "udp" | "none":
            dport = draw(PORT.filter(lambda p: p not in TUNNEL_PORTS))
            return [Udp(sport=draw(PORT), dport=dport, none=kind == "none", error=draw(ERROR)), payload]
        case "icmp":
            if version == 4:
                return [Icmp(type=draw(st.sampled_from([0, 8])), identifier=draw(PORT), error=draw(ERROR)), payload]
            return [Icmpv6(type=draw(st.sampled_from([128, 129])), identifier=draw(PORT), error=draw(ERROR)), payload]
        case _:
            return [Bytes(data=payload.data, said=OTHER_PROTOCOL)]


@st.composite
def quote(draw: st.DrawFn, version: int) -> Quote:
    """A packet's beginning: at least its IP header's fixed part, cut anywhere but inside a checksum."""
    header = draw(ip_header(version))
    header.behind = b""
    if isinstance(header, Ipv6):
        header.extensions = []  # in a quote they are opaque
    layers: list[Layer] = [header, *draw(layer4(version))]
    whole = frame(layers)
    least = 20 if version == 4 else 40
    inside = checksum_bytes(layers)
    sizes = [n for n in range(least, len(whole) + 1) if n not in inside]
    return Quote(layers=layers, size=draw(st.sampled_from(sizes)))


def ip_size(header: Ipv4 | Ipv6) -> int:
    """Bytes of the IP header, without extension headers."""
    return 20 + len(header.options) if isinstance(header, Ipv4) else 40


def checksum_bytes(layers: list[Layer]) -> list[int]:
    """Where a cut would leave half a checksum of layer 4."""
    at = {Tcp: 16, Udp: 6, Icmp: 2, Icmpv6: 2}.get(type(layers[1]))
    header = layers[0]
    assert isinstance(header, (Ipv4, Ipv6))
    return [ip_size(header) + at + 1] if at is not None else []


@st.composite
def link(draw: st.DrawFn, most_tags: int = 2) -> list[Layer]:
    tags = draw(st.integers(0, most_tags))
    said = st.sampled_from([0x8100, 0x88A8])
    trailer = draw(st.sampled_from([b"", b"", b"\7", b"\1\2\3\4\5"]))
    return [
        Eth(dst=draw(MAC), src=draw(MAC), trailer=trailer),
        *(Vlan(vid=draw(st.integers(0, 4095)), pcp=draw(st.integers(0, 7)), said=draw(said)) for _ in range(tags)),
    ]


@st.composite
def packet(draw: st.DrawFn, quotes: bool = True) -> list[Layer]:
    """An Ethernet frame with an IP packet, or with something unknown."""
    front = draw(link())
    version = draw(st.sampled_from([4, 4, 4, 6, 6, None]))
    if version is None:
        front[0].trailer = b""  # type: ignore[attr-defined]
        return [*front, Bytes(data=draw(DATA), said=0x9999)]
    header = draw(ip_header(version))
    inner = draw(layer4(version))
    if not isinstance(inner[0], Udp):
        header.behind = b""  # only UDP says how long it is
    if quotes and draw(st.integers(0, 2)) == 0:
        error = draw(ERROR)
        head = Icmp(type=11, error=error) if version == 4 else Icmpv6(type=3, error=error)
        header.behind = b""
        return [*front, header, head, draw(quote(version))]
    return [*front, header, *inner]


@st.composite
def fragments(draw: st.DrawFn) -> tuple[list[Layer], list[Layer]]:
    """A packet's first fragment, with all of its layer-4 header, and its second."""
    version = draw(st.sampled_from([4, 6]))
    front, header, inner = draw(link(1)), draw(ip_header(version)), draw(layer4(version))
    header.behind = b""
    inner[-1] = Bytes(data=draw(st.binary(min_size=80, max_size=120)), said=inner[-1].said)
    sizes = [n for n in range(8, 72, 8) if n >= header_size(inner[0])]
    size = draw(st.sampled_from(sizes))
    header.fragment = (0, size)
    later = type(header)(**{**vars(header), "fragment": (size, 1000)})
    return [*front, header, *inner], [*front, later, *inner]


def header_size(layer: Layer) -> int:
    match layer:
        case Tcp():
            return 20 + len(layer.options)
        case Udp() | Icmp():
            return 8
        case _:
            return 0


@st.composite
def tunnel(draw: st.DrawFn) -> list[Layer]:
    """IP in IP, GRE or VXLAN."""
    front, outer = draw(link(1)), draw(ip_header(draw(st.sampled_from([4, 6]))))
    if isinstance(outer, Ipv6):
        outer.extensions = []
    version = draw(st.sampled_from([4, 6]))
    inner_ip = draw(ip_header(version))
    if isinstance(inner_ip, Ipv6):
        inner_ip.extensions = []
    inner: list[Layer] = [inner_ip, *draw(layer4(version))]
    if not isinstance(inner[1], Udp):
        inner_ip.behind = b""
    kind = draw(st.sampled_from(["ip", "gre", "gre ethernet", "vxlan", "vxlan", "vxlan"]))
    if kind in ("gre ethernet", "vxlan"):
        inner = [*draw(link(1)), *inner]
    key = draw(st.sampled_from([None, 77]))
    match kind:
        case "ip":
            shim: list[Layer] = []
        case "gre" | "gre ethernet":
            shim = [Gre(key=key)]
        case _:
            none = draw(st.booleans())
            shim = [
                Udp(sport=draw(PORT), dport=4789, none=none, error=draw(ERROR)),
                Vxlan(vni=draw(st.integers(0, 999))),
            ]
    return [*front, outer, *shim, *inner]


# ---------------------------------------------------------------- what the parsers find


def found(layers: list[Layer]) -> dict[str, Layer]:
    """The headers that `net.l4` finds, by their names."""
    names: dict[str, Layer] = {}
    tags = 0
    for layer in layers:
        kind = type(layer).__name__.lower()
        if isinstance(layer, Bytes):
            break
        if isinstance(layer, Vlan):
            names[f"vlan[{tags}]"] = layer
            tags += 1
        elif isinstance(layer, Quote):
            prefix = "icmp.quoted." if isinstance(layer.layers[0], Ipv4) else "icmpv6.quoted."
            names |= {prefix + name: part for name, part in _quoted(layer).items()}
        else:
            names["ethernet" if kind == "eth" else kind] = layer
        if isinstance(layer, (Ipv4, Ipv6)) and layer.fragment is not None and layer.fragment[0] > 0:
            break
    return names


def found_in_tunnel(layers: list[Layer]) -> dict[str, Layer]:
    """The headers that `net.tunnel` finds; the innermost IP header is `inner`, if there are two."""
    names: dict[str, Layer] = {}
    prefix = "outer."
    for layer in layers:
        kind = type(layer).__name__.lower()
        if isinstance(layer, Bytes):
            break
        if isinstance(layer, (Gre, Vxlan)):
            names[kind] = layer
            prefix = "inner."
            continue
        if isinstance(layer, (Ipv4, Ipv6)) and ("outer.ipv4" in names or "outer.ipv6" in names):
            prefix = "inner."
        name = {"eth": "ethernet", "vlan": "vlan[0]" if prefix == "outer." else "vlan"}.get(kind, kind)
        names[prefix + name] = layer
    return names


ENDS = {"sport": 2, "dport": 4, "sequence": 8, "acknowledgement": 12, "window": 16, "identifier": 6}


def written_in_full(layers: list[Layer], header: str, name: str) -> bool:
    """Is the field there with all its bytes? A write to what a quote has lost vanishes (L4.9)."""
    quote = next((layer for layer in layers if isinstance(layer, Quote)), None)
    if quote is None or ".quoted." not in header or header.endswith(("ipv4", "ipv6")):
        return True
    ip = quote.layers[0]
    assert isinstance(ip, (Ipv4, Ipv6))
    end = 8 if header.endswith(("icmp", "icmpv6")) and name == "sequence" else ENDS[name]
    return quote.size >= ip_size(ip) + end


def _quoted(whole: Quote) -> dict[str, Layer]:
    """L4.9: the IP header if its fixed part is there; layer 4 if the IP header and four bytes are."""
    header, inner = whole.layers[0], whole.layers[1]
    assert isinstance(header, (Ipv4, Ipv6))
    names: dict[str, Layer] = {type(header).__name__.lower(): header}
    if whole.size >= ip_size(header) + 4 and not isinstance(inner, Bytes):
        names[type(inner).__name__.lower()] = inner
    return names
