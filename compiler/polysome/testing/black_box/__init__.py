"""A program of one's own as an engine: any NF that forwards between network interfaces, held to a spec."""

from __future__ import annotations

from polysome.testing.black_box.engine import BlackBox

__all__ = ["BlackBox"]
