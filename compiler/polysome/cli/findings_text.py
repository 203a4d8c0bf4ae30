"""What `polysome check` found out, as text for a terminal of 100 columns."""

from __future__ import annotations

import textwrap
from typing import Any

from polysome.analysis.words import count, duration, size

Data = dict[str, Any]
Row = list[str]
WIDTH = 100
MOST_PATHS = 24  # more would push the rest off the screen


def text_of(findings: Data) -> str:
    """The findings (`cli.findings`), section by section."""
    sections = (_paths, _reads, _writes, _state, _verdicts, _schedule, _cores)
    blocks = [section(findings) for section in sections]
    head = f"{findings['nf']}: no errors; ports {', '.join(findings['ports'])}"
    return "\n\n".join([head, *("\n".join(block) for block in blocks if block)]) + "\n"


def table(head: Row, rows: list[Row], right: tuple[int, ...] = ()) -> list[str]:
    """Aligned columns two blanks apart under their names; what goes beyond the width is cut from the last column."""
    if not rows:
        return []
    every = [head, *([f"  {row[0]}", *row[1:]] for row in rows)]
    widths = [max(len(row[i]) for row in every) for i in range(len(head))]
    lines = []
    for row in every:
        cells = [c.rjust(w) if i in right else c.ljust(w) for i, (c, w) in enumerate(zip(row, widths, strict=True))]
        line = "  ".join(cells).rstrip()
        lines.append(line if len(line) <= WIDTH else line[: WIDTH - 1].rstrip() + "…")
    return lines


def _place(findings: Data, place: Data) -> str:
    """`line 3`, or `conntrack.nf:44` if that is not in the NF's own file."""
    own = place["file"] == findings["file"]
    return f"line {place['line']}" if own else f"{place['file'].rsplit('/', 1)[-1]}:{place['line']}"


def _places(findings: Data, places: list[Data]) -> str:
    """`line 3`; `lines 3, 7, conntrack.nf:44`."""
    own = [str(n) for n in sorted(p["line"] for p in places if p["file"] == findings["file"])]
    others = [_place(findings, p) for p in places if p["file"] != findings["file"]]
    shown = [f"line{'s' if len(own) > 1 else ''} {', '.join(own)}"] if own else []
    return ", ".join([*shown, *others])


# ---------------------------------------------------------------- packets


def _paths(findings: Data) -> list[str]:
    """One line for packets that look alike; what their frames have on the NF link, to the NF and back."""
    alike: dict[tuple[str, str], list[Data]] = {}
    for path in findings["paths"]:
        whole = "" if path["whole"] is None else f"whole: {path['whole']['reason']}, {_place(findings, path['whole'])}"
        alike.setdefault((_shortened(path["headers"], WIDTH - 40), whole), []).append(path)
    rows = []
    for (headers, whole), paths in alike.items():
        numbers = [_span([p[key] for p in paths]) for key in ("fields_bytes", "edits_bytes")]
        frames = " + ".join(_span([p[key] for p in paths]) for key in ("fields_frame", "edits_frame"))
        rows.append([headers, "", "", whole] if whole else [headers, *(f"{n} B" for n in numbers), f"{frames} B"])
    lines = table(["packets the NF sees", "fields", "edits", "NF link"], rows[:MOST_PATHS], (1, 2))
    left = [p for paths in list(alike.values())[MOST_PATHS:] for p in paths]
    if left:
        most = max(p["fields_bytes"] for p in left), max(p["edits_bytes"] for p in left)
        lines.append(f"  and {len(left)} more, up to {most[0]} B and {most[1]} B (all with --json)")
    return lines


def _span(numbers: list[int]) -> str:
    return str(numbers[0]) if min(numbers) == max(numbers) else f"{min(numbers)}-{max(numbers)}"


def _shortened(headers: str, widest: int) -> str:
    """A long path without some of what may be missing, then without its middle, as far as needed."""
    parts = headers.split(" / ")
    while len(" / ".join(parts)) > widest and len(parts) > 3:
        optional = [n for n, part in enumerate(parts) if part.startswith("[") or "×0" in part]
        middle = len(parts) // 2
        parts[optional[0] if optional else middle - (parts[middle] == "…")] = "…"
        parts = [part for n, part in enumerate(parts) if n == 0 or part != "…" or parts[n - 1] != "…"]
    return " / ".join(parts)


def _reads(findings: Data) -> list[str]:
    rows = []
    for read in findings["reads"]:
        ranges = ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in read["ranges"])
        why = f"{read['via']}: {read['text']}" if read["via"] else read["text"]
        rows.append([_what(read["header"], read["fields"]), ranges, _place(findings, read), why])
    lines = table(["the NF reads", "bytes", "first needed by", ""], rows)
    return lines or ["the NF reads nothing but a packet's length, its port, and which headers it has"]


def _what(header: str | None, fields: list[str]) -> str:
    """`ipv4.{src, dst}`, at most three names: the bytes say the rest; a header alone for bytes that are no field."""
    if header is None or any("(" in f for f in fields):
        return header or "payload"
    shown = [*fields[:3], "…"] if len(fields) > 3 else fields
    return f"{header}.{shown[0]}" if len(shown) == 1 else f"{header}.{{{', '.join(shown)}}}"


