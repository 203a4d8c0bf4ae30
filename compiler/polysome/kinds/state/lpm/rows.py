"""The rows of `config lpm` in files: `prefix`, or `key`, and value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from polysome.config.convert import Converter
from polysome.config.items import Item
from polysome.config.rows import Form, TableRows, Write
from polysome.config.shapes import matcher_sample
from polysome.ir import types as t
from polysome.kinds.values import Prefix


class LpmRows(TableRows):
    names = ("prefix", "key")

    def key(self, c: Converter, item: Item, type: t.Type) -> Prefix:
        return c.prefix(item, type)

    def key_example(self, type: t.Type, ports: Sequence[str]) -> Any:
        return matcher_sample(type, ports)

    def key_written(self, key: Any, type: t.Type, write: Write) -> Form:
        return write(key, t.PREFIX)


ROWS = LpmRows()
