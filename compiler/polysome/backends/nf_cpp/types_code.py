"""Types of the language as C++ types, and the functions that every value type has.

A structure gets `read` (from the config blob), `canonical` (LANGUAGE.md L3.12); a type that is a key gets `pack` and
`unpack`: its members side by side in 64-bit words, none across a border unless it has more than 64 bits.
"""

from __future__ import annotations

from dataclasses import dataclass

from polysome.backends.nf_cpp.names import identifier
from polysome.ir import types as t

SIZES = (8, 16, 32, 64)


class Unsupported(Exception):
    """The program has something for which there is no C++ yet; the text says what, and where."""


def integer(width: int) -> str:
    """The least unsigned integer with at least `width` bits."""
    return next((f"uint{size}_t" for size in SIZES if width <= size), "u128")


def cpp(type: t.Type) -> str:
    """The C++ type of a value."""
    match type:
        case t.Bool():
            return "bool"
        case t.Port():
            return "uint16_t"
        case t.Literal():
            return "uint64_t"
        case t.Prefix():
            return "Prefix"
        case t.Struct(name, _):
            return identifier(name)
        case t.Tuple(items):
            return f"std::tuple<{', '.join(map(cpp, items))}>" if items else "None"
        case t.Entry(key, value):
            return f"std::tuple<{cpp(key)}, {cpp(value)}>"
        case t.Ref():
            return "Row"
        case t.Bucket():
            return "Bucket"
        case t.ListOf(item):
            return f"std::vector<{cpp(item)}>"
        case t.SetOf(t.Port()):
            return "uint64_t"
        case t.SetOf(item):
            return f"std::vector<{cpp(item)}>"
        case t.ByteString():
            return "std::span<const uint8_t>"
        case t.FromPool(pool, item):
            return f"Taken<{cpp(item)}, {identifier(pool)}_partition>"
    bits = t.width(type)
    if bits is None:
        raise Unsupported(f"a value of type {type}")
    return integer(bits)


def members(type: t.Type, text: str) -> list[tuple[str, t.Type]]:
    """The members of a structure, tuple, entry or owned value as C++ expressions over `text`."""
    match type:
        case t.Struct(_, fields):
            return [(f"{text}.{identifier(name)}", member) for name, member in fields]
        case t.Tuple(items):
            return [(f"std::get<{i}>({text})", item) for i, item in enumerate(items)]
        case _:
            raise AssertionError(type)


def structures(types: list[t.Type]) -> list[t.Struct]:
    """Every structure in the types, each after those that it is made of."""
    found: dict[t.Struct, None] = {}

    def add(type: t.Type) -> None:
        match type:
            case t.Struct(_, fields):
                for _, member in fields:
                    add(member)
                found.setdefault(type)
            case t.Tuple(items):
                for item in items:
                    add(item)
            case t.ListOf(item) | t.SetOf(item) | t.FromPool(_, item):
                add(item)
            case t.Ref(_, row):
                add(row)
            case t.Entry(key, value):
                add(key)
                add(value)
            case t.Table(_, key, value):
                add(key)
                add(value)

    for type in types:
        add(type)
    return list(found)


# ---------------------------------------------------------------- keys as words


@dataclass(frozen=True)
class Place:
    """A scalar of a key: the C++ expression, its type, where its low bit is (word, bit); over 64 bits: two words."""

    text: str
    type: t.Type
    word: int
    bit: int


def scalars(type: t.Type, text: str) -> list[tuple[str, t.Type]]:
    """The scalars of a value, in order, as C++ expressions."""
    match type:
        case t.Struct() | t.Tuple():
            return [s for member, item in members(type, text) for s in scalars(item, member)]
        case t.FromPool(_, item):
            return scalars(item, f"{text}.value")
        case _:
            return [(text, type)]


def bits_of(type: t.Type) -> int:
    """Bits of a scalar in a key: those of its C++ type, so that equal C++ types are packed alike."""
    if isinstance(type, t.Ref):
        return 32
    bits = t.width(type)
    if bits is None:
        raise Unsupported(f"a key with a {type}")
    return next((size for size in SIZES if bits <= size), 128)


def places(type: t.Type, text: str) -> tuple[list[Place], int]:
    """Where each scalar of a key stands, and how many words the key has (at least 1). First fit."""
    free: list[int] = []  # bits used in each word
    found = []
    for expression, scalar in scalars(type, text):
        bits = bits_of(scalar)
        if bits > 64:
            found.append(Place(expression, scalar, len(free), 0))
            free += [64, 64]
            continue
        word = next((i for i, used in enumerate(free) if used + bits <= 64), None)
        if word is None:
            word = len(free)
            free.append(0)
        found.append(Place(expression, scalar, word, free[word]))
        free[word] += bits
    return found, max(1, len(free))


def words(type: t.Type) -> int:
    """64-bit words of a key."""
    return places(type, "")[1]


@dataclass(frozen=True)
class KeyPart:
    """A word of a key, or the two of an address, in the near words of its compact form (runtime/nf/flow_map/key.hpp):
    the low bit is (word, bit) there. `zero`: the bit of the second near word that says that the address is 0."""

    source: int
    word: int
    bit: int
    bits: int
    zero: int = 0


ADDRESS_BITS = 32  # that an IPv6 address has in a compact key
LONG_BIT = 62  # of the second near word; that above it says that there is a key