def _writes(findings: Data) -> list[str]:
    rows = [
        [f"{write['header']}.{write['field']}", f"{write['bytes']} B", _places(findings, write["places"])]
        for write in findings["writes"]
    ]
    rows += [[operation["what"], "", _places(findings, operation["places"])] for operation in findings["operations"]]
    return table(["the NF writes", "", ""], rows, (1,))


# ---------------------------------------------------------------- state, verdicts, schedule


def _state(findings: Data) -> list[str]:
    rows = []
    for state in findings["state"]:
        entries = "" if state["entries"] is None else count(state["entries"])
        each = "" if state["entry_bytes"] is None else f"{state['entry_bytes']} B"
        rows.append([state["name"], state["kind"], entries, each, size(state["memory"]), _ends(state)])
    lines = table(["state", "", "entries", "each", "memory", "in a native NF"], rows, (2, 3, 4))
    more = [(state["name"], state["ipv6_bytes"]) for state in findings["state"] if state["ipv6_bytes"]]
    return [*lines, *(f"  {name} takes {n} B more for each key with an IPv6 address" for name, n in more)]


def _ends(state: Data) -> str:
    """Timeouts, what happens when it is full, and what multiplies its memory."""
    said = [
        f"{name} {'up to ' if name in state['computed'] else ''}{duration(ns)}" for name, ns in state["ends"].items()
    ]
    if state["when_full"] is not None:
        full = "evict oldest" if state["when_full"] == "evict" else state["when_full"]
        said = [*(said or ["forever"]), f"when full {full}"]
    said += [f"for each of {name}" for name in state["per"]]
    said += ["per core"] if state["per_core"] else []
    return "; ".join([*said, *([state["note"]] if state["note"] else [])])


def _verdicts(findings: Data) -> list[str]:
    rows = []
    for verdict in findings["verdicts"]:
        what = f'"{verdict["what"]}"' if verdict["kind"] == "drop" else verdict["what"]
        who = ", for packets the NF does not see" if verdict["lacking"] else ""
        rows.append([verdict["kind"], what, _places(findings, verdict["places"]) + who])
    for emit in findings["emits"]:
        rows.append(["emit", f"{', '.join(emit['headers'])} to {emit['to']}", _places(findings, emit["places"])])
    return table(["verdicts", "", ""], rows)


def _schedule(findings: Data) -> list[str]:
    schedule = findings["schedule"]
    options = schedule["options"]
    policy = f"{schedule['policy']} {', '.join(schedule['args'])}".strip()
    if "window" in options:
        policy += f" {duration(options['window'])}, {options['count']}"
    clauses = [f"class {schedule['class']}", policy, *_options(options)]
    said = [f"schedule  {'; '.join(clauses)}"]
    hold, formula = schedule["hold"], schedule["formula"].removeprefix("0: ").removeprefix("none: ")
    if hold == 0:
        said.append(f"  holds no packet: {formula}")
    elif hold is None:
        said.append(f"  no bound on how long it holds a packet: {formula}")
    else:
        said.append(f"  holds a packet {duration(hold)} at most = {formula}")
    if schedule["memory"]:
        said.append(f"  holds {size(schedule['memory'])} at most: packets and classes")
    return [line for text in said for line in textwrap.wrap(text, WIDTH, subsequent_indent="    ")]


def _options(options: Data) -> list[str]:
    words = {"serve": _rate, "classes": count, "idle": duration, "buffer": size, "queue": size}
    said = [f"{name} {word(options[name])}" for name, word in words.items() if name in options]
    full = options.get("when_full")
    return [*said, f"when full {'evict oldest' if full == 'evict' else full}"] if full is not None else said


def _rate(bits: int) -> str:
    for unit, scale in (("Gbps", 10**9), ("Mbps", 10**6), ("Kbps", 10**3)):
        if bits % scale == 0:
            return f"{bits // scale}{unit}"
    return f"{bits}bps"


# ---------------------------------------------------------------- cores


def _cores(findings: Data) -> list[str]:
    """By what packets may be spread over cores, port by port, and the state that decides it."""
    cores = findings["cores"]
    if not cores["spreads"]:
        said = ["cores  one, whatever is asked for: no packets can be kept apart"]
    else:
        alike: dict[str, list[str]] = {}
        for row in cores["ports"]:
            alike.setdefault("all on one core" if row["key"] is None else f"by {row['key']}", []).append(row["port"])
        rows = [[", ".join(ports), key] for key, ports in alike.items()]
        said = _wrapped_rows("cores  several may share the packets", rows)
    return [*said, *(line for reason in cores["explanation"] for line in _wrapped(f"  {reason}"))]


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, subsequent_indent="    ", break_on_hyphens=False)


def _wrapped_rows(head: str, rows: list[Row]) -> list[str]:
    """Two columns, the second one wrapped."""
    first = max(len(row[0]) for row in rows)
    lines = [head]
    for left, right in rows:
        indent = " " * (first + 6)
        lines += textwrap.wrap(f"  {left.ljust(first)}  {right}", WIDTH, subsequent_indent=indent)
    return lines
