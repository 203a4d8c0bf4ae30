"""An NF host takes new certificates while it runs; how it does is tested with the switch, which has the same code."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.backends import examples
from tests.certificates import Authority
from tests.nf_host import hosts

pytestmark = pytest.mark.slow


def test_a_renewed_certificate_and_a_revoked_controller(cable: hosts.Cable, tmp_path: Path) -> None:
    import grpc

    authority = Authority(tmp_path / "tls", "controller", "nf1")
    nf = examples.program("load_balancer")
    with hosts.running(hosts.built(nf), tmp_path / "host", cable.far, hosts.config(nf), authority.folder) as host:
        assert host.statistics().certificate.serial == authority.serial("nf1")
        authority.renew("nf1")
        hosts.until(lambda: host.statistics().certificate.serial == authority.serial("nf1"))
        authority.revoke("controller")
        hosts.until(lambda: "has another list of revoked certificates" in host.log())
        with pytest.raises(grpc.RpcError) as error:
            host.statistics()
        assert error.value.code() == grpc.StatusCode.PERMISSION_DENIED
        authority.certify("controller")
        assert host.statistics().certificate.name == "nf1"
