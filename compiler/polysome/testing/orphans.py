"""Worker processes that end when the process that started them was killed."""

from __future__ import annotations

import os
import threading
import time

_EVERY = 0.2  # s


def end_with_parent() -> None:
    """To be called first thing in a worker: nobody would tell it that there is no more work."""
    threading.Thread(target=_wait, args=(os.getppid(),), daemon=True).start()


def _wait(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_EVERY)
    os._exit(1)
