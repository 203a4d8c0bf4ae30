"""Fields frames as C++: from the packed bytes of a class to Fields, and from Edits to bytes (DESIGN section 6).

The layout is that of `analysis/layout.py`; frame and tag around it are the host's. Which classes travel so,
`analysis/framed.py` says; packets of all others travel whole. What the schedule asks of a packet is computed from its
fields too, so that answers can be held in place of packets.
"""

from __future__ import annotations

from dataclasses import dataclass

from polysome.analysis.framed import edits_frame, framed_classes, is_number
from polysome.analysis.layout import Carry, ClassLayout
from polysome.analysis.relevance import PAYLOAD, members
from polysome.backends.nf_cpp.constants_code import instance_name
from polysome.backends.nf_cpp.expression_code import Shared
from polysome.backends.nf_cpp.lines import initialised
from polysome.backends.nf_cpp.names import unique
from polysome.backends.nf_cpp.reads import Leaf, bits_load, field_name, leaf_name, leaf_type
from polysome.backends.nf_cpp.shape_code import has_function, mask_text
from polysome.backends.nf_cpp.shapes import Shape
from polysome.ir import program as ir
from polysome.ir.walk import emits

_LONGEST = 60  # characters of the name of a family


@dataclass(frozen=True)
class Family:
    """Classes whose headers differ in the last one only, which are handled by the same code; numbers count from 1.
    `common`: so are those of packets of one common shape, and no others are among them."""

    number: int
    common: bool
    name: str
    classes: tuple[ClassLayout, ...]
    paths: tuple[tuple[int, ...], ...]

    @property
    def always(self) -> int:
        return sum(1 << i for i in set.intersection(*(set(path) for path in self.paths)))

    @property
    def last(self) -> tuple[int, ...]:
        """The header that tells each class from the others; none if there is one class only."""
        return tuple(path[-1] for path in self.paths) if len(self.paths) > 1 else ()


def _families(shared: Shared, known: tuple[ClassLayout, ...], shapes: list[Shape]) -> list[Family]:
    parser = shared.program.parser
    masks = {shape.mask(last) for shape in shapes for last in shape.last}
    groups: dict[tuple[bool, tuple[int, ...]], list[tuple[ClassLayout, tuple[int, ...]]]] = {}
    for c in known:
        paths = [parser.classes[m] for m in members(c.classes)]
        common = any(sum(1 << i for i in path) in masks for path in paths)
        groups.setdefault((common, paths[0][:-1] if paths[0] else (-1,)), []).append((c, paths[0]))
    alike = [tuple(c for c, _ in found) for found in groups.values()]
    names = unique(_family_name(shared.program.parser, classes) for classes in alike)
    return [
        Family(n, common, name, classes, tuple(path for _, path in found))
        for n, (name, classes, ((common, _), found)) in enumerate(zip(names, alike, groups.items(), strict=True), 1)
    ]


def _family_name(parser: ir.Parser, classes: tuple[ClassLayout, ...]) -> str:
    """The headers of the classes, as long as a line has room for them: `ethernet_ipv4_tcp_or_udp_fields`."""
    headers = [_headers(parser, c) or ["no_header"] for c in classes]
    either = "_or_".join(dict.fromkeys(names[-1] for names in headers))
    before = [name for name in headers[0][:-1] if all(name in names for names in headers)]
    whole = "_".join([*before, either])
    some = either if len(either) <= _LONGEST else f"{headers[0][-1]}_or_{len(classes) - 1}_others"
    return f"{whole if len(whole) <= _LONGEST else some}_fields"


def _headers(parser: ir.Parser, c: ClassLayout) -> list[str]:
    """The headers that every packet of a class has."""
    paths = [parser.classes[m] for m in members(c.classes)]
    return [parser.instances[i].name for i in paths[0] if all(i in path for path in paths)]


def _remark(shared: Shared, c: ClassLayout) -> str:
    return f"// {', '.join(_headers(shared.program.parser, c)) or 'no header'}"


