"""The rows of `config map` in tests."""

from __future__ import annotations

from typing import Any

from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.testing.traffic.choices import Choices
from polysome.testing.traffic.values import ROWS, TableTraffic, value


class MapTraffic(TableTraffic):
    def table(self, program: ir.Program, c: Choices, type: t.Table) -> dict[Any, Any]:
        """All keys first, and of ports mostly all."""
        if isinstance(type.key, t.Port) and not c.chance(0.15):
            keys = list(range(len(program.ports)))
        else:
            keys = list(dict.fromkeys(value(program, c, type.key) for _ in range(c.pick(ROWS))))
        return {key: value(program, c, type.value) for key in keys}


TRAFFIC = MapTraffic()
