"""How the functions of properties are written, and what each says (LANGUAGE.md L12.8 to L12.13)."""

from __future__ import annotations

# By name: the ways to write it, as they stand between the first and the last backquote of a sentence.
USAGE: dict[str, tuple[str, str]] = {
    "count": ("count(r in trace where C)", "It counts the elements for which C holds."),
    "sum": ("sum(r in trace where C: e)", "It adds up e over the elements for which C holds."),
    "min": ("min(a, b)` or `min(r in trace where C: e)", "It is the least of two values, or of e over a domain."),
    "max": ("max(a, b)` or `max(r in trace where C: e)", "It is the largest of two values, or of e over a domain."),
    "distinct": ("distinct(r in trace where C: e)", "It counts the different values of e where C holds."),
    "bytes": (
        "bytes(f, a..b)` or `bytes(class: c, a..b)",
        "It adds up what left of a flow or class from a to before b.",
    ),
    "packets": (
        "packets(f, a..b)` or `packets(class: c, a..b)",
        "It counts what left of a flow or class from a to before b.",
    ),
    "within": ("within(t, a..b)", "It is true from a to before b."),
    "no_gap": ("no_gap(f, d)` or `no_gap(f, d, a..b)", "It is true if flow f never paused for d or longer."),
    "evicted": (
        "evicted(k)`, `evicted(m[k])`, `evicted(m[k], a..b)` or `evicted(a..b)",
        "It is true if an entry with key k, or any, was evicted.",
    ),
    "ended": (
        "ended(k)`, `ended(m[k], End.idle)`, `ended(m[k], End.idle, a..b)` or `ended(a..b)",
        "It is true if an entry with key k, or any, ended so.",
    ),
    "full": ("full()` or `full(a..b)", "It is true if a new entry found no room."),
    "checksums_valid": (
        "checksums_valid(p)`, `checksums_valid(p.in)` or `checksums_valid(p.out)",
        "It looks at one packet.",
    ),
    "outputs": ("outputs(option: value, …)", "It runs the trace again with these options."),
}
