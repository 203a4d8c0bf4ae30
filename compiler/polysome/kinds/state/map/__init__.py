"""`config map<K, V>`: a row for each key, which keeps its identity while its key stays (LANGUAGE.md, section 8)."""

from __future__ import annotations

from polysome.kinds.base import TableKind

KIND = TableKind(name="map", section=0, params=("K", "V"), make=lambda rows, ctx: dict(rows), identity="key")
