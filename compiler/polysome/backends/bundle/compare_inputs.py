"""What people have changed between two bundles: spec, params, config rows, site; and the sizes that followed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from polysome.backends.bundle.contents import CONFIG_TEXT
from polysome.backends.bundle.opened import Bundle
from polysome.plan.numbers import quantity

MOST_ROWS = 5  # of a table, that are shown
# Members that follow from others: what they stand for is told at the machine whose it is.
_DERIVED = {"program_hash": "the switch's program is another one", "nf_hash": "the NF is another one"}
_UNITS = {
    "bit/s": ("rate", "spare", "fallback_rate"),
    "bytes": ("region", "queue_bytes", "first_queue_bytes", "fallback_burst"),
    "ns": ("timeout", "sweep", "longest_queueing", "loop_time", "load", "health", "deadline"),
}


@dataclass(frozen=True)
class Inputs:
    """Each a list of changes in words: of what the NF needs of packets, params, the spec's files, tables of the config
    and their first rows, the site's file, and Polysome with its library."""

    packets: tuple[str, ...]
    params: tuple[str, ...]
    spec: tuple[str, ...]
    tables: tuple[str, ...]
    rows: tuple[str, ...]
    site: tuple[str, ...]
    toolchain: tuple[str, ...]

    @staticmethod
    def of(old: Bundle, new: Bundle) -> Inputs:
        files = [path for path in sorted({*old.below("source"), *new.below("source")}) if path.endswith(".nf")]
        tables = list(_tables(old.json(CONFIG_TEXT), new.json(CONFIG_TEXT)))
        return Inputs(
            packets=(*_lists("reads", "relevant", old, new), *_lists("writes", "written", old, new)),
            params=tuple(_members("param", old.about["params"], new.about["params"])),
            spec=tuple(_file(path, old, new) for path in files if old.digests.get(path) != new.digests.get(path)),
            tables=tuple(_head(*table) for table in tables),
            rows=tuple(row for table in tables for row in _rows(*table)),
            site=tuple(_site(old, new)),
            toolchain=tuple(_toolchain(old, new)),
        )

    @property
    def all(self) -> tuple[str, ...]:
        return (*self.spec, *self.packets, *self.params, *self.tables, *self.rows, *self.site, *self.toolchain)


def numbers(old: Bundle, new: Bundle) -> list[str]:
    """Sizes of the plans that differ: `slots: 16 384 -> 32 768`."""
    before, after = (bundle.json("plan.json")["store"] or {} for bundle in (old, new))
    if bool(before) != bool(after):
        return ["packets are split now" if after else "all packets go whole now"]
    found = []
    for name, number in after.items():
        if isinstance(number, dict) and number["value"] != before[name]["value"]:
            texts = [quantity(n["value"], n["unit"]) for n in (before[name], number)]
            found.append(f"{name.replace('_', ' ')}: {texts[0]} -> {texts[1]}")
    return found


def values(old: Bundle, new: Bundle, path: str) -> list[str]:
    """Members of a configuration that differ: `region: 67108864 -> 134217728`."""
    before, after = ({k: v for k, v in _flat(bundle.json(path), "") if k not in _DERIVED} for bundle in (old, new))
    found = list(_members("", before, after))
    first, second = old.json(path) or {}, new.json(path) or {}
    found += [text for name, text in _DERIVED.items() if first.get(name) != second.get(name)]
    return found if len(found) <= MOST_ROWS else [*found[: MOST_ROWS - 1], f"and {len(found) - MOST_ROWS + 1} more"]


