"""NFs that are wrong in the ways in which people get them wrong, each with one line of tests: `use test.…;`.

That line alone, nothing of the spec's own and nothing built in, must find the mistake.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from polysome.testing.campaign import names, run
from polysome.testing.counterexample import loads, report
from polysome.testing.plan import Plan
from polysome.testing.spec import load

FOLDER = Path(__file__).parent / "wrong"
MOST_PACKETS = 6
EXPECTED = {
    "starving_policer": "policer.limit.never_starved",
    "limitless_limiter": "limiter.never_above",
    "forgetful_balancer": "load_balancer.checksums.valid",
    "colliding_nat": "nat.injective",
    "open_firewall": "firewall.unsolicited_blocked",
    "forgetful_bridge": "bridge.known_is_not_flooded",
    "hasty_shaper": "shaper.never_above_the_rate",
}


def test_every_one_is_expected_to_fail() -> None:
    assert {path.stem for path in FOLDER.glob("*.nf")} == set(EXPECTED)


@pytest.mark.slow
@pytest.mark.parametrize("name", EXPECTED)
def test_one_line_finds_it(name: str) -> None:
    spec = load(FOLDER / f"{name}.nf")
    library = tuple(p for p in names(spec) if "." in p)
    result = run(spec, Plan(seed=1, seconds=120, only=library, first=True))
    failed = {o.name: o for o in result.failed}
    assert failed, f"nothing found in {result.traces} traces"
    for outcome in failed.values():
        assert outcome.findings[0].packets <= MOST_PACKETS
        told = "\n".join(report(loads(outcome.findings[0].counterexample, spec)))
        assert "expected" in told and f"{name}.nf" in told
