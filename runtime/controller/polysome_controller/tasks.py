"""What is done again and again."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from polysome_controller.errors import PartError, Refused
from polysome_controller.journal import Journal

Step = Callable[[], Awaitable[None]]


def each(seconds: float) -> Step:
    """A pause of so many seconds."""
    return lambda: asyncio.sleep(seconds)


async def forever(step: Step, pause: Step, journal: Journal) -> None:
    """What cannot be done now is done the next time; a part that does not answer is its keeper's business."""
    told = ""
    while True:
        try:
            await step()
            told = ""
        except Refused as error:
            if told != str(error):
                told = str(error)
                journal.warning("controller", told)
        except PartError:
            pass
        await pause()
