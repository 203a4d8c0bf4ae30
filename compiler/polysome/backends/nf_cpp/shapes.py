"""Common shapes of packets: ways through the parser on which every header is at a place known when code is generated.

A packet of a common shape is handled by code in which headers and offsets are constants; all others by code that asks
where each header is. Both come from the same statements and mean the same, so which shapes are chosen changes speed
alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from polysome.backends.nf_cpp.names import identifier
from polysome.ir import program as ir

MOST = 4  # ways; those that differ in the last header only are one shape
# How rare headers are in the traffic that network functions see. A header that is not listed is there because the spec
# is about it.
RARITY = {
    "ethernet": 0,
    "ipv4": 1,
    "tcp": 1,
    "udp": 1,
    "ipv6": 3,
    "icmp": 5,
    "icmpv6": 5,
    "esp": 5,
    "vlan": 6,
    "ipv6_fragment": 8,
    "arp": 9,
    "ah": 9,
    "ipv6_ext": 9,
    "gtpu_optional": 9,
    "gtpu_extension": 9,
}
# A packet that the parser knows no further, although it knows what may come.
UNKNOWN_BEHIND = 4
RAREST = 4  # ways that are rarer than this have no code of their own


@dataclass(frozen=True)
class Shape:
    """Ways through the parser that differ in their last header only, and where each header begins in the frame.

    `path` are the instances before the last, all of fixed size; `last` those that may come then, most often one or two
    that transport protocols share code for: TCP or UDP. `ways` are the nodes to any of `last`. Numbers count from 1.
    """

    number: int
    name: str
    path: tuple[int, ...]
    last: tuple[int, ...]
    ways: tuple[tuple[int, ...], ...]
    offsets: tuple[int, ...]

    @property
    def always(self) -> int:
        """Bit i: instance i is valid in every packet of the shape."""
        return sum(1 << i for i in (*self.path, *(self.last if len(self.last) == 1 else ())))

    def mask(self, last: int) -> int:
        """Bit i: instance i is valid in packets that end with this one of `last`."""
        return sum(1 << i for i in self.path) | 1 << last

    def offset(self, instance: int) -> int:
        """Bytes from the frame's start to a header of the shape."""
        return self.offsets[-1] if instance in self.last else self.offsets[self.path.index(instance)]


def common_shapes(program: ir.Program, written: set[tuple[int, int]]) -> list[Shape]:
    """The most common shapes that the NF's contract lets pass, the likeliest first.

    None for an NF that writes a field which no integer of C++ holds with the bits beside it.
    """
    parser = program.parser
    fields = [parser.instances[i].header.fields[n] for i, n in written]
    if any(f.offset % 8 + f.width > 128 for f in fields):
        return []
    ways = [way for way in _ways(parser, (0,)) if _passes(program, _instances(parser, way))]
    ways.sort(key=lambda way: (_rarity(parser, way), way))
    together: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
    for way in [way for way in ways if _rarity(parser, way) <= RAREST][:MOST] or ways[:1]:
        together.setdefault(_instances(parser, way)[:-1], []).append(way)
    return [_shape(parser, n, path, tuple(found)) for n, (path, found) in enumerate(together.items(), 1)]


def _shape(parser: ir.Parser, number: int, path: tuple[int, ...], ways: tuple[tuple[int, ...], ...]) -> Shape:
    sizes = [parser.instances[i].header.fixed for i in path]
    last = tuple(dict.fromkeys(_instances(parser, way)[-1] for way in ways))
    name = "_".join(parser.instances[i].name for i in path)
    either = "_or_".join(parser.instances[i].name for i in last)
    offsets = tuple(sum(sizes[:n]) for n in range(len(path) + 1))
    return Shape(number, identifier(f"{name}_{either}_shape"), path, last, ways, offsets)


def _ways(parser: ir.Parser, way: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """`way` and all that goes on from it: each header once, none that may be cut or is an element of a stack, or whose
    `pseudo` lists parts of bytes, which checksums cover together with what is beside them."""
    instance = parser.nodes[way[-1]].instance
    if instance is not None:
        i = parser.instances[instance]
        if i.cut is not None or "[" in i.name or instance in _instances(parser, way[:-1]):
            return
        listed = [i.header.fields[n] for n in i.header.pseudo]
        if any(f.offset % 8 or f.width % 8 for f in listed):
            return
        yield way
    node = parser.nodes[way[-1]]
    targets = [target for _, target in node.hooks] + [case.target for case in node.cases]
    for target in dict.fromkeys(targets):
        if target >= 0 and target not in way:
            yield from _ways(parser, (*way, target))


def _instances(parser: ir.Parser, way: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(i for node in way if (i := parser.nodes[node].instance) is not None)


def _passes(program: ir.Program, instances: tuple[int, ...]) -> bool:
    if instances not in program.parser.classes:
        return False
    number = program.parser.classes.index(instances)
    return program.contract is None or bool(program.contract.passing >> number & 1)


def _rarity(parser: ir.Parser, way: tuple[int, ...]) -> int:
    last = parser.nodes[way[-1]]
    headers = [parser.instances[i].header.name for i in _instances(parser, way)]
    return sum(RARITY.get(name, -2) for name in headers) + (UNKNOWN_BEHIND if last.cases or last.hooks else 0)
