"""What `decide` reads of a packet: the leaves that `parse` puts into the Fields struct."""

from __future__ import annotations

from dataclasses import dataclass

from polysome.backends.nf_cpp.constants_code import instance_name
from polysome.backends.nf_cpp.names import identifier
from polysome.backends.nf_cpp.types_code import Unsupported, cpp, integer
from polysome.ir import program as ir
from polysome.ir import types as t

FIELD_OWN = frozenset({"len", "in_port", "valid", "has"})


@dataclass(frozen=True)
class Leaf:
    """A member of Fields, and an expression that reads it."""

    name: str
    e: ir.Expr


def field_name(parser: ir.Parser, i: int, n: int) -> str:
    """What a field is called in Fields and Edits: `ipv4.src` is ipv4_src. No two fields have the same name."""
    instance = parser.instances[i]
    name = identifier(f"{instance.name}.{instance.header.fields[n].name}", FIELD_OWN)
    for j, other in enumerate(parser.instances):
        start = identifier(other.name)
        if j == i or not name.startswith(f"{start}_"):
            continue
        if any(identifier(f"{other.name}.{f.name}", FIELD_OWN) == name for f in other.header.fields):
            return f"{name}_{i}_{n}"  # `x.a_b` beside `x_a.b`
    return name


def leaf_name(e: ir.Expr, parser: ir.Parser) -> str:
    """`ipv4.src` is ipv4_src, `payload[0..4]` payload_0_4."""
    match e:
        case ir.HeaderField(instance=i, field=n):
            return field_name(parser, i, n)
        case ir.PayloadLen():
            return "payload_len"
        case ir.PayloadBytes(low=low, high=high):
            text = "_bytes" if isinstance(e.type, t.ByteString) else ""
            return f"payload_{low}_{'end' if high is None else high}{text}"
        case ir.PacketFrom(instance=i, limit=limit):
            return identifier(f"{parser.instances[i].name}_from_{limit}")
        case ir.RestBytes(instance=i, field=n, low=low, high=high):
            name = field_name(parser, i, n)
            text = "_bytes" if isinstance(e.type, t.ByteString) else ""
            return f"{name}_{'len' if low is None else f'{low}_{high}'}{text}"
        case _:
            raise AssertionError(e)


def leaf_type(e: ir.Expr) -> str:
    """The C++ type of the member."""
    return "uint64_t" if isinstance(e, ir.PayloadLen) else cpp(e.type)


def instance_of(e: ir.Expr) -> int | None:
    """The header instance that a leaf is read from; None for the payload."""
    return e.instance if isinstance(e, ir.HeaderField | ir.RestBytes | ir.PacketFrom) else None


@dataclass(frozen=True)
class Place:
    """C++ texts: the Parsed, a pointer to a header's first byte, where that is in the frame, and where it ends."""

    h: str
    at: str
    start: str
    end: str


def found_place(parser: ir.Parser, i: int, at: str, h: str = "h") -> Place:
    """Instance i where the parser of the Parsed `h` found it; `at` points to it."""
    name = instance_name(parser, i)
    return Place(h, at, f"{h}.offset[{name}]", f"{h}.header_end[{name}]")


def load(e: ir.Expr, parser: ir.Parser, place: Place) -> str:
    """The C++ expression that reads a leaf from a frame."""
    h = place.h
    match e:
        case ir.HeaderField(instance=i, field=n):
            return field_load(parser.instances[i], n, place)
        case ir.PayloadLen():
            return f"uint64_t{{{h}.end}} - {h}.payload"
        case ir.PayloadBytes(low=low, high=high):
            stop = f"{h}.end" if high is None else f"std::min({h}.payload + {high}, {h}.end)"
            if isinstance(e.type, t.ByteString):
                return f"between({h}.data, {h}.payload + {low}, {stop})"
            return f"static_cast<{cpp(e.type)}>(slice_bytes({h}.data, {low}, {high}, {h}.payload, {h}.end))"
        case ir.PacketFrom(limit=limit):
            return f"between({h}.data, {place.start}, std::min({place.start} + {limit}u, {h}.end))"
        case ir.RestBytes(instance=i, low=low, high=high):
            start, end = f"({place.start} + {parser.instances[i].header.fixed}u)", place.end
            if low is None:
                if isinstance(e.type, t.ByteString):
                    return f"between({h}.data, {start}, {end})"
                return f"static_cast<{cpp(e.type)}>({end} > {start} ? {end} - {start} : 0)"
            if isinstance(e.type, t.ByteString):
                return f"between({h}.data, {start} + {low}, std::min<uint32_t>({start} + {high}, {end}))"
            return f"static_cast<{cpp(e.type)}>(slice_bytes({h}.data, {low}, {high}, {start}, {end}))"
        case _:
            raise Unsupported(type(e).__name__)


def field_load(instance: ir.Instance, n: int, place: Place) -> str:
    """A field's value; those of a header that may be cut read 0 beyond its end."""
    h, f = place.h, instance.header.fields[n]
    if instance.cut is not None:
        value = f"read_bits({h}.data, {place.start} * 8 + {f.offset}, {f.width}, {place.end})"
        return f"{value} != 0" if isinstance(f.type, t.Bool) else f"static_cast<{integer(f.width)}>({value})"
    if (f.offset + f.width + 7) // 8 - f.offset // 8 > 16:
        return f"static_cast<u128>(read_bits({h}.data, {place.start} * 8 + {f.offset}, {f.width}, {h}.end))"
    value = bits_load(place.at, f.offset, f.width)
    return f"{value} != 0" if isinstance(f.type, t.Bool) else value


def bits_load(at: str, offset: int, width: int) -> str:
    """`width` bits, big-endian, from bit `offset` behind the pointer `at`; they lie in at most 16 bytes."""
    first, last = offset // 8, (offset + width + 7) // 8
    wide = integer((last - first) * 8)
    value = f"load_bytes<{wide}, {last - first}>({at} + {first})"
    shift = last * 8 - offset - width
    if shift:
        value = f"({value} >> {shift})"
    if (last - first) * 8 - shift != width:
        value = f"({value} & {hex((1 << width) - 1)})"
    return value if wide == integer(width) and not shift else f"static_cast<{integer(width)}>({value})"
