"""The config as it was at any moment of a run, from what the trace says and not from what an engine keeps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from polysome.engines.record import Record
from polysome.ir import types as t
from polysome.kinds.state import TABLE_KINDS


class Configs:
    """Versions of the config in the form of the trace (as `Tables.replace` takes it), in order.

    At one instant changes come after timers and before packets (LANGUAGE.md L2.3), so version n is in force for what
    happened after the time of its change, or at that time in the handler of a packet.
    """

    def __init__(self, record: Record) -> None:
        self.versions: list[Mapping[str, Any]] = [record.trace.config]
        self._times: list[int] = []
        self._config = record.program.config
        for change in record.trace.changes:
            self.versions.append({**self.versions[-1], **change.values})
            self._times.append(change.time)

    def number(self, stamp: int, time: int) -> int:
        """The number of the version in force."""
        in_handler = stamp % 2 == 1
        found = 0
        while found < len(self._times) and (self._times[found] < time or (in_handler and self._times[found] == time)):
            found += 1
        return found

    def values(self, version: int, name: str) -> list[Any]:
        """What the rows of a list or table have as values in a version."""
        type, rows = self._config[name].type, self.versions[version][name]
        if not isinstance(type, t.Table):
            return list(rows)
        kind = TABLE_KINDS[type.kind]
        return [kind.value(row) for row in kind.rows(rows)]

    def at(self, stamp: int, time: int) -> Mapping[str, Any]:
        return self.versions[self.number(stamp, time)]
