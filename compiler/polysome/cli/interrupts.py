"""SIGINT where Python would lose it.

A signal's handler runs between any two instructions, and what it raises in a finalizer or in a callback of the garbage
collector is printed and forgotten ("Exception ignored in"). z3 has many of the first, Hypothesis has one of the second.
"""

from __future__ import annotations

import _thread
import gc
import signal
import threading
from types import FrameType

_LATER = 0.02  # seconds


def hear() -> None:
    """From now on SIGINT raises KeyboardInterrupt where that is heard: a moment later, if need be.

    Where SIGINT is ignored, as in the background of a script, it stays so. To be called in the main thread.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupted)


def _interrupted(number: int, frame: FrameType | None) -> None:
    if not _lost(frame):
        raise KeyboardInterrupt
    again = threading.Timer(_LATER, _thread.interrupt_main)
    again.daemon = True
    again.start()


def _lost(frame: FrameType | None) -> bool:
    """Would Python drop what is raised here?"""
    callbacks = {getattr(callback, "__code__", None) for callback in gc.callbacks}
    while frame is not None:
        if frame.f_code.co_name == "__del__" or frame.f_code in callbacks:
            return True
        frame = frame.f_back
    return False