def frame_functions(shared: Shared, carry: Carry, shapes: list[Shape], sharded: bool) -> list[str]:
    """What FieldsNf (runtime/nf/fields_frames.hpp) needs of an NF; `shared` has all leaves by now."""
    known = framed_classes(shared.program, carry)
    for c in known:
        _keep(shared, c)
    families = _families(shared, known, shapes)
    return [
        "// ---- fields frames",
        "/// Bytes of fields of the largest class, and of each frame of edits.",
        f"static constexpr size_t most_fields = {max([c.fields_size for c in known], default=0)};",
        f"static constexpr size_t edits_frame = {edits_frame(shared.program, carry)};",
        "/// May it make packets itself?",
        f"static constexpr bool emits = {str(emits(shared.program)).lower()};",
        *_frame_class(shared, known),
        *_write_all_fields(shared, known),
        *_parse_fields(shared, families),
        *[line for family in families for line in _struct(shared, family)],
        *_readers(shared, families),
        *_common(families),
        *(_core(families) if sharded else []),
        *_write_edits(shared, families),
        "",
    ]


def _frame_class(shared: Shared, known: tuple[ClassLayout, ...]) -> list[str]:
    lines = [
        "/// The class of a parsed packet, 0 if it travels whole.",
        "static uint8_t frame_class([[maybe_unused]] const Packet& p) {",
    ]
    for c in known:
        lines.append(f"    {_remark(shared, c)}")
        masks = sorted({sum(1 << i for i in shared.program.parser.classes[m]) for m in members(c.classes)})
        if len(masks) <= 16:
            tests = " || ".join(f"p.headers.valid == {hex(mask)}u" for mask in masks)
            lines.append(f"    if ({tests}) return {c.number};")
        else:
            listed, name = ", ".join(f"{hex(m)}u" for m in masks), f"class_{c.number}"
            lines += [
                f"    static constexpr uint64_t {name}[] = {{{listed}}};",
                f"    if (std::ranges::binary_search({name}, uint64_t{{p.headers.valid}})) return {c.number};",
            ]
    return [*lines, "    return 0;", "}"]


def _write_all_fields(shared: Shared, known: tuple[ClassLayout, ...]) -> list[str]:
    lines = [
        "/// The fields of a packet as the switch would send them; returns how many bytes.",
        "static size_t write_fields([[maybe_unused]] const Packet& p, uint8_t number,",
        "                           [[maybe_unused]] uint8_t* bytes) {",
        "    [[maybe_unused]] const Headers h = located(p);",
        "    switch (number) {",
    ]
    for c in known:
        lines.append(f"        case {c.number}:  {_remark(shared, c)}")
        lines += ["            " + line for line in _write_fields(shared.program.parser, c)]
        lines.append(f"            return {c.fields_size};")
    return [*lines, "        default: return 0;", "    }", "}"]


def _parse_fields(shared: Shared, families: list[Family]) -> list[str]:
    parser = shared.program.parser
    rows: dict[int, list[str]] = {}
    for family in families:
        for c, path in zip(family.classes, family.paths, strict=True):
            mask = mask_text(parser, sum(1 << i for i in path))
            assert c.number is not None
            rows[c.number] = [_remark(shared, c), f"{{{c.fields_size}, {family.number}, {mask}}},  // {family.name}"]
    every = [line for number in range(max(rows, default=0) + 1) for line in rows.get(number, ["{},"])]
    return [
        "/// The classes by number: bytes of fields, the number of the struct that has them (0: there is no such",
        "/// class), and the headers that are there.",
        "struct FrameClass {",
        "    uint16_t size;",
        "    uint8_t shape;",
        "    Headers::Mask valid;",
        "};",
        "static constexpr FrameClass frame_classes[] = {",
        *("    " + line for line in every),
        "};",
        "/// Takes a packet of class `number` and `length` bytes, that arrived at `port`, from its fields, which must",
        "/// stay where they are; false if there is no such class or they are too short. What comes then is",
        "/// prepare_frame, prefetch_entries, then with_common_frame_fields or `fields`, decide, write_edits.",
        "bool parse_fields(uint8_t number, std::span<const uint8_t> bytes, uint32_t length, uint16_t port,",
        "                  Packet& p) const {",
        "    if (number >= std::size(frame_classes)) return false;",
        "    const FrameClass& found = frame_classes[number];",
        "    if (found.shape == 0 || bytes.size() < found.size) return false;",
        "    p.shape = found.shape;",
        "    p.headers.of_fields(bytes.data(), length, port, found.valid);",
        "    return true;",
        "}",
    ]


