"""One line that says how far a long command is."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress(what: str) -> Iterator[Callable[[str], None]]:
    """On a terminal, standard error shows `what: SAID` with what the function was told last; elsewhere nothing."""
    if not sys.stderr.isatty():
        yield lambda said: None
        return
    from rich.console import Console  # a tenth of a second that other commands do not need

    with Console(stderr=True).status(what) as shown:
        yield lambda said: shown.update(f"{what}: {said}")
