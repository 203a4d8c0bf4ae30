"""Common shapes as C++: the parser that knows them, their fields, and the choice between them (shapes.py).

Each shape is a struct with the members of Fields: those of its headers are read from where they are in the frame, those
of other headers are constants, as is which headers are valid. Functions over `f` are templates, so that the compiler
makes one of each for every shape.
"""

from __future__ import annotations

from polysome.backends.nf_cpp.constants_code import instance_name
from polysome.backends.nf_cpp.expression_code import Shared
from polysome.backends.nf_cpp.lines import initialised
from polysome.backends.nf_cpp.names import identifier
from polysome.backends.nf_cpp.parse_code import ParseExpressions, key_names, match_test
from polysome.backends.nf_cpp.reads import Place, instance_of, leaf_type, load
from polysome.backends.nf_cpp.shapes import Shape
from polysome.backends.nf_cpp.types_code import number
from polysome.ir import program as ir


def parse_shapes(shared: Shared, shapes: list[Shape]) -> list[str]:
    """`static uint8_t find_shape(Headers&)`: the number of a packet's shape, 0 if it has no common one.

    Sets of the Parsed all but `offset`, `header_end`, `limit`, `path`, `depth` and `pos`, and undefined values if it
    returns 0.
    """
    lines = [
        "/// The number of a packet's common shape, with the headers that are valid, the packet's end and its payload;",
        "/// 0 if it has none: then `h` must begin anew.",
        "[[gnu::always_inline]] static uint8_t find_shape([[maybe_unused]] Headers::Front& h) {",
    ]
    if shapes:
        lines += ["    " + line for line in _Straight(shared, shapes).node((0,), (), 0)]
    return [*lines, "    return 0;", "}"] if not shapes else [*lines, "}"]


class _ShapeExpressions(ParseExpressions):
    """Expressions over a packet whose headers so far are `at` these places."""

    def __init__(self, shared: Shared) -> None:
        super().__init__(shared)
        self.offsets: dict[int, int] = {}
        self.pos = 0

    def code(self, e: ir.Expr) -> str:
        match e:
            case ir.HeaderField(instance=i, field=n):
                place = fixed_place(self.program.parser, i, self.offsets[i], "h")
                return load(ir.HeaderField(e.span, e.type, i, n), self.program.parser, place)
            case ir.Valid(instance=i):
                return "true" if i in self.offsets else "false"
            case ir.Peek(bits=bits):
                return f"static_cast<uint64_t>(read_bits(h.data, {self.pos * 8}, {bits}, h.room))"
            case _:
                return super().code(e)


