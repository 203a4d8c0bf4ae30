"""Properties of every NF: what holds whatever the spec says, on every engine.

Each is the `PROPERTY` of a module here; some are about a single run, the others run the trace again.
"""

from __future__ import annotations

from polysome.testing.builtin.found import every

__all__ = ["every"]
