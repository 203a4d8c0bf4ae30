"""The clock that pauses go by, which is the event loop's: of a simulated system it is virtual."""

from __future__ import annotations

import asyncio


def seconds() -> float:
    return asyncio.get_running_loop().time()
