"""Headers in packets: fields loaded and stored in groups that begin and end at bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from polysome.p4.translate.names import member, storage
from polysome.p4.types import Type, width

Fields = tuple[tuple[str, Type], ...]
Where = Callable[[str], str]  # how a field is written, by its member's name


def groups(fields: Fields) -> Iterator[tuple[int, Fields]]:
    """Offset in bytes and fields of each group: as few as end at a byte's boundary."""
    start, at = 0, 0
    group: list[tuple[str, Type]] = []
    for name, kind in fields:
        group.append((name, kind))
        at += width(kind)
        if at % 8 == 0:
            yield start // 8, tuple(group)
            start, group = at, []


def load_fields(fields: Fields, where: Where, pointer: str) -> Iterator[str]:
    for offset, group in groups(fields):
        bits = sum(width(t) for _, t in group)
        at = f"{pointer} + {offset}" if offset else pointer
        if len(group) == 1:
            target = where(member(group[0][0]))
            yield (
                f"std::memcpy({target}.at, {at}, {bits // 8});"
                if bits > 128
                else f"{target} = load<{bits // 8}>({at});"
            )
            continue
        yield "{"
        yield f"    const {storage(bits)} g = load<{bits // 8}>({at});"
        left = bits
        for name, kind in group:
            left -= width(kind)
            shifted = f"g >> {left}" if left else "g"
            yield f"    {where(member(name))} = cut<{width(kind)}>({shifted});"
        yield "}"


def store_fields(fields: Fields, where: Where, pointer: str) -> Iterator[str]:
    for offset, group in groups(fields):
        bits = sum(width(t) for _, t in group)
        at = f"{pointer} + {offset}" if offset else pointer
        if len(group) == 1:
            source = where(member(group[0][0]))
            if bits > 128:
                yield f"std::memcpy({at}, {source}.at, {bits // 8});"
            else:
                yield f"store<{bits // 8}>({at}, {source});"
            continue
        parts, left = [], bits
        kind_of_all = storage(bits)
        for name, kind in group:
            left -= width(kind)
            part = f"static_cast<{kind_of_all}>({where(member(name))})"
            parts.append(f"{part} << {left}" if left else part)
        yield f"store<{bits // 8}>({at}, static_cast<{kind_of_all}>({' | '.join(parts)}));"
