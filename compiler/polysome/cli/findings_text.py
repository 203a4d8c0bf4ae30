"""What `polysome check` found out, as text for a terminal of 100 columns."""

from __future__ import annotations

from typing import Any

from polysome.analysis.words import count, duration, size

Data = dict[str, Any]
WIDTH = 100
MOST_PATHS = 24  # a screen is not longer


def text_of(findings: Data) -> str:
    """The findings (`cli.findings`), section by section."""
    sections = (_paths, _reads, _writes, _state, _verdicts, _schedule)
    blocks = [section(findings) for section in sections]
    return "\n\n".join([_head(findings), *("\n".join(block) for block in blocks if block)]) + "\n"


def _head(findings: Data) -> str:
    return f"{findings['nf']}: ports {', '.join(findings['ports'])}"


def table(rows: list[list[str]], right: frozenset[int] = frozenset(), indent: str = "  ") -> list[str]:
    """Aligned columns two blanks apart; what goes beyond the width is cut from the last column."""
    if not rows:
        return []
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [c.rjust(w) if i in right else c.ljust(w) for i, (c, w) in enumerate(zip(row, widths, strict=True))]
        line = (indent + "  ".join(cells)).rstrip()
        lines.append(line if len(line) <= WIDTH else line[: WIDTH - 1].rstrip() + "…")
    return lines


# ---------------------------------------------------------------- packets


def _paths(findings: Data) -> list[str]:
    rows = [["packets the NF sees", "fields", "edits", "on the NF link"]]
    rows += [_path(findings, path) for path in findings["paths"][:MOST_PATHS]]
    widest = WIDTH - 42
    for row in rows:
        row[0] = _shortened(row[0], widest)
    lines = table(rows, frozenset((1, 2)))
    lines[0] = lines[0][2:]
    left = findings["paths"][MOST_PATHS:]
    if left:
        most = max(p["fields_bytes"] for p in left), max(p["edits_bytes"] for p in left)
        lines.append(f"  and {len(left)} more kinds, up to {most[0]} B and {most[1]} B (--json lists them)")
    return lines


def _shortened(headers: str, widest: int) -> str:
    """A long path without its middle."""
    if len(headers) <= widest:
        return headers
    parts = headers.split(" / ")
    middle = len(parts) // 2
    while len(parts) > 2 and len(" / ".join([*parts[:middle], "…", *parts[middle + 1 :]])) > widest:
        del parts[middle]
        middle = len(parts) // 2
    parts[middle] = "…"
    return " / ".join(p for n, p in enumerate(parts) if p != "…" or n == 0 or parts[n - 1] != "…")


def _path(findings: Data, path: Data) -> list[str]:
    if path["whole"]:
        return [path["headers"], "", "", f"whole: {path['whole']['reason']}, {_place(findings, path['whole'])}"]
    frames = path["fields_frame"], path["edits_frame"]
    link = "60 B each way" if path["fits"] else f"{frames[0]} B to it, {frames[1]} B back"
    return [path["headers"], f"{path['fields_bytes']} B", f"{path['edits_bytes']} B", link]


def _place(findings: Data, place: Data) -> str:
    file = "" if place["file"] == findings["file"] else place["file"].rsplit("/", 1)[-1] + ":"
    return f"{file}{place['line']}" if file else f"line {place['line']}"


def _places(findings: Data, places: list[Data]) -> str:
    """`line 3`, `lines 3, 7`, with the file's name where it is not the NF's own."""
    own = [str(p["line"]) for p in places if p["file"] == findings["file"]]
    others = [_place(findings, p) for p in places if p["file"] != findings["file"]]
    shown = [f"line{'s' if len(own) > 1 else ''} {', '.join(own)}"] if own else []
    return ", ".join([*shown, *others])


def _reads(findings: Data) -> list[str]:
    rows = [["the NF reads", "bytes", "first needed", "by"]]
    for read in findings["reads"]:
        ranges = ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in read["ranges"])
        why = f"{read['via']}: {read['text']}" if read["via"] else read["text"]
        rows.append([_what(read["header"], read["fields"]), ranges, _place(findings, read), why])
    if len(rows) == 1:
        return ["the NF reads nothing of a packet but its length, its port and its kind"]
    lines = table(rows)
    return [lines[0][2:], *lines[1:]]


