"""What is told of certificates: to who asks a controller elsewhere, and in the picture of a deployment."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.certificates import Authority

from polysome.cli.deployment_text import text_of
from polysome.deploy.certificates import complaint_of, operator
from polysome.deploy.client import Endpoint, open_client
from polysome.deploy.errors import DeployError
from polysome.deploy.messages import control


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path / "tls", "controller")


def test_an_operator_hears_of_its_own_certificate(authority: Authority) -> None:
    assert complaint_of(operator(authority.folder)) == ""
    authority.ending("operator", 12.5)
    found = complaint_of(operator(authority.folder))
    assert found.startswith("the certificate of `operator` ends on ") and found.endswith(", in 12 days")
    with open_client(Endpoint("127.0.0.1:1", authority.folder)) as client:
        assert client.complaint == found
    authority.ending("operator", -1)
    with pytest.raises(DeployError, match=r"operator\.pem has expired, on ") as error:
        operator(authority.folder)
    assert error.value.mend == f"polysome certificates renew {authority.folder}" and error.value.code == 2


def test_an_operator_demands_a_controller_that_is_not_revoked(authority: Authority) -> None:
    assert operator(authority.folder).demanded("controller") == "controller.g0"
    authority.revoke("controller")
    assert operator(authority.folder).demanded("controller") == "controller.g1"


@pytest.mark.parametrize("file", ["authority.pem", "operator.pem", "operator.key", "revoked.pem"])
def test_files_that_are_not_there(authority: Authority, file: str) -> None:
    (authority.folder / file).unlink()
    with pytest.raises(DeployError, match=file) as error:
        operator(authority.folder)
    assert error.value.code == 2 and error.value.mend


def test_the_picture_shows_certificates_of_which_something_must_be_known() -> None:
    status = control().ControllerStatus(nf="x")
    status.certificates.add(name="authority", ends=1, serial="AA")
    assert "certificate" not in text_of(status, "here")
    status.certificates.add(name="nf1", ends=1, serial="01" * 20, trouble="ends on 2027-01-02, in 5 days: renew it")
    shown = text_of(status, "here")
    assert "ends on 2027-01-02, in 5 days: renew it" in shown and "nf1" in shown and "authority" not in shown
