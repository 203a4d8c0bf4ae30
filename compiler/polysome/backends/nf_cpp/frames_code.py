"""Fields frames as C++: from the packed bytes of a class to Fields, and from Edits to bytes (DESIGN section 6).

The layout is that of `analysis/layout.py`; frame and tag around it are the host's. A class that goes whole, or
whose edits include pushes, pops or truncations, or whose payload's length is read, is not known here:
such packets travel whole.
"""

from __future__ import annotations

from polysome.analysis.layout import ClassLayout, layout
from polysome.analysis.relevance import PAYLOAD, members
from polysome.backends.nf_cpp.expression_code import Shared
from polysome.backends.nf_cpp.names import identifier
from polysome.backends.nf_cpp.reads import Leaf, bits_load, leaf_name, leaf_type
from polysome.ir import program as ir
from polysome.ir import types as t


def frame_functions(shared: Shared) -> list[str]:
    """`parse_fields`, `write_edits` and what a host must know of their sizes."""
    known = [
        c for c in layout(shared.program).classes if c.number is not None and not c.operations and _plain(shared, c)
    ]
    for c in known:
        _keep(shared, c)
    lines = [
        "// ---- fields frames",
        "/// Bytes of fields, and of edits, of the largest class.",
        f"static constexpr size_t most_fields = {max([c.fields_size for c in known], default=0)};",
        f"static constexpr size_t most_edits = {max([c.edits_size for c in known], default=0)};",
        "/// The class of a parsed packet, 0 if it travels whole.",
        "static uint8_t frame_class([[maybe_unused]] const Packet& p) {",
    ]
    for c in known:
        masks = sorted({sum(1 << i for i in shared.program.parser.classes[m]) for m in members(c.classes)})
        if len(masks) <= 16:
            tests = " || ".join(f"p.headers.valid == {hex(mask)}u" for mask in masks)
            lines.append(f"    if ({tests}) return {c.number};")
        else:
            lines += [
                f"    static constexpr uint64_t class_{c.number}[] = {{{', '.join(f'{hex(m)}u' for m in masks)}}};"
            ]
            lines.append(
                f"    if (std::ranges::binary_search(class_{c.number}, uint64_t{{p.headers.valid}})) return {c.number};"
            )
    lines += [
        "    return 0;",
        "}",
        "/// The fields of a packet as the switch would send them; returns how many bytes.",
        "static size_t write_fields([[maybe_unused]] const Packet& p, uint8_t number,",
        "                           [[maybe_unused]] uint8_t* bytes) {",
        "    [[maybe_unused]] const Headers h = located(p);",
        "    switch (number) {",
    ]
    for c in known:
        lines += [f"        case {c.number}:", *("            " + line for line in _write_fields(shared, c))]
        lines.append(f"            return {c.fields_size};")
    lines += [
        "        default: return 0;",
        "    }",
        "}",
        "/// Takes a packet of class `number` and `length` bytes, that arrived at `port`, from its fields; false if",
        "/// there is no such class or they are too short.",
        "bool parse_fields(uint8_t number, std::span<const uint8_t> bytes, uint32_t length, uint16_t port,",
        "                  Packet& p) const {",
        "    Fields& f = p.fields;",
        "    p.shape = 0;",
        "    p.headers.begin(bytes.data(), length, port);",
        "    f.len = length;",
        "    f.in_port = port;",
        "    switch (number) {",
    ]
    for c in known:
        path = shared.program.parser.classes[next(members(c.classes))]
        lines += [
            f"        case {c.number}:",
            *([f"            if (bytes.size() < {c.fields_size}) return false;"] if c.fields_size else []),
            f"            p.headers.valid = f.valid = {hex(sum(1 << i for i in path))}u;",
            *("            " + line for line in _loads(shared, c)),
            "            return true;",
        ]
    lines += [
        "        default: return false;",
        "    }",
        "}",
        "/// The edits of a decided packet of class `number`; returns how many bytes.",
        "static size_t write_edits([[maybe_unused]] const Packet& p, uint8_t number,",
        "                          [[maybe_unused]] uint8_t* bytes) {",
        "    [[maybe_unused]] const Fields& f = p.fields;",
        "    [[maybe_unused]] const Edits& e = p.edits;",
        "    switch (number) {",
    ]
    for c in known:
        lines.append(f"        case {c.number}:")
        lines += ["            " + line for line in _stores(shared, c)]
        lines.append(f"            return {c.edits_size};")
    return [*lines, "        default: return 0;", "    }", "}", ""]