def key_parts(type: t.Type) -> tuple[KeyPart, ...]:
    """How a key with IPv6 addresses is compact; empty if it has none, or has two words anyway, or does not fit."""
    found, count = places(type, "")
    addresses = [p.word for p in found if bits_of(p.type) > 64]
    used: dict[int, int] = {}
    for place in found:
        if bits_of(place.type) <= 64:
            used[place.word] = max(used.get(place.word, 0), place.bit + bits_of(place.type))
    if count <= 2 or not addresses:
        return ()
    zeros = {word: LONG_BIT - 1 - i for i, word in enumerate(addresses)}
    free, filled, parts = [64, LONG_BIT - len(addresses)], [0, 0], []
    for word, bits in sorted({**used, **dict.fromkeys(addresses, ADDRESS_BITS)}.items(), key=lambda item: -item[1]):
        near = next((n for n in (1, 0) if filled[n] + bits <= free[n]), None)
        if near is None:
            return ()
        parts.append(KeyPart(word, near, filled[near], bits, zeros.get(word, 0)))
        filled[near] += bits
    return tuple(sorted(parts, key=lambda part: part.source))


def key_cpp(type: t.Type) -> str:
    """The C++ type of a key of a map or an index."""
    parts = key_parts(type)
    if not parts:
        found, count = places(type, "")
        last = (place for place in found if place.word + (bits_of(place.type) > 64) == count - 1)
        narrow = all(place.bit + bits_of(place.type) < 64 for place in last)
        return f"NarrowKey<{count}>" if narrow else f"std::array<uint64_t, {count}>"
    listed = (f"KeyPart{{{p.source}, {p.word}, {p.bit}, {p.bits}{f', {p.zero}' if p.zero else ''}}}" for p in parts)
    return f"CompactKey<{words(type)}, {', '.join(listed)}>"


def packed(type: t.Type, text: str) -> str:
    """The C++ array of a key's words."""
    found, count = places(type, text)
    parts: list[list[str]] = [[] for _ in range(count)]
    for place in found:
        plain = f"{place.text}.id" if isinstance(place.type, t.Ref) else place.text
        if bits_of(place.type) > 64:
            parts[place.word].append(f"static_cast<uint64_t>({plain} >> 64)")
            parts[place.word + 1].append(f"static_cast<uint64_t>({plain})")
            continue
        part = f"uint64_t{{{plain}}}"
        parts[place.word].append(f"{part} << {place.bit}" if place.bit else part)
    return f"std::array<uint64_t, {count}>{{{', '.join(' | '.join(p) or '0' for p in parts)}}}"


def unpacking(type: t.Type, source: str, target: str) -> list[str]:
    """Statements that set `target`, of the type, from the words `source`."""
    lines = []
    for place in places(type, target)[0]:
        bits = bits_of(place.type)
        if bits > 64:
            value = f"u128{{{source}[{place.word}]}} << 64 | {source}[{place.word + 1}]"
        else:
            value = f"{source}[{place.word}]" + (f" >> {place.bit}" if place.bit else "")
            if place.bit + bits < 64:
                value = f"({value}) & {hex((1 << bits) - 1)}"
            if isinstance(place.type, t.Bool):
                value = f"({value}) != 0"
            elif not isinstance(place.type, t.Ref):
                value = f"static_cast<{cpp(place.type)}>({value})"
        if isinstance(place.type, t.Ref):
            value = f"Row{{static_cast<uint32_t>({value})}}"
        lines.append(f"{place.text} = {value};")
    return lines


# ---------------------------------------------------------------- canonical bytes


def canonical_size(type: t.Type) -> int:
    """Bytes of a value's canonical form at most (L3.12)."""
    match type:
        case t.Struct(_, fields):
            return sum(canonical_size(member) for _, member in fields)
        case t.Tuple(items):
            return sum(map(canonical_size, items))
        case t.Ref(_, row):
            return canonical_size(row)
        case t.FromPool(_, item):
            return canonical_size(item)
        case t.Prefix():
            return 17
    bits = t.width(type)
    if bits is None:
        raise Unsupported(f"canonical bytes of a {type}")
    return (bits + 7) // 8


def canonical(type: t.Type, text: str, writer: str) -> list[str]:
    """Statements that append the canonical bytes of `text` to a Writer; rows by `config.TABLE.value`."""
    match type:
        case t.Struct() | t.Tuple():
            return [s for member, item in members(type, text) for s in canonical(item, member, writer)]
        case t.Ref(table, row):
            return canonical(row, f"config.{identifier(table)}.value({text})", writer)
        case t.FromPool(_, item):
            return canonical(item, f"{text}.value", writer)
        case t.Prefix():
            return [f"canonical({writer}, {text});"]
        case _:
            return [f"{writer}.put({text}, {canonical_size(type)});"]


# ---------------------------------------------------------------- constants


def number(value: int, type: str, bare: bool = False) -> str:
    """An integer constant of the C++ type; `bare`: where a plain number will do."""
    if value >= 1 << 64:
        return f"(u128{{{hex(value >> 64)}}} << 64 | {hex(value & (1 << 64) - 1)})"
    text = str(value) if value < 1 << 16 else hex(value)
    if bare and value < 1 << 31:
        return text
    return f"{type}{{{text}}}"
