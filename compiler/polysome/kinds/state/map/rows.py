"""The rows of `config map` in files: `key` and value."""

from __future__ import annotations

from polysome.config.rows import TableRows

ROWS = TableRows()
