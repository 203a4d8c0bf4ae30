"""What C++ sources are made of: the files that they include with quotes, and what these include."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

_INCLUDE = re.compile(rb'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


def with_included(
    sources: Iterable[Path], folders: Callable[[Path], Sequence[Path]], there: Callable[[Path], bool] = Path.is_file
) -> set[Path]:
    """The sources and all that they include, directly or not: as it is beside the file that includes it, else in the
    first of that file's `folders` where it is. What is nowhere is left out: it is the machine's.

    OSError if a file cannot be read. Paths have no `..` where the sources' have none.
    """
    found: set[Path] = set()
    waiting = list(sources)
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            for name in _INCLUDE.findall(path.read_bytes()):
                places = (Path(os.path.normpath(top / os.fsdecode(name))) for top in (path.parent, *folders(path)))
                waiting += [place for place in places if there(place)][:1]
    return found
