"""What generated C++ says about a program's headers: `protocols`, as `runtime/nf/headers.hpp` describes it."""

from __future__ import annotations

from collections.abc import Iterable

from polysome.backends.nf_cpp.constants_code import enumeration, field_names, header_names, headers_code
from polysome.backends.nf_cpp.names import unique
from polysome.ir import program as ir
from polysome.ir import types as t

_WORD = (1 << 64) - 1


def protocols_code(program: ir.Program) -> str:
    """C++ text, for inside a namespace in or under `polysome`, that ends with `inline constexpr Protocols protocols`.

    Headers are numbered as in `program.headers`, fields and instances as in the program. Needs `nf/headers.hpp`.
    """
    return _Code(program).text()


def integer(value: int) -> str:
    """A C++ constant expression for 0 <= value < 2^128, of 64 bits if they suffice."""
    if value <= _WORD:
        return f"{value}ull" if value < 1 << 16 else f"{value:#x}ull"
    return f"(u128{{{value >> 64:#x}ull}} << 64 | {value & _WORD:#x}ull)"


class _Code:
    """Writes down what headers share before its use."""

    def __init__(self, program: ir.Program) -> None:
        self.program = program
        self.instances = program.parser.instances
        self.headers, self.fields = header_names(program), field_names(program)
        enums = dict.fromkeys(f.next for h in program.headers.values() for f in h.fields if f.next is not None)
        self.enums = dict(zip(enums, unique(enum.name for enum in enums), strict=True))
        self.lines: list[str] = []
        self.taken: list[str] = []

    def text(self) -> str:
        self.lines += headers_code(self.program)
        if self.enums:
            self.lines += ["/// Enums that say which header is next.", "namespace Enum {"]
            self.lines += [*enumeration("int16_t", self.enums.values()), "}  // namespace Enum", ""]
        self.lines += ["/// What `protocols` is made of.", "namespace Layout {"]
        headers = [self._header(header) for header in self.program.headers.values()]
        enums = [self._array(f"{name}_numbers", "NextNumber", self._numbers(e)) for e, name in self.enums.items()]
        shapes = self._array("header_shapes", "HeaderShape", headers)
        instances = self._array("instance_shapes", "InstanceShape", map(self._instance, self.instances))
        numbers = self._array("next_enums", "std::span<const NextNumber>", enums)
        self.lines += ["}  // namespace Layout", ""]
        parts = ", ".join(
            f".{what} = {array if array == '{}' else f'Layout::{array}'}"
            for what, array in (("headers", shapes), ("instances", instances), ("enums", numbers))
        )
        self.lines.append(f"inline constexpr Protocols protocols{{{parts}}};")
        return "\n".join(self.lines) + "\n"

    def _array(self, name: str, type: str, items: Iterable[str], place: str = "") -> str:
        """Writes the array, with its place in the spec; what a span of it is made from."""
        rows = list(items)
        if not rows:
            return "{}"
        name = self._name(name)
        self.lines.append(f"inline constexpr {type} {name}[] = {{{f'  // {place}' if place else ''}")
        self.lines += [f"    {row}," for row in rows]
        self.lines.append("};")
        return name

    def _name(self, name: str) -> str:
        """`name`, or one like it that nothing has yet."""
        self.taken += unique([name], self.taken)
        return self.taken[-1]

    def _header(self, header: ir.Header) -> str:
        fields = [self._field(f"{header.name}_{f.name}", f) for f in header.fields]
        numbers = [self.fields[header.name, n] for n in range(len(fields))]
        shapes = self._array(f"{header.name}_fields", "FieldShape", fields, self.program.place(header.span))
        pseudo = self._array(f"{header.name}_pseudo", "uint16_t", (numbers[n] for n in header.pseudo))
        checksums = [number for number, f in zip(numbers, header.fields, strict=True) if f.checksum is not None]
        sums = self._array(f"{header.name}_checksums", "uint16_t", checksums)
        following = next((number for number, f in zip(numbers, header.fields, strict=True) if f.next is not None), "-1")
        return (
            f'{{.name = "{header.name}", .fixed = {header.fixed}, .fields = {shapes}, .pseudo = {pseudo}, '
            f".checksums = {sums}, .next = {following}}}"
        )

    def _field(self, name: str, f: ir.Field) -> str:
        parts = [f'.name = "{f.name}", .offset = {f.offset}, .width = {f.width}']
        if f.default:
            parts.append(f".initial = {integer(int(f.default))}")
        if f.length is not None:
            parts.append(f".length = {self._length(self._name(f'length_of_{name}'), f.length)}")
        if f.checksum is not None:
            parts.append(f".checksum = &{self._checksum(self._name(f'cover_of_{name}'), f.checksum)}")
        if f.next is not None:
            parts.append(f".next = Enum::{self.enums[f.next]}")
        return "{" + ", ".join(parts) + "}"

    def _length(self, name: str, e: ir.Expr) -> str:
        """The function of a `length(…)`."""
        read = {node.rest for node in _nodes(e) if isinstance(node, ir.HeaderBytes)}
        header, rest = " header" if False in read else "", " rest" if True in read else ""
        self.lines.append(f"constexpr uint64_t {name}(uint64_t{header}, uint64_t{rest}) {{ return {length_code(e)}; }}")
        return name

    def _checksum(self, name: str, checksum: ir.Checksum) -> str:
        said = [f".{part} = true" for part in ("pseudo", "header", "rest") if part in checksum.parts]
        if checksum.zero_is_none:
            said.append(".zero_is_none = true")
        if checksum.never_zero:
            said.append(".never_zero = true")
        self.lines.append(f"inline constexpr ChecksumShape {name}{{{', '.join(said)}}};")
        return name

    def _instance(self, instance: ir.Instance) -> str:
        quote = "true" if instance.cut is not None else "false"
        return f'{{.name = "{instance.name}", .header = {self.headers[instance.header.name]}, .quote = {quote}}}'

    def _numbers(self, enum: t.Enum) -> list[str]:
        """The members that are named like a header of the program."""
        return [
            f"{{.header = {self.headers[name]}, .number = {integer(number)}}}"
            for name, number in enum.members
            if name in self.headers
        ]