def _what(header: str | None, fields: list[str]) -> str:
    """`ipv4.{src, dst}`; at most three names, because the bytes say the rest."""
    if header is None:
        return fields[0]
    if any("(" in f for f in fields):
        return header
    shown = [*fields[:3], "…"] if len(fields) > 3 else fields
    name = shown[0] if len(shown) == 1 else "{" + ", ".join(shown) + "}"
    return f"{header}.{name}" if " | " not in header else f"({header}).{name}"


def _writes(findings: Data) -> list[str]:
    rows = [["the NF writes", "bytes", ""]]
    for write in findings["writes"]:
        rows.append([_what(write["header"], [write["field"]]), str(write["bytes"]), _places(findings, write["places"])])
    lines = table(rows)
    return [lines[0][2:], *lines[1:]] if len(rows) > 1 else []


# ---------------------------------------------------------------- state, verdicts, schedule


def _state(findings: Data) -> list[str]:
    rows = [["state", "", "entries", "each", "memory", ""]]
    for state in findings["state"]:
        entries = "" if state["entries"] is None else count(state["entries"])
        entries += "".join(f" × {name}" for name in state["per"])
        each = "" if state["entry_bytes"] is None else f"{state['entry_bytes']} B"
        memory = size(state["memory"]) + "".join(f" × {name}" for name in state["per"])
        rows.append([state["name"], state["kind"], entries, each, memory, _ends(state)])
    lines = table(rows, frozenset((2, 3, 4)))
    return [lines[0][2:], *lines[1:]] if len(rows) > 1 else []


def _ends(state: Data) -> str:
    said = [f"{name} {duration(ns)}" for name, ns in state["ends"].items() if ns is not None]
    if state["when_full"] is not None:
        full = "evict oldest" if state["when_full"] == "evict" else state["when_full"]
        said = (said or ["forever"]) + [f"when full {full}"]
    said += ["per core"] if state["per_core"] else []
    return "; ".join([*said, *([state["note"]] if state["note"] else [])])


def _verdicts(findings: Data) -> list[str]:
    rows = []
    for verdict in findings["verdicts"]:
        what = f'"{verdict["what"]}"' if verdict["kind"] == "drop" else verdict["what"]
        who = "  (at the switch: packets the NF does not see)" if verdict["lacking"] else ""
        rows.append([verdict["kind"], what, _places(findings, verdict["places"]) + who])
    return ["verdicts", *table(rows)]


def _schedule(findings: Data) -> list[str]:
    schedule = findings["schedule"]
    policy = " ".join([schedule["policy"], ", ".join(schedule["args"])]).strip()
    if schedule["policy"] == "reframe":
        policy += f" {duration(schedule['options']['window'])}, {schedule['options']['count']}"
    rows = [[policy, f"class {schedule['class']}", _options(schedule)]]
    rule = schedule["formula"]
    hold = "without bound" if schedule["hold"] is None else f"at most {duration(schedule['hold'])}" if schedule["hold"] else "0"
    rule = rule.removeprefix("0: ").removeprefix("none: ")
    memory = [f"  takes up to {size(schedule['memory'])}"] if schedule["memory"] else []
    return ["schedule", *table(rows), f"  holds a packet {hold}: {rule}", *memory]


def _options(schedule: Data) -> str:
    words = {"classes": count, "idle": duration, "buffer": size, "queue": size, "serve": _rate}
    said = [f"{name} {words[name](value)}" for name, value in schedule["options"].items() if name in words]
    full = schedule["options"].get("when_full")
    if full is not None:
        said.append(f"when full {'evict oldest' if full == 'evict' else full}")
    return "; ".join(said)


def _rate(bits: int) -> str:
    for unit, scale in (("Gbps", 10**9), ("Mbps", 10**6), ("Kbps", 10**3)):
        if bits % scale == 0:
            return f"{bits // scale}{unit}"
    return f"{bits}bps"