def _plain(shared: Shared, c: ClassLayout) -> bool:
    """Can everything that decide reads of the class be had from its bytes, and every edit be written?"""
    if len(shared.program.parser.instances) > 64:
        return False
    for leaf in shared.leaves.values():
        if isinstance(leaf.e, ir.PayloadLen | ir.PacketFrom) or isinstance(leaf.e.type, t.ByteString):
            return False
        if isinstance(leaf.e, ir.RestBytes) and leaf.e.low is None:
            return False
    return all(edit.kind == "field" for edit in c.edits)


def _keep(shared: Shared, c: ClassLayout) -> None:
    """Fields that a sending path leaves alone go back as they came, so they are part of Fields."""
    parser = shared.program.parser
    for edit in c.edits:
        f = parser.instances[edit.instance].header.fields[edit.field]
        if _place(c, edit.instance, f.offset // 8, (f.offset + f.width + 7) // 8) is not None:
            e = ir.HeaderField(f.span, f.type, edit.instance, edit.field)
            shared.leaves.setdefault(leaf_name(e, parser), Leaf(leaf_name(e, parser), e))


def _leaf(shared: Shared, i: int, n: int) -> str:
    instance = shared.program.parser.instances[i]
    return identifier(f"{instance.name}.{instance.header.fields[n].name}")


def _span(shared: Shared, e: ir.Expr) -> tuple[int, int, int, int]:
    """(instance or PAYLOAD, first bit, bits, first byte) of a leaf from its header's start."""
    parser = shared.program.parser
    match e:
        case ir.HeaderField(instance=i, field=n):
            f = parser.instances[i].header.fields[n]
            return i, f.offset, f.width, f.offset // 8
        case ir.RestBytes(instance=i, low=low, high=high):
            assert low is not None and high is not None
            start = parser.instances[i].header.fixed + low
            return i, start * 8, (high - low) * 8, start
        case ir.PayloadBytes(low=low, high=high):
            assert high is not None
            return PAYLOAD, low * 8, (high - low) * 8, low
        case _:
            raise AssertionError(e)


def _place(c: ClassLayout, instance: int, first: int, last: int) -> int | None:
    """Where bytes first..last of a header are in the fields; None if they are not all there."""
    for s in c.fields:
        if s.instance == instance and s.first <= first and last <= s.first + s.length:
            return s.offset + first - s.first
    return None


def _loads(shared: Shared, c: ClassLayout) -> list[str]:
    lines = []
    for leaf in shared.leaves.values():
        instance, bit, width, first = _span(shared, leaf.e)
        place = _place(c, instance, first, (bit + width + 7) // 8)
        if place is None:
            continue
        at = place * 8 + bit - first * 8
        type = leaf_type(leaf.e)
        if (at + width + 7) // 8 - at // 8 > 16:
            value = f"read_bits(bytes.data(), {at}, {width}, {c.fields_size})"
        else:
            value = bits_load("bytes.data()", at, width)
        lines.append(f"f.{leaf.name} = " + (f"{value} != 0;" if type == "bool" else f"static_cast<{type}>({value});"))
    return lines


def _write_fields(shared: Shared, c: ClassLayout) -> list[str]:
    """Copies the slices from the frame."""
    lines = []
    for s in c.fields:
        start = "h.payload" if s.instance == PAYLOAD else f"h.offset[{s.instance}]"
        lines.append(
            f"copy_padded(bytes + {s.offset}, h.data, {start} + {s.first}, {s.length}, "
            + ("h.end);" if s.instance == PAYLOAD else f"h.header_end[{s.instance}]);")
        )
    return lines


def _stores(shared: Shared, c: ClassLayout) -> list[str]:
    lines = []
    for edit in c.edits:
        name = _leaf(shared, edit.instance, edit.field)
        kept = f"f.{name}" if name in shared.leaves else "0"
        lines.append(f"Writer(bytes + {edit.offset}).put(e.has_{name} ? e.{name} : {kept}, {edit.length});")
    return lines