def length_code(e: ir.Expr) -> str:
    """A `length(…)` in C++ over `uint64_t header, rest`: sums, differences, products and left shifts modulo 2^64.

    64 bits hold all of it unless a constant is longer. Where the expression divides by zero, the value has no meaning;
    here it is 0.
    """
    long = any(isinstance(node, ir.Const) and int(node.value) > _WORD for node in _nodes(e))
    code = _length_code(e, "static_cast<uint64_t>" if long else "")
    return f"static_cast<uint64_t>({code})" if long else code


def _length_code(e: ir.Expr, word: str) -> str:
    """`word` before a text in parentheses makes 64 bits of it."""
    match e:
        case ir.HeaderBytes(rest=is_rest):
            return "rest" if is_rest else "header"
        case ir.Const(value=v):
            return integer(int(v))
        case ir.Cast(value=v):
            return _length_code(v, word)
        case ir.Binary(op=op, left=a, right=b):
            constant = int(b.value) if isinstance(b, ir.Const) else None
            return _binary(op, _length_code(a, word), _length_code(b, word), constant, word)
        case _:
            raise AssertionError(f"{type(e).__name__} in a length")


def _binary(op: str, a: str, b: str, constant: int | None, word: str) -> str:
    """`a op b`; `constant` is b's value if that is one."""
    match op:
        case "+" | "-" | "*":
            return f"{word}({a} {op} {b})"
        case "&" | "|" | "^":
            return f"({a} {op} {b})"
        case "/" | "%":
            return f"({a} {op} {b})" if constant else f"({b} == 0 ? 0 : {a} {op} {b})"
        case "<<" | ">>":
            shifted = f"{word if op == '<<' else ''}({a} {op} {b})"
            return f"({b} < 64 ? {shifted} : 0)" if constant is None else shifted if constant < 64 else "0ull"
    raise AssertionError(f"{op} in a length")


def _nodes(e: ir.Expr) -> Iterable[ir.Expr]:
    yield e
    match e:
        case ir.Cast(value=v):
            yield from _nodes(v)
        case ir.Binary(left=a, right=b):
            yield from _nodes(a)
            yield from _nodes(b)
