"""Numbers and places as reports show them: exact where the language could say them, rounded where memory adds up."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fractions import Fraction

from polysome.ir import program as ir
from polysome.syntax.spans import Span

_DURATIONS = (
    ("d", 86400 * 10**9),
    ("h", 3600 * 10**9),
    ("min", 60 * 10**9),
    ("s", 10**9),
    ("ms", 10**6),
    ("us", 10**3),
)
_SIZES = (("GB", 10**9), ("MB", 10**6), ("KB", 10**3))


def exact_duration(ns: int) -> str:
    """As the language writes it, in the largest unit that divides it: `30s`, `1500ms`."""
    if ns == 0:
        return "0s"
    return next((f"{ns // scale}{unit}" for unit, scale in _DURATIONS if ns % scale == 0), f"{ns}ns")


def duration(ns: int) -> str:
    """The same, but rounded up to a tenth of a unit if it would be long: `204.9ms` for 204 800 004 ns."""
    if not exact_duration(ns).endswith("ns"):
        return exact_duration(ns)
    for unit, scale in _DURATIONS[3:]:
        if ns >= 10 * scale:
            tenths = -(-ns * 10 // scale)
            return f"{tenths // 10}.{tenths % 10}{unit}".replace(".0", "")
    return f"{ns}ns"


def size(n: int) -> str:
    """Bytes with three significant digits: `196 MB`."""
    for unit, scale in _SIZES:
        if n >= scale:
            return f"{three_digits(Fraction(n, scale))} {unit}"
    return f"{n} B"


def count(n: int) -> str:
    """A number of things, short where that is exact: `4M`, `64K`, `64 512`."""
    for unit, scale in (("G", 10**9), ("M", 10**6), ("K", 10**3)):
        if n >= scale and n % scale == 0:
            return f"{n // scale}{unit}"
    return f"{n:,}".replace(",", " ")


def three_digits(x: Fraction) -> str:
    """`1.23`, `12.3`, `123`, `1230`; without zeros at the end."""
    places = 2 if x < 10 else 1 if x < 100 else 0
    shown = f"{float(x):.{places}f}"
    return shown.rstrip("0").rstrip(".") if "." in shown else shown


_COMMENT_OR_TEXT = re.compile(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)


def without_comments(text: str, strings: bool = True) -> str:
    """The text with comments, and unless `strings` with texts in quotes, blanked; of the same length."""

    def blank(found: re.Match[str]) -> str:
        return found[0] if strings and found[0].startswith('"') else re.sub(r"[^\n]", " ", found[0])

    return _COMMENT_OR_TEXT.sub(blank, text)


def line(program: ir.Program, span: Span) -> int:
    return program.sources[span.file].position(span.start)[0]


def place(program: ir.Program, span: Span) -> str:
    """`line 19`, or `conntrack.nf:44` if that is not in the NF's own file."""
    return f"line {line(program, span)}" if span.file == program.file else program.place(span)


def lines_text(program: ir.Program, spans: Iterable[Span], most: int = 4) -> str:
    """`line 3`; `lines 3, 7`; `line 3, conntrack.nf:44`: where spans begin, each line once, at most so many."""
    places = list(dict.fromkeys(place(program, span) for span in spans))
    own = [p for p in places if p.startswith("line ")]
    shown = (sorted(own, key=lambda p: int(p.removeprefix("line "))) + [p for p in places if p not in own])[:most]
    numbers = [p.removeprefix("line ") for p in shown if p.startswith("line ")]
    said = [f"line{'s' if len(numbers) > 1 else ''} {', '.join(numbers)}"] if numbers else []
    more = len(places) - len(shown)
    return ", ".join([*said, *(p for p in shown if p not in own), *([f"{more} more"] if more else [])])
