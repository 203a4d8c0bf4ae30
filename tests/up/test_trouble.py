"""One trouble of each kind while wrk runs, by chance at one part or another: service and status recover each time.
`make trouble` goes on for as long as one likes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from random import Random

import pytest
from tests.up.figures import record
from tests.up.needed import DEPLOYED, need
from tests.up.trouble import campaign
from tests.up.trouble.kinds import KINDS, troubles
from tests.up.trouble.place import Place, place

need("nginx", "wrk", "nft", "ss")
pytestmark = [
    *DEPLOYED,
    pytest.mark.skipif("POLYSOME_TROUBLE" not in os.environ, reason="POLYSOME_TROUBLE is not set: see `make trouble`"),
]

SEED = 1


@pytest.fixture(scope="module")
def troubled(alone: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with place(tmp_path_factory.mktemp("trouble")) as found:
        yield found


@pytest.mark.parametrize("kind", KINDS)
def test_it_recovers(troubled: Place, kind: str) -> None:
    chosen = [trouble for trouble in troubles() if trouble.kind == kind]
    trouble = Random(SEED).choice(chosen)
    cost = campaign.cost(troubled, trouble, list(KINDS).index(kind))
    record(f"{trouble} of {trouble.part}: longest time without any answer", cost.pause, "s")
    # How long requests waited is `make trouble`'s business: other tests run beside this one.
    assert cost.after is not None, f"{campaign.HEAD}\n{cost}\n{troubled.lb.up.said}"
    assert cost.said or not trouble.seen, f"status said nothing of it\n{cost}"
