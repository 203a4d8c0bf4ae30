"""Several cores of the C++ do what several cores of the interpreter do."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.analysis.test_sharding import OF_TYPES, nf
from tests.testing.builtin.networks import captured, example

from polysome.engines import ENGINES
from polysome.engines.options import RunOptions
from polysome.engines.trace import Trace
from polysome.testing.builtin.compare import same
from polysome.testing.spec import Spec, load

NATIVE = ENGINES["native"]


@pytest.mark.parametrize("name", ["conn_limiter", "firewall", "nat", "acl"])
def test_the_same_packets_on_the_same_cores(name: str) -> None:
    """For keys with conditions, in both directions, and an NF that stays on one core."""
    if (lacking := NATIVE.missing()) is not None:
        pytest.skip(lacking)
    spec = example(name)
    _same_on_three(spec, captured(spec))


def test_the_same_packets_by_keys_of_different_types(tmp_path: Path) -> None:
    if (lacking := NATIVE.missing()) is not None:
        pytest.skip(lacking)
    path = tmp_path / "small.nf"
    path.write_text(nf(OF_TYPES), encoding="utf-8")
    trace = Trace({}, captured(example("firewall")).arrivals)
    _same_on_three(spec := load(path), trace)
    alone, three = (ENGINES["interp"].run(spec.program, trace, RunOptions(cores=cores)) for cores in (1, 3))
    assert [f.reason for f in alone.fates] == [f.reason for f in three.fates]
    assert len({f.reason for f in alone.fates}) == 2


def _same_on_three(spec: Spec, trace: Trace) -> None:
    options = RunOptions(cores=3)
    expected = ENGINES["interp"].run(spec.program, trace, options)
    assert same(expected, NATIVE.run(spec.program, trace, options), "in C++") > 10
