"""A P4 program as C++, from the user's cache if it was translated before: parsing it takes most of a second."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import polysome.p4
from polysome.backends.nf_cpp.build import BuildError, cache_folder, fingerprint, used
from polysome.backends.system.library import translated
from polysome.p4.limits import ChipLimits


def translation(name: str, p4: str, chip: ChipLimits) -> str:
    """As `translated`. A cache that cannot be used costs time, nothing else."""
    parts = [name.encode(), p4.encode(), repr(chip).encode(), _translator()]
    try:
        entry = cache_folder() / f"{name}-{fingerprint(parts)}.hpp"
        if used(entry):
            return entry.read_text(encoding="utf-8")
    except (BuildError, OSError):
        return translated(name, p4, chip)
    found = translated(name, p4, chip)
    with suppress(OSError):
        scratch = entry.with_name(f"{entry.name}.{os.getpid()}")
        scratch.write_text(found, encoding="utf-8")
        scratch.replace(entry)
    return found


def _translator() -> bytes:
    """Changes with the sources of the P4 front end."""
    top = Path(polysome.p4.__file__).parent
    stats = [(p.relative_to(top).as_posix(), p.stat().st_size, p.stat().st_mtime_ns) for p in sorted(top.rglob("*.py"))]
    return repr(stats).encode()
