"""ranges by a plain search."""

from __future__ import annotations

from typing import Any

from polysome.testing.builtin.lookups import Asked, Definition


def found(asked: Asked) -> Any:
    (key,) = asked.look.args
    return next((value for (low, high), value in asked.rows if key in range(low, high + 1)), None)


LOOKUP = Definition(found, "in ranges the row whose range holds the key")
