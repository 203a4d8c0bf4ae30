"""State: what the language remembers between packets. STATE.md defines it; one file per kind.

Maps, sets, pools, arrays, token buckets and config tables have syntax of their own; the kinds used through methods only
are registered here.
"""

from __future__ import annotations

from polysome.kinds.base import StateKind
from polysome.kinds.state import bloom, count_min, hyperloglog, top_k

STATE_KINDS: dict[str, StateKind] = {module.KIND.name: module.KIND for module in (count_min, bloom, hyperloglog, top_k)}
