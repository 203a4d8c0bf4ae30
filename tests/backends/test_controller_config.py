"""What the compiler tells the controller of a site."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.backends.examples import program

from polysome.backends.controller.config import Places, controller_config
from polysome.plan.design import default_design


@pytest.mark.parametrize(("spare", "told"), [(None, 10), (1, 1), (10, 10), (11, 10)])
def test_nobody_lends_more_than_the_link_carries(spare: int | None, told: int) -> None:
    """In Gbit/s; the NIC takes less than the switch's port."""
    design = default_design(program("load_balancer"))
    giga, (first, *others) = 10**9, design.site.rdma_servers
    spare_bps = None if spare is None else spare * giga
    first = replace(first, spare=spare_bps, nic=replace(first.nic, rate_bps=10 * giga))
    site = replace(design.site, rdma_servers=(first, *others), port_rate=25 * giga)
    found = controller_config(replace(design, site=site), Places("tls", "state", "admin", "config"))
    server = found["rdma_servers"][0]
    assert (server["spare"], server["rate"]) == (told * giga, 10 * giga)
