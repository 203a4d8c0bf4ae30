"""Two NF servers: the traffic goes from one to the other when it is asked to, or has to."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

from tests.up.figures import record
from tests.up.load.examples import Between
from tests.up.load.web import curl, wrk
from tests.up.needed import DEPLOYED, need
from tests.up.running import polysome

need("nginx", "wrk", "curl")
pytestmark = DEPLOYED

URL = "http://10.1.0.3/who"
LONGEST = 20.0


def states(at: Between) -> tuple[str, dict[str, str]]:
    """Who has the traffic, and how the NF servers are."""
    status = at.up.status()
    return status.active, {part.name: part.state for part in status.parts if part.role == "nf"}


def test_a_drained_server_has_no_traffic(two: Between) -> None:
    assert states(two) == ("nf1", {"nf1": "up", "nf2": "standby"})
    done = polysome("drain", two.up.folder, "nf1")
    assert done.returncode == 0, done.stderr
    assert states(two) == ("nf2", {"nf1": "drained", "nf2": "up"})
    before = {link.name: link.frames_out for link in two.up.status().links}
    result = wrk(two.inside, URL, seconds=2)
    assert result.errors == 0 and result.requests > 100, result.text
    time.sleep(0.5)
    after = {link.name: link.frames_out for link in two.up.status().links}
    assert after["nf1"] == before["nf1"] and after["nf2"] > before["nf2"] + 100
    done = polysome("drain", two.up.folder, "nf2")
    assert done.returncode == 2 and "no other NF server" in done.stderr
    done = polysome("undrain", two.up.folder, "nf1")
    assert done.returncode == 0, done.stderr
    assert states(two)[1]["nf1"] in ("up", "standby")


def test_an_operator_elsewhere_needs_a_certificate(two: Between, tmp_path: Path) -> None:
    """From another machine of the management network, over TLS."""
    elsewhere = ("ip", "netns", "exec", "ps-firewall-nf1")
    where, tls = ("--controller", "192.0.2.1:50070"), two.up.folder / "tls"
    done = polysome("status", *where, "--tls", tls, prefix=elsewhere)
    assert done.returncode == 0 and "healthy" in done.stdout, done.stderr
    for name in ("authority", "revoked"):
        shutil.copy(tls / f"{name}.pem", tmp_path)
    for suffix in ("pem", "key"):  # a part's certificate is no operator's
        shutil.copy(tls / f"memory1.{suffix}", tmp_path / f"operator.{suffix}")
    done = polysome("drain", "nf1", *where, "--tls", tmp_path, prefix=elsewhere)
    assert done.returncode == 2 and "only `operator` may ask" in done.stderr, done.stderr
    assert "refused" in two.up.log("controller") and states(two)[1]["nf1"] != "drained"


def test_the_other_one_takes_over(two: Between) -> None:
    """Connections that the dead one followed are lost with what it knew of them; new ones work."""
    active = states(two)[0]
    curl(two.inside, URL)
    os.kill(two.up.pid(active), signal.SIGSTOP)  # it hangs: nobody sees it end
    stopped = time.monotonic()
    try:
        while time.monotonic() < stopped + LONGEST:
            words = ("ip", "netns", "exec", two.inside, "curl", "--silent", "--max-time", "1", URL)
            if subprocess.run(words, capture_output=True).returncode == 0:
                break
        resumed = time.monotonic() - stopped
        assert states(two)[0] not in ("", active)
    finally:
        os.kill(two.up.pid(active), signal.SIGCONT)
    record("the active NF hangs: until the other one has answered a new connection", resumed, "s")
    assert resumed < LONGEST