def _struct(shared: Shared, family: Family) -> list[str]:
    """The members of Fields, read from the bytes of a frame's class."""
    sets, member_lines = ["valid(h.valid)", "len(h.length())", "in_port(h.in_port)"], []
    for leaf in shared.leaves.values():
        value = _load_of(shared, family, leaf)
        if value is None:
            member_lines.append(f"static constexpr {leaf_type(leaf.e)} {leaf.name}{{}};")
        else:
            member_lines.append(f"{leaf_type(leaf.e)} {leaf.name};")
            sets.append(f"{leaf.name}({value})")
    numbers = " or ".join(str(c.number) for c in family.classes)
    return [
        f"/// The fields of a frame of class {numbers}.",
        f"struct {family.name} {{",
        "    typename Headers::Mask valid;",
        "    uint64_t len;",
        "    uint16_t in_port;",
        *("    " + line for line in member_lines),
        "",
        f"    explicit {family.name}(const Headers& h)",
        *initialised(sets),
        *("    " + line for line in has_function(shared.program.parser, family.last, family.always)),
        "};",
    ]


def _load_of(shared: Shared, family: Family, leaf: Leaf) -> str | None:
    """What reads a leaf from a frame of the family; None if no class has it."""
    found = [(k, place) for k, c in enumerate(family.classes) if (place := _load(shared, c, leaf)) is not None]
    if not found:
        return None
    room = min(c.fields_size for c in family.classes)
    texts = {text for _, (text, _) in found}
    if len(texts) == 1 and all(end <= room for _, (_, end) in found):
        return texts.pop()
    value = f"{leaf_type(leaf.e)}{{}}"
    for k, (text, _) in reversed(found):
        if len(family.classes) == 1:
            return text
        value = f"has({family.last[k]}) ? {text} : {value}"
    return value


def _load(shared: Shared, c: ClassLayout, leaf: Leaf) -> tuple[str, int] | None:
    """The text that reads a leaf from the fields of a class, and the byte where it ends there."""
    if not is_number(leaf.e):
        return None
    instance, bit, width, first = _span(shared, leaf.e)
    last = (bit + width + 7) // 8
    place = _place(c, instance, first, last)
    if place is None:
        return None
    at, type = place * 8 + bit - first * 8, leaf_type(leaf.e)
    if (at + width + 7) // 8 - at // 8 > 16:
        value = f"read_bits(h.data, {at}, {width}, {c.fields_size})"
    else:
        value = bits_load("h.data", at, width)
    text = f"({value} != 0)" if type == "bool" else f"static_cast<{type}>({value})"
    return text, place + last - first


def _readers(shared: Shared, families: list[Family]) -> list[str]:
    """What reads the fields of a frame, once its class is known. Templates, so that hosts of whole packets do not
    compile them."""
    names = ["valid", "len", "in_port", *(leaf.name for leaf in shared.leaves.values())]
    return [
        "/// Calls `use` with the fields of a frame.",
        "template <class P, class Use>",
        "static auto with_frame_fields(const P& p, Use use) -> decltype(use(p.fields)) {",
        *(
            [
                "    switch (p.shape) {",
                *(f"        case {f.number}: return use({f.name}(p.headers));" for f in families[1:]),
                f"        default: return use({families[0].name}(p.headers));",
                "    }",
            ]
            if families
            else ["    return use(p.fields);  // no packet of this NF travels as fields"]
        ),
        "}",
        "template <class F>",
        "static void copy_fields(const F& f, Fields& to) {",
        *(f"    to.{name} = f.{name};" for name in names),
        "}",
        "/// The fields of a frame, to be handled by the code for packets of any shape.",
        "template <class P>",
        "static void extract_frame(P& p) {",
        "    with_frame_fields(p, [&](const auto& f) { copy_fields(f, p.fields); });",
        "}",
    ]


def _common(families: list[Family]) -> list[str]:
    """The choice of the common families: only they have code of their own."""
    return [
        "/// Calls `use` with the fields of a frame of packets of a common shape, inlined; of others, `rare()`.",
        "template <class P, class Use, class Rare>",
        "[[gnu::always_inline]] static auto with_common_frame_fields(",
        "        [[maybe_unused]] const P& p, [[maybe_unused]] Use use, Rare rare) {",
        "    switch (p.shape) {",
        *(f"        case {f.number}: return use({f.name}(p.headers));" for f in families if f.common),
        "        default: return rare();",
        "    }",
        "}",
        "/// `prepare` for frames.",
        "template <class P>",
        "[[gnu::always_inline]] void prepare_frame(P& p) const {",
        "    with_common_frame_fields(",
        "        p, [&](const auto& f) __attribute__((always_inline)) { prepare(f, p.ahead); },",
        "        [&] { prepare_rare_frame(p); });",
        "}",
        "template <class P>",
        "[[gnu::noinline]] void prepare_rare_frame(P& p) const {",
        "    extract_frame(p);",
        "    prepare(p.fields, p.ahead);",
        "}",
    ]


