"""What the NF's C++ says of fields frames, read from its text: where it loads each member of a class's fields from, and
where it writes each edit to. What is not understood is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from polysome import smt
from polysome.prove.cpp.expressions import NotRead, evaluate


@dataclass(frozen=True)
class Class:
    """How the NF takes a class: bytes that a frame of it must have, the code for it, the headers that are there."""

    least: int
    shape: int
    valid: int


@dataclass(frozen=True)
class Write:
    """`size` bytes at `offset` of the edits: what was written to a field, else what it had, if `kept`, or 0."""

    name: str
    kept: bool
    offset: int
    size: int


@dataclass(frozen=True)
class Struct:
    """The fields of some classes. `members`: how each is read ("": it is 0). `has`: by header, whether it is there."""

    name: str
    members: Mapping[str, str]
    has: Mapping[int, str]
    otherwise: str

    def holds(self, instance: int, valid: int) -> bool:
        """Does it say that a header is there?"""
        known = {"valid": valid, "instance": instance}
        found = evaluate(self.has.get(instance, self.otherwise), (), known, lambda _: False)
        return bool(smt.simplify(found != 0))


_CLASS = re.compile(r"\{(?:(\d+), (\d+), (?:\(u128\{(\w+)\} << 64 \| (\w+)\)|uint64_t\{(\w+)\}))?\}, ")
_TAKEN = (
    "uint16_t port, Packet& p) const { if (number >= std::size(frame_classes)) return false; "
    "const FrameClass& found = frame_classes[number]; "
    "if (found.shape == 0 || bytes.size() < found.size) return false; p.shape = found.shape; "
    "p.headers.of_fields(bytes.data(), length, port, found.valid); return true; }"
)
_MEMBER = re.compile(r"(?:static constexpr (\w+) (\w+)\{\}|(\w+) (\w+)); ")
_USED = re.compile(r"(?:case (\d+)|default): return use\((\w+)\(p\.headers\)\); ")
_COMMON = re.compile(r"case (\d+): return use\((\w+)\(p\.headers\)\); ")
_COPY = re.compile(r"to\.(\w+) = f\.\1; ")
_NAMED = re.compile(r"(\w+)\(")
_ALWAYS = re.compile(r"static constexpr bool has\(size_t instance\) \{ return ([^;]*); \} ")
_HAS = re.compile(r"bool has\(size_t instance\) const \{ switch \(instance\) \{ (.*)default: return ([^;]*); \} \} ")
_IS = re.compile(r"case (\d+): return ([^;]*); ")
_STEP = re.compile(r"Writer\(bytes \+ (\d+)\)\.put\(([^;]*), (\d+)\); |if \(f\.has\((\d+)\)\) \{ |return (\d+); |\} ")
_CHOICE = re.compile(r"f\.has\((\d+)\) \? \(([^()]*)\) : (.*)")
_VALUE = re.compile(r"e\.has_(\w+) \? e\.\1 : (?:(f\.\1)|0)")


class Frames:
    """The functions of one text. All raise NotRead."""

    def __init__(self, text: str) -> None:
        self.text = re.sub(r"\s+", " ", re.sub(r"//[^\n]*", "", text)).replace("( ", "(")

    def _between(self, begin: str, end: str) -> str:
        """What stands between two texts, the first of which stands there once."""
        parts = self.text.split(begin)
        if len(parts) != 2 or end not in parts[1]:
            raise NotRead(f"it does not have `{begin}` once, and `{end}` behind it")
        return parts[1].split(end)[0]

    def _body(self, begin: str) -> str:
        """The statements of the function that begins so."""
        parts = self.text.split(begin)
        if len(parts) != 2:
            raise NotRead(f"it does not have `{begin}` once")
        depth = 1
        for end, letter in enumerate(parts[1]):
            depth += {"{": 1, "}": -1}.get(letter, 0)
            if depth == 0:
                return parts[1][:end]
        raise NotRead(f"nothing ends what begins with `{begin}`")

    @cached_property
    def classes(self) -> Mapping[int, Class]:
        if self.text.count(_TAKEN) != 1:
            raise NotRead("it takes classes in another way")
        rows = _all(_CLASS, self._between("static constexpr FrameClass frame_classes[] = { ", "}; "))
        return {
            number: Class(int(row[1]), int(row[2]), int(row[3] or "0", 0) << 64 | int(row[4] or row[5], 0))
            for number, row in enumerate(rows)
            if row[1] is not None and row[2] != "0"
        }

    @cached_property
    def names(self) -> Mapping[int | None, str]:
        """Of each shape its struct; None: of all others."""
        begin = "static auto with_frame_fields(const P& p, Use use) -> decltype(use(p.fields)) { switch (p.shape) { "
        used = _all(_USED, self._between(begin, "} } "))
        return {int(case[1]) if case[1] else None: case[2] for case in used}

    @cached_property
    def common(self) -> Mapping[int, str]:
        """The structs of those shapes that have code of their own."""
        begin = "[[maybe_unused]] Use use, Rare rare) { switch (p.shape) { "
        return {int(case[1]): case[2] for case in _all(_COMMON, self._between(begin, "default: return rare(); } }"))}

    @cached_property
    def copied(self) -> set[str]:
        """The members that all other structs are copied by to what is handled in their place."""
        begin = "static void copy_fields(const F& f, Fields& to) { "
        return {copy[1] for copy in _all(_COPY, self._between(begin, "} "))}

    def struct(self, shape: int) -> Struct:
        name = self.names.get(shape) or self.names.get(None)
        if name not in self._structs:
            self._structs[name] = self._struct(str(name))
        struct = self._structs[name]
        if self.common.get(shape, name) != name:
            raise NotRead(f"shape {shape} is read in two ways")
        if shape not in self.common and not {"valid", *struct.members} <= self.copied:
            raise NotRead(f"not all of `{name}` is copied to what is handled in its place")
        return struct

    @cached_property
    def _structs(self) -> dict[str | None, Struct]:
        return {}

    def _struct(self, name: str) -> Struct:
        text = self._between(f"struct {name} {{ typename Headers::Mask valid; ", "} }; ") + "} "
        declared, _, behind = text.partition(f"explicit {name}(const Headers& h) : ")
        members = {member[2] or member[4]: "" for member in _all(_MEMBER, declared)}
        loads, behind = _initialised(behind)
        if loads.pop("valid", "") != "h.valid" or not loads.keys() <= members.keys():
            raise NotRead(f"`{name}` takes its headers from elsewhere, or has no such members as it reads")
        if always := _ALWAYS.fullmatch(behind):
            return Struct(name, members | loads, {}, always[1])
        if has := _HAS.fullmatch(behind):
            return Struct(name, members | loads, {int(one[1]): one[2] for one in _all(_IS, has[1])}, has[2])
        raise NotRead(f"`{name}` says in another way which headers are there")

    def writes(self, shape: int, valid: int) -> tuple[list[Write], int]:
        """What is written for a class, and of how many bytes that is said to be."""
        struct = self.struct(shape)
        begin = f"static size_t write_edits([[maybe_unused]] const {struct.name}& f, "
        begin += "[[maybe_unused]] const Edits& e, [[maybe_unused]] uint8_t* bytes) { "
        found: list[Write] = []
        skipped = False
        for step in _all(_STEP, self._body(begin)):
            offset, value, size, instance, end = step.groups()
            if instance:
                skipped = not struct.holds(int(instance), valid)
            elif not value and not end:  # a closing brace
                skipped = False
            elif skipped:
                continue
            elif end:
                return found, int(end)
            else:
                name, kept = _written(value, struct, valid)
                found.append(Write(name, kept, int(offset), int(size)))
        raise NotRead(f"`write_edits` does not end for shape {shape}")


def _written(value: str, struct: Struct, valid: int) -> tuple[str, bool]:
    """The field that a class's packets have written there, and whether it keeps what it had."""
    while choice := _CHOICE.fullmatch(value):
        value = choice[2] if struct.holds(int(choice[1]), valid) else choice[3]
    written = _VALUE.fullmatch(value)
    if written is None:
        raise NotRead(f"it has `{value}`")
    return written[1], bool(written[2])


def _all(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """Matches one after the other, up to the text's end."""
    at = 0
    while at < len(text):
        match = pattern.match(text, at)
        if match is None:
            raise NotRead(f"it has `{text[at : at + 60]}`")
        yield match
        at = match.end()


def _initialised(text: str) -> tuple[dict[str, str], str]:
    """The members that a constructor reads, each with its expression, and what stands behind it."""
    found: dict[str, str] = {}
    at = 0
    while True:
        member = _NAMED.match(text, at)
        if member is None:
            raise NotRead(f"it has `{text[at : at + 60]}`")
        end, depth = member.end(), 1
        while depth and end < len(text):
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        found[member[1]] = text[member.end() : end - 1]
        if text.startswith(" {} ", end):
            return found, text[end + 4 :]
        if not text.startswith(", ", end):
            raise NotRead(f"it has `{text[end : end + 60]}`")
        at = end + 2
