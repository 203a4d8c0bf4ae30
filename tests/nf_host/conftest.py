"""Certificates and a cable for the tests of NF hosts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.nf_host import hosts


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> Path:
    hosts.need()
    return hosts.certificates(tmp_path_factory.mktemp("tls"), ["controller", "nf1", "memory0"])


@pytest.fixture
def cable() -> Iterator[hosts.Cable]:
    hosts.need()
    with hosts.cable() as made:
        yield made
