"""Certificates of a deployment that serves: renewed with no request lost, and an operator who is no more."""

from __future__ import annotations

import json
import shutil
import subprocess
import threading
import time
from pathlib import Path

from tests.certificates import Authority
from tests.up.figures import record
from tests.up.load.examples import Between
from tests.up.load.web import Wrk, wrk
from tests.up.needed import DEPLOYED, need
from tests.up.running import polysome

need("nginx", "wrk")
pytestmark = DEPLOYED

WHERE = ("--controller", "192.0.2.1:50070")
ELSEWHERE = ("ip", "netns", "exec", "ps-firewall-nf1")
URL = "http://10.1.0.3/who"


def serials(two: Between) -> dict[str, str]:
    return {one.name: one.serial for one in two.up.status().certificates}


def test_all_certificates_are_renewed_while_requests_are_served(two: Between) -> None:
    authority, found = Authority.opened(two.up.folder / "tls"), list[Wrk]()
    names = {"controller", *(part.name for part in two.up.status().parts)}
    end = time.monotonic() + 15
    while set(serials(two)) != {*names, "authority"}:  # a part that answers only just has shown none yet
        assert time.monotonic() < end, (serials(two), names)
        time.sleep(0.2)
    before = {part.name: (part.state, part.since) for part in two.up.status().parts}
    asking = threading.Thread(target=lambda: found.append(wrk(two.inside, URL, seconds=20)))
    asking.start()
    time.sleep(1)
    done = polysome("certificates", "renew", authority.folder, "--all")
    assert done.returncode == 0, done.stderr
    wanted = {name: authority.serial(name) for name in names}
    end = time.monotonic() + 15
    while {name: serials(two)[name] for name in names} != wanted:
        assert time.monotonic() < end, (serials(two), wanted)
        time.sleep(0.2)
    asking.join()
    result = found[0]
    assert result.errors == 0 and result.rate > 10, result.text
    record("wrk through the firewall while all certificates are renewed", result.rate, "requests/s")
    assert {part.name: (part.state, part.since) for part in two.up.status().parts} == before
    listed = polysome("certificates", "list", authority.folder, "--json")
    assert listed.returncode == 0, listed.stderr
    assert {one["name"]: one["serial"] for one in json.loads(listed.stdout) if one["name"] in names} == wanted


def test_a_revoked_operator_is_refused(two: Between, tmp_path: Path) -> None:
    tls = two.up.folder / "tls"
    stolen = tmp_path / "stolen"
    shutil.copytree(tls, stolen)
    assert polysome("status", *WHERE, "--tls", stolen, prefix=ELSEWHERE).returncode == 0
    done = polysome("certificates", "revoke", tls, "operator")
    assert done.returncode == 0, done.stderr
    end = time.monotonic() + 10
    while polysome("status", *WHERE, "--tls", stolen, prefix=ELSEWHERE).returncode == 0:
        assert time.monotonic() < end
    refused = polysome("drain", "nf1", *WHERE, "--tls", stolen, prefix=ELSEWHERE)
    assert refused.returncode == 2 and "the certificate of `operator` is revoked" in refused.stderr
    assert any("certificate of `operator` is revoked" in h.text for h in two.up.status().happened)
    assert polysome("certificates", "list", tls).returncode == 1
    assert polysome("certificates", "renew", tls).returncode == 0  # with a new key
    assert polysome("status", *WHERE, "--tls", tls, prefix=ELSEWHERE).returncode == 0
    assert polysome("status", *WHERE, "--tls", stolen, prefix=ELSEWHERE).returncode != 0


def test_a_part_whose_key_was_stolen_gets_another(two: Between) -> None:
    """Refused at once, and back without a start once it has a new key and certificate."""
    tls = two.up.folder / "tls"
    assert polysome("certificates", "revoke", tls, "memory1").returncode == 0
    until(lambda: state(two, "memory1") == "refused")
    pid = two.up.pid("memory1")
    bundle = Path(json.loads((two.up.folder / "up.json").read_text())["bundle"])
    words = ["sh", str(bundle / "deploy" / "request.sh"), str(tls), "memory1"]
    made = subprocess.run(words, capture_output=True, text=True)
    assert made.returncode == 0 and made.stdout.strip().endswith(": memory1"), made.stderr
    assert polysome("certificates", "renew", tls).returncode == 0
    until(lambda: state(two, "memory1") == "up")
    assert two.up.pid("memory1") == pid


def state(two: Between, name: str) -> str:
    return next(part.state for part in two.up.status().parts if part.name == name)


def until(condition: object, seconds: float = 20) -> None:
    assert callable(condition)
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.2)
