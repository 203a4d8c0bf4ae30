"""What a deployment of this machine was made from: the copy of the spec and its site in the bundle."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from polysome.cli.common import sited

if TYPE_CHECKING:
    from polysome.ir import program as ir

SITE = Path("source", "site.toml")


def program_of(bundle: Path, nf: str) -> ir.Program | None:
    """The program `nf` of a bundle; None without its spec. Ends with code 1 or 2 if that is wrong now."""
    for path in sorted((bundle / "source").rglob("*.nf")):
        if re.search(rf"^nf\s+{re.escape(nf)}\b", path.read_text(encoding="utf-8"), re.MULTILINE):
            return sited(path, bundle / SITE, [])[0]
    return None
