"""Bytes to text."""

from __future__ import annotations

from polysome.syntax.diagnostics import Report
from polysome.syntax.spans import Source, Span


def decoded(name: str, data: bytes, report: Report) -> str | None:
    """What is in the file `name`, with `\\n` however its lines end and without a byte order mark; None if not UTF-8."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8", errors="replace")
        report.sources[name] = Source(name, data.decode("utf-8", errors="replace"))
        report.add(
            "E0110",
            "this file is no text in UTF-8",
            Span(name, len(before), len(before) + 1),
            label=f"the byte {data[error.start]:#04x}",
            why="A spec is text; this byte belongs to another encoding, or the file is no spec.",
            mend="Save it as UTF-8, or name the spec.",
        )
        return None
    return text.replace("\r\n", "\n").replace("\r", "\n")
