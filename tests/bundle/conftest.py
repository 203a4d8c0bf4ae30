"""Bundles that several tests look at, made once; no test changes them."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.bundle.helpers import EXAMPLE, compiled, hardware


@pytest.fixture(scope="session")
def soft(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The load balancer as programs of one machine."""
    out = tmp_path_factory.mktemp("soft") / "bundle"
    return compiled(EXAMPLE / "load_balancer.nf", EXAMPLE / "site.toml", out)


@pytest.fixture(scope="session")
def tofino(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The load balancer on a Tofino, with two NF servers."""
    folder = tmp_path_factory.mktemp("tofino")
    site = hardware(folder, "tofino", "clients", "servers")
    return compiled(EXAMPLE / "load_balancer.nf", site, folder / "bundle", "--config", EXAMPLE / "config.toml")