def _flat(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Members of members, by `a.b` and by `a[name]` where rows have a name."""
    if isinstance(value, dict):
        for key, member in value.items():
            yield from _flat(member, f"{name}.{key}" if name else key)
    elif isinstance(value, list) and value and all(isinstance(row, dict) for row in value):
        for number, row in enumerate(value):
            yield from _flat(row, f"{name}[{row.get('name', number)}]")
    else:
        yield name, value


def _members(kind: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    lead = f"{kind} " if kind else ""
    for name in dict.fromkeys((*old, *new)):
        if name not in new:
            yield f"{lead}{name} is gone (it was {_text(name, old[name])})"
        elif name not in old:
            yield f"{lead}{name} is new: {_text(name, new[name])}"
        elif old[name] != new[name]:
            yield f"{lead}{name}: {_text(name, old[name])} -> {_text(name, new[name])}"


def _text(name: str, value: Any) -> str:
    """With its unit, if the last part of its name says that it has one."""
    if isinstance(value, list):
        return ", ".join(map(str, value))
    unit = next((unit for unit, names in _UNITS.items() if name.rpartition(".")[2] in names), "")
    return quantity(value, unit) if unit and isinstance(value, int) else str(value)


def _lists(what: str, name: str, old: Bundle, new: Bundle) -> Iterator[str]:
    before, after = old.about[name], new.about[name]
    more, fewer = [n for n in after if n not in before], [n for n in before if n not in after]
    if more:
        yield f"{what} {', '.join(more)} too"
    if fewer:
        yield f"{what} {', '.join(fewer)} no more"


def _file(path: str, old: Bundle, new: Bundle) -> str:
    if path not in old.digests:
        return f"{path} is new"
    return f"{path} {'is gone' if path not in new.digests else 'was changed'}"


Table = tuple[str, Sequence[str], Sequence[str]]


def _tables(old: Mapping[str, Sequence[str]], new: Mapping[str, Sequence[str]]) -> Iterator[Table]:
    """Those that differ."""
    for name in dict.fromkeys((*old, *new)):
        before, after = old.get(name, ()), new.get(name, ())
        if before != after:
            yield name, before, after


def _compared(old: Sequence[str], new: Sequence[str]) -> tuple[list[tuple[str, str]], list[str], list[str]]:
    """Rows that have changed, with their old text; those that came; those that went."""
    gone, come = list((Counter(old) - Counter(new)).elements()), list((Counter(new) - Counter(old)).elements())
    left, right = Counter(map(_key, gone)), Counter(map(_key, come))
    changed = {key for key in left if left[key] == right[key] == 1}
    pairs = {_key(row): row for row in come}
    return (
        [(row, pairs[_key(row)]) for row in gone if _key(row) in changed],
        [row for row in come if _key(row) not in changed],
        [row for row in gone if _key(row) not in changed],
    )


def _head(name: str, old: Sequence[str], new: Sequence[str]) -> str:
    changed, come, gone = _compared(old, new)
    counts = {"added": len(come), "removed": len(gone), "changed": len(changed)}
    said = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
    return f"config {name}: {said or 'the same rows in another order'}"


def _rows(name: str, old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    changed, come, gone = _compared(old, new)
    lines = [f"{before} -> {after}" for before, after in changed]
    lines += [f"added {row}" for row in come] + [f"removed {row}" for row in gone]
    yield from (f"{name}: {line}" for line in lines[:MOST_ROWS])
    if len(lines) > MOST_ROWS:
        yield f"{name}: and {len(lines) - MOST_ROWS} more rows"


def _key(row: str) -> str:
    """By which a row is known: a map's key, a struct's first member."""
    key, arrow, _ = row.partition(" -> ")
    return key if arrow else row.partition(",")[0]


def _site(old: Bundle, new: Bundle) -> Iterator[str]:
    before, after = (bundle.about["architecture"] for bundle in (old, new))
    if before != after:
        yield f"architecture: {before} -> {after}"
    path = "source/site.toml"
    if old.digests.get(path) != new.digests.get(path):
        yield "the site file was changed"


def _toolchain(old: Bundle, new: Bundle) -> Iterator[str]:
    before, after = old.about["polysome"], new.about["polysome"]
    if before != after:
        yield f"Polysome {before} -> {after}"
    for name in dict.fromkeys((*old.about["library"], *new.about["library"])):
        if old.about["library"].get(name) != new.about["library"].get(name):
            yield f"{name} was changed"