class _Straight:
    """The parser's tests along the ways of all shapes, nested; whatever leaves them returns 0."""

    def __init__(self, shared: Shared, shapes: list[Shape]) -> None:
        self.parser = shared.program.parser
        self.e = _ShapeExpressions(shared)
        self.ends = {way: shape for shape in shapes for way in shape.ways}
        self.ways = {way[:n] for way in self.ends for n in range(1, len(way) + 1)}

    def node(self, way: tuple[int, ...], instances: tuple[tuple[int, int], ...], pos: int) -> list[str]:
        """The tests at the last node of a way that is `pos` bytes long, up to a return whatever they say."""
        node = self.parser.nodes[way[-1]]
        lines: list[str] = []
        self.e.offsets, self.e.pos = dict(instances), pos
        after = pos
        if node.instance is not None:
            instances = (*instances, (node.instance, pos))
            self.e.offsets = dict(instances)
            terminal = not any(way != w and w[: len(way)] == way for w in self.ways)
            lines += self._header(node.instance, pos, terminal)
            after = pos + self.parser.instances[node.instance].header.fixed
        self.e.pos = after
        goals = [("" if c is None else self.e.code(c), target) for c, target in node.hooks]
        keys, cases = self._cases(node)
        for n, (test, target) in enumerate([*goals, *cases]):
            if n == len(goals):
                lines += [*keys, *self._either(way, instances, after, cases)]
            inner = self._target(way, instances, after, target)
            if test == "":
                return [*lines, *(inner if len(inner) == 1 else ["{", *("    " + line for line in inner), "}"])]
            if len(inner) == 1:
                lines.append(f"if ({test}) {inner[0]}")
            else:
                lines += [f"if ({test}) {{", *("    " + line for line in inner), "}"]
        rest = self._target(way, instances, after, -1)
        while rest == ["return 0;"] and lines and lines[-1].startswith("if (") and lines[-1].endswith(") return 0;"):
            lines.pop()
        return [*lines, *rest]

    def _either(
        self, way: tuple[int, ...], instances: tuple[tuple[int, int], ...], pos: int, cases: list[tuple[str, int]]
    ) -> list[str]:
        """The tests of those first cases that end one shape, as TCP and UDP do, without a branch on which it is: that
        would be as hard to foresee as the next packet. Only where all that any of them says is in the frame."""
        claimed = any(self.parser.instances[i].header.end is not None for i, _ in instances)
        keys = key_names(self.parser, self.parser.nodes[way[-1]])  # which the tests name
        found: list[_LastHeader] = []
        shape: Shape | None = None
        for test, target in cases:
            here, node = self.ends.get((*way, target)), self.parser.nodes[target]
            if here is None or test == "" or node.instance is None or node.hooks or node.cases:
                break
            header = self.parser.instances[node.instance].header
            if shape not in (None, here) or not (claimed or header.end is None) or not _says_once(header):
                break
            if any(one.instance == node.instance for one in found):
                break
            shape = here
            self.e.offsets[node.instance], self.e.pos = pos, pos
            name = identifier(f"is_{self.parser.instances[node.instance].name}", [*keys, *(one.there for one in found)])
            says = header.size or header.end
            found.append(_LastHeader(header, node.instance, name, test, "" if says is None else self.e.code(says)))
        self.e.offsets, self.e.pos = dict(instances), pos
        if shape is None or len(found) == 1:
            return []
        masks = [mask_text(self.parser, shape.mask(one.instance)) for one in found]
        demanded = [_conjuncts(one.test) for one in found]
        shared = [part for part in demanded[0] if all(part in parts for parts in demanded)]
        own = [[part for part in parts if part not in shared] or ["true"] for parts in demanded]
        there = f"h.size >= {pos + max(one.fixed for one in found)}"
        return [
            f"if ({' && '.join([there, *shared])}) {{  // all that these say is in the frame",
            *(f"    const bool {one.there} = {' && '.join(parts)};" for one, parts in zip(found, own, strict=True)),
            *(f"    const uint64_t {one.told} = {one.says or one.fixed};" for one in found),
            f"    const uint64_t said = {_choice(found, [one.told for one in found])};",
            f"    const uint64_t size = {_choice(found, ['said' if one.sized else str(one.fixed) for one in found])};",
            # Too much, if it is neither.
            f"    const uint64_t least = {_choice(found, [str(one.fixed) for one in found], 'UINT64_MAX')};",
            f"    if (said >= least && h.room >= {pos} + size) {{",
            f"        h.payload = {pos} + static_cast<uint32_t>(size);",
            f"        h.valid = {_choice(found, masks)};",
            f"        return {shape.number};  // {shape.name}",
            "    }",
            "}",
        ]

    def _target(self, way: tuple[int, ...], instances: tuple[tuple[int, int], ...], pos: int, node: int) -> list[str]:
        if node >= 0:
            longer = (*way, node)
            lines = self.node(longer, instances, pos) if longer in self.ways else ["return 0;"]
            self.e.offsets, self.e.pos = dict(instances), pos  # as they were
            return lines
        shape = self.ends.get(way)
        if shape is None:
            return ["return 0;"]
        last = self.parser.nodes[way[-1]].instance
        assert last is not None
        sized = self.parser.instances[last].header.size is not None
        size = f"{shape.offsets[-1]} + static_cast<uint32_t>(size)" if sized else str(pos)
        return [
            f"h.payload = {size};",
            f"h.valid = {mask_text(self.parser, shape.mask(last))};",
            f"return {shape.number};  // {shape.name}",
        ]

    def _header(self, i: int, pos: int, last: bool) -> list[str]:
        """The header at `pos` is there, and of its fixed size if more come behind it."""
        header = self.parser.instances[i].header
        lines = [f"// {self.parser.instances[i].name}"]
        if pos + header.fixed > 0:
            lines.append(f"if (h.room < {pos + header.fixed}) return 0;")
        size = str(header.fixed)
        if header.size is not None:
            # One name for all is enough: those further in hide it.
            size = "size"
            lines.append(f"const uint64_t size = {self.e.code(header.size)};")
            if not last:  # first, because what `valid` asks for follows from it more often than not
                lines.append(f"if (size != {header.fixed}) return 0;")
        if header.valid is not None:
            lines.append(f"if (!{self.e.code(header.valid)}) return 0;")
        if header.size is not None and last:
            lines.append(f"if (size < {header.fixed} || size > h.room - {pos}) return 0;")
        if header.end is not None:
            lines.append(f"const uint64_t end = {self.e.code(header.end)};")
            lines.append(f"if (end < {size}) return 0;")
            lines.append(f"h.narrow({pos} + static_cast<uint32_t>(std::min<uint64_t>(end, INT32_MAX)));")
        return lines

    def _cases(self, node: ir.ParseNode) -> tuple[list[str], list[tuple[str, int]]]:
        names = key_names(self.parser, node)
        keys = [
            f"[[maybe_unused]] const auto {name} = {self.e.code(key)};"
            for name, key in zip(names, node.keys, strict=True)
        ]
        cases: list[tuple[str, int]] = []
        for case in node.cases:
            tests = [match_test(m, names) for m in case.matches]
            cases.append(("" if "" in tests else " || ".join(tests), case.target))
        return (keys if cases else []), cases


