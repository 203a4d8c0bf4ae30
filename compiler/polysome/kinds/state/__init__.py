"""State: what the language remembers between packets. STATE.md defines it; one file per kind.

Maps, sets, pools, arrays, token buckets and config tables have syntax of their own; the kinds used through methods only
are those whose file has a `KIND`.
"""

from __future__ import annotations

from polysome.kinds.base import StateKind
from polysome.kinds.found import kinds_in

STATE_KINDS: dict[str, StateKind] = kinds_in(__name__, __path__)
