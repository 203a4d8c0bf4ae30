"""Several cores of the C++ do what several cores of the interpreter do."""

from __future__ import annotations

import pytest
from tests.testing.builtin.networks import captured, example

from polysome.engines import ENGINES
from polysome.engines.options import RunOptions
from polysome.testing.builtin.compare import same

NATIVE = ENGINES["native"]


@pytest.mark.parametrize("name", ["conn_limiter", "firewall", "nat", "acl"])
def test_the_same_packets_on_the_same_cores(name: str) -> None:
    """For keys with conditions, in both directions, and an NF that stays on one core."""
    if (lacking := NATIVE.missing()) is not None:
        pytest.skip(lacking)
    spec = example(name)
    trace = captured(spec)
    options = RunOptions(cores=3)
    expected = ENGINES["interp"].run(spec.program, trace, options)
    assert same(expected, NATIVE.run(spec.program, trace, options), "in C++") > 10