def _core(families: list[Family]) -> list[str]:
    """`core` for frames. A class whose fields say nothing of the shard key uses no state that is divided by it."""
    core = "with_frame_fields(p, [&](const auto& f) { return core_of(f, cores); })" if families else "0"
    return [
        "template <class P>",
        "uint32_t core_frame([[maybe_unused]] const P& p, [[maybe_unused]] uint32_t cores) const {",
        f"    return {core};",
        "}",
    ]


def _write_edits(shared: Shared, families: list[Family]) -> list[str]:
    return [line for family in families for line in _write_edits_of(shared, family)]


def _write_edits_of(shared: Shared, family: Family) -> list[str]:
    edits = [_edits(shared, c) for c in family.classes]
    if len({tuple((one.offset, one.length) for one in own) for own in edits}) == 1:
        # The same bytes of all: a choice of values is faster than one of ways.
        edits = [[_either(family, same) for same in zip(*edits, strict=True)]] * len(edits)
    stores = [[f"Writer(bytes + {one.offset}).put({one.value}, {one.length});" for one in own] for own in edits]
    common = [line for line in stores[0] if all(line in other for other in stores)]
    lines = [
        "/// The edits of a decided frame; returns how many bytes.",
        f"[[gnu::always_inline]] static size_t write_edits([[maybe_unused]] const {family.name}& f,",
        "        [[maybe_unused]] const Edits& e, [[maybe_unused]] uint8_t* bytes) {",
        *("    " + line for line in common),
    ]
    sizes = [c.edits_size for c in family.classes]
    for i, own, size in zip(family.last, stores, sizes, strict=False):
        rest = [line for line in own if line not in common]
        if len(set(sizes)) > 1:
            rest.append(f"return {size};")
        if rest:
            name = shared.program.parser.instances[i].name
            lines.append(f"    if (f.has({i})) {{  // {name}")
            lines += [*("        " + x for x in rest), "    }"]
    return [*lines, f"    return {sizes[0] if len(set(sizes)) == 1 else 0};", "}"]


def _keep(shared: Shared, c: ClassLayout) -> None:
    """Fields that a sending path leaves alone go back as they came, so they are part of Fields."""
    parser = shared.program.parser
    for edit in c.edits:
        f = parser.instances[edit.instance].header.fields[edit.field]
        if _place(c, edit.instance, f.offset // 8, (f.offset + f.width + 7) // 8) is not None:
            e = ir.HeaderField(f.span, f.type, edit.instance, edit.field)
            shared.leaves.setdefault(leaf_name(e, parser), Leaf(leaf_name(e, parser), e))


def _leaf(shared: Shared, i: int, n: int) -> str:
    return field_name(shared.program.parser, i, n)


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


def _write_fields(parser: ir.Parser, c: ClassLayout) -> list[str]:
    """Copies the slices from the frame."""
    lines = []
    for s in c.fields:
        name = "" if s.instance == PAYLOAD else instance_name(parser, s.instance)
        start = f"h.offset[{name}]" if name else "h.payload"
        lines.append(
            f"copy_padded(bytes + {s.offset}, h.data, {start} + {s.first}, {s.length}, "
            + (f"h.header_end[{name}]);" if name else "h.end);")
        )
    return lines


@dataclass(frozen=True)
class Edit:
    """What is written to `length` bytes of the edits, from `offset` on, as C++."""

    offset: int
    length: int
    value: str


def _edits(shared: Shared, c: ClassLayout) -> list[Edit]:
    found = []
    for edit in c.edits:
        name = _leaf(shared, edit.instance, edit.field)
        kept = f"f.{name}" if name in shared.leaves else "0"
        found.append(Edit(edit.offset, edit.length, f"e.has_{name} ? e.{name} : {kept}"))
    return found


def _either(family: Family, same: tuple[Edit, ...]) -> Edit:
    """One edit for those of each class, at the same place."""
    first, *_, value = same[0], *(one.value for one in same)
    if all(one.value == value for one in same):
        return first
    for i, one in reversed(list(zip(family.last, same, strict=True))[:-1]):
        value = f"f.has({i}) ? ({one.value}) : {value}"
    return Edit(first.offset, first.length, value)