class _LastHeader:
    """A header that may be the last one, if `test`; `says` is its size, if it is `sized`, or where its packet ends.
    `there` and `told` are the locals that hold both."""

    def __init__(self, header: ir.Header, instance: int, there: str, test: str, says: str) -> None:
        self.instance, self.there, self.told = instance, there, f"{there.removeprefix('is_')}_says"
        self.test, self.says, self.fixed, self.sized = test, says, header.fixed, header.size is not None


def _conjuncts(test: str) -> list[str]:
    """The parts of a test (match_test) of which all must hold."""
    return [test] if "||" in test else test.removeprefix("(").removesuffix(")").split(" && ")


def _choice(headers: list[_LastHeader], values: list[str], neither: str | None = None) -> str:
    """The value for the header that is there; which is one of them, if there is no value for `neither`."""
    *others, last = values if neither is None else [*values, neither]
    return " : ".join([*(f"{one.there} ? {value}" for one, value in zip(headers, others, strict=False)), last])


def _says_once(header: ir.Header) -> bool:
    """Does it say either its size or where its packet ends, or neither, and is all that it demands (`valid`) that this
    is no less than its fixed part?"""
    says = header.size if header.end is None else header.end
    if header.size is not None and header.end is not None:
        return False
    match says, header.valid:
        case _, None:
            return True
        case (
            ir.HeaderField(field=n),
            ir.Binary(op=">=", left=ir.HeaderField(field=m), right=ir.Const(value=int(least))),
        ):
            return n == m and least <= header.fixed
        case (
            ir.Binary(op="*", left=ir.Cast(value=ir.HeaderField(field=n)), right=ir.Const(value=int(unit))),
            ir.Binary(op=">=", left=ir.HeaderField(field=m), right=ir.Const(value=int(least))),
        ):
            # A field of fewer bits than its multiple has, which is no less than the size of its units.
            fits = (1 << header.fields[n].width) * unit <= 1 << 16
            return n == m and fits and unit > 0 and least <= -(-header.fixed // unit)
        case _:
            return False


def fixed_place(parser: ir.Parser, i: int, offset: int, h: str, end: str | None = None) -> Place:
    """Instance i from byte `offset` of the frame of the Parsed `h` on; it ends at `end` or has its fixed size."""
    fixed = f"{offset + parser.instances[i].header.fixed}u"
    return Place(h, f"{h}.data + {offset}", f"{offset}u", fixed if end is None else end)


def shape_structs(shared: Shared, shapes: list[Shape]) -> list[str]:
    """The fields of each shape."""
    return [line for shape in shapes for line in _struct(shared, shape)]


def _struct(shared: Shared, shape: Shape) -> list[str]:
    parser = shared.program.parser
    sets, members = ["valid(h.valid)", "len(h.length())", "in_port(h.in_port)"], []
    for leaf in shared.leaves.values():
        i, type = instance_of(leaf.e), leaf_type(leaf.e)
        if i is not None and i not in (*shape.path, *shape.last):
            members.append(f"static constexpr {type} {leaf.name}{{}};")
            continue
        members.append(f"{type} {leaf.name};")
        sets.append(f"{leaf.name}({_load(parser, shape, leaf.e, i)})")
    listed = ", ".join(
        f"{parser.instances[i].name} at {offset}" for i, offset in zip(shape.path, shape.offsets, strict=False)
    )
    either = " or ".join(parser.instances[i].name for i in shape.last)
    return [
        f"/// The fields of a packet that is {listed}{', ' if listed else ''}{either} at {shape.offsets[-1]}.",
        f"struct {shape.name} {{",
        "    typename Headers::Mask valid;",
        "    uint64_t len;",
        "    uint16_t in_port;",
        *("    " + member for member in members),
        "",
        f"    explicit {shape.name}(const Headers& h)",
        *initialised(sets),
        *("    " + line for line in has_function(parser, shape.last if len(shape.last) > 1 else (), shape.always)),
        "};",
    ]


def mask_text(parser: ir.Parser, mask: int) -> str:
    """A mask of instances as Headers::Mask."""
    return number(mask, "uint64_t" if len(parser.instances) <= 64 else "u128")


def has_function(parser: ir.Parser, last: tuple[int, ...], always: int) -> list[str]:
    """`bool has(instance)` of a struct with `valid`: all of `always` and exactly one of `last` are there."""
    if not last:
        return [f"static constexpr bool has(size_t instance) {{ return {mask_text(parser, always)} >> instance & 1; }}"]
    # The last one is there if no other is, so that the compiler knows that one of them is.
    others = [f"(valid & {mask_text(parser, 1 << i)}) != 0" for i in last[:-1]]
    tests = [*others, f"(valid & {mask_text(parser, sum(1 << i for i in last[:-1]))}) == 0"]
    return [
        "bool has(size_t instance) const {",
        "    switch (instance) {",
        *(
            f"        case {i}: return {test};  // {parser.instances[i].name}"
            for i, test in zip(last, tests, strict=True)
        ),
        f"        default: return {mask_text(parser, always)} >> instance & 1;",
        "    }",
        "}",
    ]


def _load(parser: ir.Parser, shape: Shape, e: ir.Expr, i: int | None) -> str:
    """What reads a leaf of a packet of the shape; 0 if its header is not the one that is there."""
    if i is None:
        return load(e, parser, Place("h", "", "", ""))
    end = "h.payload" if i in shape.last else None
    value = load(e, parser, fixed_place(parser, i, shape.offset(i), "h", end))
    if i in shape.last and len(shape.last) > 1 and not _there(parser, shape, e):
        return f"has({instance_name(parser, i)}) ? {value} : {leaf_type(e)}{{}}"
    return value


def _there(parser: ir.Parser, shape: Shape, e: ir.Expr) -> bool:
    """Are the bytes of a field of one of the last headers in the frame whichever of them is there?"""
    if not isinstance(e, ir.HeaderField):
        return False
    f = parser.instances[e.instance].header.fields[e.field]
    return f.offset + f.width <= 8 * min(parser.instances[i].header.fixed for i in shape.last)


def choice(shapes: list[Shape]) -> list[str]:
    """`with_fields(packet, use)` and `located(packet)`."""
    return [
        "/// Calls `use` with the fields of a packet of a common shape, inlined; of others, `rare()`.",
        "template <class Use, class Rare>",
        "[[gnu::always_inline]] static auto with_fields(const Packet& p, Use use, Rare rare) {",
        "    switch (p.shape) {",
        *(
            f"        {'' if n else '[[likely]] '}case {shape.number}: return use({shape.name}(p.headers));"
            for n, shape in enumerate(shapes)
        ),
        "        default: return rare();",
        "    }",
        "}",
        "/// Calls `use` with the fields of any packet: those of its common shape, inlined, or Fields.",
        "template <class Use>",
        "[[gnu::always_inline]] static auto with_fields(const Packet& p, Use use) -> decltype(use(p.fields)) {",
        "    return with_fields(p, use, [&] { return with_rare_fields(p, use); });",
        "}",
        "template <class Use>",
        "[[gnu::noinline]] static auto with_rare_fields(const Packet& p, Use use) -> decltype(use(p.fields)) {",
        "    return use(p.fields);",
        "}",
        "/// The headers of a packet, also of a common shape.",
        "static Headers located(const Packet& p) {",
        "    Headers h = p.headers;",
        "    if (p.shape != 0) {",
        "        h.begin(h.data, h.size, h.in_port);",
        "        find_headers(h);",
        "    }",
        "    return h;",
        "}",
    ]
