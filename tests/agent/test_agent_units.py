"""The GoogleTests of runtime/rdma/agent, with AddressSanitizer and UndefinedBehaviorSanitizer."""

from __future__ import annotations

import subprocess

import pytest
from tests.agent.agent_build import HERE, unit_test
from tests.native.native_build import executables

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", executables(HERE, "test_*.cpp"))
def test_the_agents_units(name: str) -> None:
    built = unit_test(name)
    done = subprocess.run([str(built), "--gtest_brief=1"], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
