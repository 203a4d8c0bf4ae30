"""What may be used at a place: the packet, state, config, time; and whether state may be written."""

from __future__ import annotations

from polysome.semantics.context import Context
from polysome.syntax.spans import Span


def may(x: Context, what: str, span: Span, name: str) -> bool:
    """Is this kind of thing usable here? E0316 if not."""
    if what in x.allowed:
        return True
    reasons = {
        "packet": (
            "there is no packet here",
            "Only packet handlers see a packet; timers, `on end` and pure functions do not.",
        ),
        "state": (
            "state cannot be used here",
            "Pure functions, constants and parsers depend on nothing but their arguments.",
        ),
        "config": ("config cannot be used here", "This must be known when the NF is compiled."),
        "now": (
            "time cannot be used here",
            "Pure functions, constants and parsers depend on nothing but their arguments.",
        ),
    }
    message, why = reasons[what]
    x.report.add(
        "E0316", f"`{name}`: {message}", span, why=why, mend="Pass what you need as an argument, or move the code."
    )
    return False


def may_use_state(x: Context, span: Span, name: str) -> bool:
    """May state of that name be used here? E0316 if not."""
    return may(x, "state", span, name)


def may_write(x: Context, span: Span, what: str) -> bool:
    """E0505 where state may only be read."""
    if "write" in x.allowed:
        return True
    x.report.add(
        "E0505",
        f"`{what}` changes state, which cannot happen here",
        span,
        why="Only handlers and actions change state.",
        mend="Move it into a handler.",
    )
    return False
