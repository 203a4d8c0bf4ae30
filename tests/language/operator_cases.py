"""Every operator and cast over every width: how it is written, and what it is by the manual (L3.4, L3.6, L3.14, L3.15).

The NF that is made of them writes `r` of a header, which `a` and `b` of it decide; `w` and `op` say which case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

WIDTHS = (1, 2, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 48, 63, 64, 65, 100, 127, 128)
TARGETS = (1, 3, 8, 16, 24, 32, 40, 64, 96, 128)  # of casts
ETHER_TYPE = 0x1234
Meaning = Callable[[int, int], int | None]  # of two numbers below 2^width; None: the handler ends


@dataclass(frozen=True)
class Case:
    """`text` of `a` and `b`, both of `width` bits; `result`: bits of what comes out, 0 for a truth."""

    width: int
    text: str
    result: int
    means: Meaning


def cases(w: int) -> Iterator[Case]:
    """Those of one width, from the manual alone."""
    size, full = 1 << w, (1 << w) - 1
    arithmetic: dict[str, Meaning] = {
        "a + b": lambda a, b: (a + b) % size,
        "a - b": lambda a, b: (a - b) % size,
        "a * b": lambda a, b: a * b % size,
        "a / b": lambda a, b: a // b if b else None,
        "a % b": lambda a, b: a % b if b else None,
        "a & b": lambda a, b: a & b,
        "a | b": lambda a, b: a | b,
        "a ^ b": lambda a, b: a ^ b,
        "a << b": lambda a, b: a * 2**b % size if b < w else 0,
        "a >> b": lambda a, b: a // 2**b if b < w else 0,
        "~a": lambda a, b: full - a,
        "min(a, b)": lambda a, b: a if a < b else b,
        "max(a, b)": lambda a, b: b if a < b else a,
        "(a - b + b * a) ^ ~b": lambda a, b: ((a - b + b * a) % size) ^ (full - b),
    }
    for text, means in arithmetic.items():
        yield Case(w, text, w, means)
    truths: dict[str, Callable[[int, int], bool]] = {
        "a == b": lambda a, b: a == b,
        "a != b": lambda a, b: a != b,
        "a < b": lambda a, b: a < b,
        "a <= b": lambda a, b: a <= b,
        "a > b": lambda a, b: a > b,
        "a >= b": lambda a, b: a >= b,
    }
    for text, true in truths.items():
        yield Case(w, text, 0, lambda a, b, true=true: int(true(a, b)))  # type: ignore[misc]
    for low, high in sorted({(0, w - 1), (w - 1, w - 1), (w // 2, w - 1), (0, w // 2)}):
        yield Case(w, f"a[{high}:{low}]", high - low + 1, lambda a, b, h=high, o=low: a // 2**o % 2 ** (h - o + 1))  # type: ignore[misc]
    for to in TARGETS:
        yield Case(w, f"(a as bit<{to}>)", to, lambda a, b, to=to: a % 2**to)  # type: ignore[misc]
    if 2 * w <= 128:
        yield Case(w, "a ++ b", 2 * w, lambda a, b: a * size + b)


@cache
def every() -> tuple[tuple[Case, ...], ...]:
    """By place of the width, then of the case."""
    return tuple(tuple(cases(w)) for w in WIDTHS)


def boundaries(w: int) -> list[int]:
    """The numbers at which an operator of w bits begins or ends to do something."""
    top, half = 1 << w, 1 << w - 1
    near = {0, 1, 2, w - 1, w, w + 1, half - 1, half, top - 2, top - 1}
    return sorted(n for n in near if 0 <= n < top)


def pairs(case: Case) -> list[tuple[int, int]]:
    """All of them with each other; for what has one operand, those where types end too."""
    numbers = boundaries(case.width)
    if "b" in case.text.replace("bit", ""):
        return [(a, b) for a in numbers for b in numbers]
    ends = {2**to + by for to in TARGETS for by in (-1, 0, 1)}
    return [(a, 0) for a in sorted({*numbers, *(n for n in ends if n < 1 << case.width)})]


def spec_text() -> str:
    """The NF."""
    lines = [
        "use net.ethernet;",
        "header probe { w: u8; op: u8; a: bit<128>; b: bit<128>; r: bit<128>; }",
        "parser numbers {",
        f"  state start {{ extract ethernet; select ethernet.ether_type {{ {ETHER_TYPE} => more; }} }}",
        "  state more { extract probe; }",
        "}",
        "nf operators {",
        "  port left, right;",
        '  relevant probe.w, probe.op, probe.a, probe.b else drop "no probe";',
        "  on packet {",
    ]
    for place, of_width in enumerate(every()):
        w = of_width[0].width
        lines.append(f"    if probe.w == {place} {{")
        lines.append(f"      let a = probe.a as bit<{w}>; let b = probe.b as bit<{w}>;")
        for op, case in enumerate(of_width):
            cast = "" if case.result == 128 else " as bit<128>"
            lines.append(f"      if probe.op == {op} {{ probe.r = ({case.text}){cast}; }}")
        lines.append("    }")
    return "\n".join([*lines, "    send right;", "  }", "}", ""])


def frame(place: int, op: int, a: int, b: int) -> bytes:
    """What asks for one result."""
    head = bytes.fromhex("020000000002020000000001") + ETHER_TYPE.to_bytes(2, "big")
    return head + bytes((place, op)) + a.to_bytes(16, "big") + b.to_bytes(16, "big") + bytes(16)


def result(data: bytes) -> int:
    return int.from_bytes(data[48:64], "big")
