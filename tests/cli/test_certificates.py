"""`polysome certificates`: what is listed, and what is said of folders that are of no use."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.certificates import Authority
from typer.testing import CliRunner, Result

from polysome.cli.main import app
from polysome.resources import folder


def run(*words: object) -> Result:
    return CliRunner().invoke(app, ["certificates", *map(str, words)])


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path / "tls", "nf1", "controller")


def listed(authority: Authority) -> dict[str, str]:
    """What stands in the last column, by name."""
    lines = run("list", authority.folder).stdout.splitlines()[1:]
    return {line.split()[0]: " ".join(line.split()[7:]) for line in lines}


def test_certificates_are_listed(authority: Authority) -> None:
    done = run("list", authority.folder)
    assert done.exit_code == 0, done.stderr
    head, *lines = done.stdout.splitlines()
    assert head.split() == ["name", "serial", "not", "before", "not", "after", "days"]
    assert [line.split()[0] for line in lines] == ["authority", "controller", "nf1", "operator"]
    row = lines[2].split()
    end = authority.certificate("nf1").not_valid_after_utc
    assert row[1] == authority.serial("nf1") and row[4:7] == [f"{end:%Y-%m-%d}", f"{end:%H:%M}", "89"]
    found = json.loads(run("list", authority.folder, "--json").stdout)
    assert found[2]["serial"] == row[1] and found[2]["days"] == 89 and not found[2]["revoked"] and not found[2]["due"]
    assert found[2]["ends"] == end.timestamp()


def test_what_is_due_is_an_exit_code(authority: Authority) -> None:
    authority.ending("nf1", 29)
    authority.ending("controller", -1)
    assert run("list", authority.folder).exit_code == 1
    assert listed(authority) == {"authority": "", "controller": "expired", "nf1": "renew it", "operator": ""}
    renewed = run("renew", authority.folder)
    assert renewed.exit_code == 0 and ": controller nf1\n" in renewed.stdout and "--tags certificates" in renewed.stdout
    assert run("list", authority.folder).exit_code == 0


def test_a_name_is_revoked_until_it_has_a_new_key(authority: Authority) -> None:
    done = run("revoke", authority.folder, "nf1")
    assert done.exit_code == 0 and "nf1 is revoked (1 of its certificates)" in done.stdout
    assert listed(authority)["nf1"] == "revoked" and run("list", authority.folder).exit_code == 1
    waits = run("renew", authority.folder)
    assert "nothing was due" in waits.stdout and "nf1 is not signed anew, as there is no request of it" in waits.stdout
    authority.certify("nf1")
    assert listed(authority)["nf1"] == "" and run("list", authority.folder).exit_code == 0


def test_which_are_renewed(authority: Authority) -> None:
    assert ": nf1\n" in run("renew", authority.folder, "nf1").stdout
    assert ": controller nf1 operator\n" in run("renew", authority.folder, "--all").stdout
    assert "nothing was due" in run("renew", authority.folder).stdout


@pytest.mark.parametrize(
    ("words", "what", "mend"),
    [
        (("renew", "TLS", "nf9"), "there is no request of nf9 in ", "copy nf9.csr there"),
        (("renew", "TLS", "nf1", "--all"), "names and --all are given", "Give names, or --all"),
        (("revoke", "TLS", "nf9"), "nf9 has no certificate that could be revoked", "controller nf1 operator"),
        (("revoke", "TLS", "authority"), "an authority does not revoke itself", "begin with an empty folder"),
        (("list", "NONE"), "authority.pem cannot be read: No such file", "Name the folder"),
        (("renew", "NONE"), "authority.pem cannot be read: No such file", "Name the folder"),
        (("revoke", "NONE", "nf1"), "authority.pem cannot be read: No such file", "Name the folder"),
    ],
)
def test_what_cannot_be(words: tuple[str, ...], what: str, mend: str, authority: Authority, tmp_path: Path) -> None:
    places = {"TLS": authority.folder, "NONE": tmp_path / "none"}
    done = run(*(places.get(word, word) for word in words))
    assert done.exit_code == 2, done.stdout
    assert done.stderr.startswith("error: ") and what in done.stderr
    assert mend in done.stderr.partition("\n  mend: ")[2]
    assert done.stderr.count("error:") == 1
    assert not (tmp_path / "none").exists()


def test_files_that_are_none(authority: Authority, tmp_path: Path) -> None:
    good = authority.read("nf1.pem")
    authority.replace("nf1.pem", b"nothing")
    done = run("list", authority.folder)
    assert done.exit_code == 2 and "nf1.pem is no certificate" in done.stderr
    authority.replace("nf1.pem", good)
    authority.replace("revoked.pem", Authority(tmp_path / "other").read("revoked.pem"))
    done = run("list", authority.folder)
    assert done.exit_code == 2 and "is no list of revoked certificates of this authority" in done.stderr


def test_when_a_certificate_is_due_is_the_same_for_all() -> None:
    """A bundle's script is used where there is no Polysome, so the number of days stands in it, too."""
    from polysome_controller.trust import SOON

    script = folder("targets") / "bundle" / "deploy" / "certificates.sh"
    found = re.search(r"^before=(\d+) ", script.read_text(), re.MULTILINE)
    assert found is not None and int(found[1]) * 86_400 == SOON
