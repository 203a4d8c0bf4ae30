"""`config map` as terms."""

from __future__ import annotations

from polysome.symbolic.tables import TableModel

MODEL = TableModel()
