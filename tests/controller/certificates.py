"""The certificates of a site's parts, and those of a stranger's authority."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.certificates import Authority

NAMES = ("controller", "switch", "memory0", "memory1", "memory2", "nf1", "nf2")


def make_certificates(folder: Path) -> None:
    Authority(folder, *NAMES)
    stranger = Authority(folder / "stranger", "controller", "memory0", "nf1").folder
    shutil.copy(stranger / "authority.pem", folder / "stranger.pem")  # not the deployment's
    for name in ("controller", "memory0", "nf1"):
        for end in ("key", "pem"):
            shutil.copy(stranger / f"{name}.{end}", folder / f"foreign-{name}.{end}")
