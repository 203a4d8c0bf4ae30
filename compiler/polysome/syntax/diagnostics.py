"""Diagnostics: what is wrong, where, why, and how to mend it.

Every code is described once, in `explain/`; `polysome explain CODE` prints that page.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher

from polysome.syntax.spans import Source, Span


@dataclass(frozen=True)
class Diagnostic:
    """One error or warning. `also` points at other places ("declared here"); `why` and `mend` are whole sentences."""

    code: str
    message: str
    span: Span | None
    label: str = ""
    also: tuple[tuple[Span, str], ...] = ()
    why: str = ""
    mend: str = ""

    @property
    def warning(self) -> bool:
        return self.code.startswith("W")


class SpecError(Exception):
    """The input is at fault; carries every diagnostic found and the sources they point into."""

    def __init__(self, diagnostics: Iterable[Diagnostic], sources: Mapping[str, Source]) -> None:
        self.diagnostics = tuple(diagnostics)
        self.sources = dict(sources)
        super().__init__("; ".join(f"{d.code} {d.message}" for d in self.diagnostics))


class Report:
    """Collects diagnostics during a run of the front end: one for each cause, in source order at the end."""

    def __init__(self, sources: dict[str, Source] | None = None) -> None:
        self.sources: dict[str, Source] = sources if sources is not None else {}
        self._found: dict[tuple[str, Span | None], Diagnostic] = {}

    def add(
        self,
        code: str,
        message: str,
        span: Span | None,
        *,
        label: str = "",
        also: Iterable[tuple[Span, str]] = (),
        why: str = "",
        mend: str = "",
    ) -> None:
        """Record a diagnostic, unless the same code was already reported for the same span."""
        self._found.setdefault((code, span), Diagnostic(code, message, span, label, tuple(also), why, mend))

    @property
    def count(self) -> int:
        """How many diagnostics there are."""
        return len(self._found)

    @property
    def diagnostics(self) -> list[Diagnostic]:
        order = list(self.sources)
        return sorted(
            self._found.values(),
            key=lambda d: (
                order.index(d.span.file) if d.span and d.span.file in order else -1,
                d.span.start if d.span else 0,
            ),
        )

    @property
    def errors(self) -> list[Diagnostic]:
        return [d for d in self.diagnostics if not d.warning]

    @property
    def warnings(self) -> list[Diagnostic]:
        return [d for d in self.diagnostics if d.warning]

    def stop_on_errors(self) -> None:
        """Raise SpecError if there is an error so far."""
        if self.errors:
            raise SpecError(self.errors, self.sources)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A hint that names the closest known word, or lists a few; empty if there is none."""
    names = sorted(set(known) - {word})
    best = max(names, key=lambda n: _likeness(word, n), default="")
    if best and _likeness(word, best) >= _ALIKE:
        return f"Did you mean `{best}`?"
    if 0 < len(names) <= 12:
        return f"Known here: {listed(names)}."
    return ""


def one_of(word: str, known: Iterable[str]) -> str:
    """The known word that was most likely meant, or else all that there are: never empty."""
    names = sorted(set(known) - {word})
    return did_you_mean(word, names) or (
        f"There are: {listed(names)}." if names else "There are none yet: declare one."
    )


def listed(names: Iterable[str]) -> str:
    """Names in quotes, with commas; if they are many, the first of them."""
    shown: list[str] = []
    rest, length = list(names), 0
    while rest and (not shown or length + len(rest[0]) < _LONGEST_LIST):
        length += len(rest[0]) + 4
        shown.append(f"`{rest.pop(0)}`")
    return ", ".join(shown) + (f" and {len(rest)} more" if rest else "")


_LONGEST_LIST = 150  # characters


_ALIKE = 0.6


def _likeness(word: str, name: str) -> float:
    """How much a name looks like the word, upper and lower case aside; of equals, the one that begins like it."""
    a, b = word.lower(), name.lower()
    first = 0.05 if a[:1] == b[:1] else 0.0
    return SequenceMatcher(None, a, b, autojunk=False).ratio() + first


def render(diagnostic: Diagnostic, sources: Mapping[str, Source], color: bool = False) -> str:
    """The diagnostic as text: headline, snippet with carets, second places, reason, mend."""
    kind = "warning" if diagnostic.warning else "error"
    paint = _PAINT[kind] if color else ""
    bold, blue, reset = ("\x1b[1m", "\x1b[34m", "\x1b[0m") if color else ("", "", "")
    lines = [f"{bold}{paint}{kind}[{diagnostic.code}]{reset}{bold}: {_clipped(diagnostic.message)}{reset}"]
    if diagnostic.span is not None:
        lines += _snippet(diagnostic.span, diagnostic.label, sources, paint, blue, reset, "^")
    for span, label in diagnostic.also:
        lines += _snippet(span, label, sources, blue, blue, reset, "-")
    if diagnostic.why:
        lines.append(f"  {blue}why:{reset} {_clipped(diagnostic.why)}")
    if diagnostic.mend:
        lines.append(f"  {blue}mend:{reset} {_clipped(diagnostic.mend)}")
    return "\n".join(lines)


_PAINT = {"error": "\x1b[31m", "warning": "\x1b[33m"}


def _snippet(
    span: Span, label: str, sources: Mapping[str, Source], paint: str, blue: str, reset: str, mark: str
) -> list[str]:
    source = sources.get(span.file)
    if source is None:
        return [f"  {blue}-->{reset} {span.file}", *([f"      {_clipped(label)}"] if label else [])]
    line, column = source.position(span.start)
    text, at = _excerpt(source.line(line), column - 1)
    length = max(1, min(span.end - span.start, len(text) - at))
    gutter = " " * len(str(line))
    under = " " * len(text[:at].expandtabs(4)) + mark * length
    return [
        f" {gutter}{blue}-->{reset} {span.file}:{line}:{column}",
        f" {gutter} {blue}|{reset}",
        f" {blue}{line} |{reset} {text.expandtabs(4)}",
        f" {gutter} {blue}|{reset} {paint}{under}{' ' + _clipped(label) if label else ''}{reset}",
    ]


_WIDEST = 160  # characters of a line that are shown
_BEFORE = 40  # of them before the place that a message is about


def _excerpt(line: str, at: int) -> tuple[str, int]:
    """Of a long line what stands around character `at`, and where that is then."""
    if len(line) <= _WIDEST:
        return line, at
    first = max(0, at - _BEFORE)
    before = "…" if first > 0 else ""
    after = "…" if first + _WIDEST < len(line) else ""
    return before + line[first : first + _WIDEST] + after, at - first + len(before)


def _clipped(sentence: str) -> str:
    """With the middle of what it quotes left out where that is long: names and texts may have any length."""
    return _LONG_QUOTE.sub("`\\1…\\2`", sentence)


_LONG_QUOTE = re.compile(r"`([^`]{60})[^`]{40,}([^`]{20})`")
