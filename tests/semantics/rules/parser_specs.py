"""Specs with parsers of one-byte headers a to e; packets are hex."""

from __future__ import annotations

import re

from rules.harness import errors, run

HEADERS = "".join(f"header {name} {{ x: u8; }} " for name in "abcde")
# Of stacks: a, up to three of b, then c.
STACK = """parser own {
  state start { extract a; select a.x { 1 => stack; 2 => end; } }
  state stack { extract b as v[..3]; select v[last].x { 1 => stack; 2 => end; } }
  state end { extract c; }
}"""
STACK_NAMES = ["a", "v[0]", "v[1]", "v[2]", "c"]
Names = str | list[str] | None  # None: those of a to e that the parser extracts


def extracted(parser: str, names: Names) -> list[str]:
    return (
        list(dict.fromkeys(re.findall(r"\b(?:extract|parse) ([a-e])\b(?! as)", parser)))
        if names is None
        else list(names)
    )


def spec(parser: str, body: str = "", items: str = "", headers: str = HEADERS, names: Names = None) -> str:
    """Sends to q; `path` has one bit for each of the named headers that is valid, the first one's the lowest."""
    bits = " ".join(f"if {name} {{ path = path | {1 << i}; }}" for i, name in enumerate(extracted(parser, names)))
    state = "state { path: u64; left: bytes; }"
    handler = f"on packet {{ {bits} left = payload.len; {body} send q; }}"
    return f"{headers}\n{parser}\nnf own {{ port p, q; {state} {items}\n {handler} }}"


def valid(parser: str, frame: str, names: Names = None, headers: str = HEADERS) -> str:
    """The valid headers, by name."""
    outcome = run(spec(parser, headers=headers, names=names), [(0, "p", bytes.fromhex(frame))])
    found = (name for i, name in enumerate(extracted(parser, names)) if outcome.state["path"] >> i & 1)
    return " ".join(sorted(found) if names is None else found)


def bad(parser: str) -> list[str]:
    return errors(f"{HEADERS}\nparser own {{ {parser} }}\nnf own {{ port p; on packet {{ bounce; }} }}")
