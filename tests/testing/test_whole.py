"""The architecture `whole`: packets leave as `ribosome` has them leave, and faults corrupt none."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from tests.testing.builtin.networks import EXAMPLES, captured, example

from polysome.engines import ENGINES
from polysome.engines.options import BadOption, RunOptions, Unsupported
from polysome.engines.record import Record
from polysome.engines.trace import Trace
from polysome.plan.design import default_design
from polysome.testing.builtin.compare import copies_of
from polysome.testing.builtin.faults import Faults
from polysome.testing.execution import execute
from polysome.testing.spec import Spec

RIBOSOME = ENGINES["system"]
WHOLE = RIBOSOME.around("whole")
APART = 10**7  # ns between two packets: what a frame takes longer in one architecture changes nothing for the next

pytestmark = [
    pytest.mark.skipif(RIBOSOME.missing() is not None, reason=str(RIBOSOME.missing())),
    pytest.mark.slow,
]


def apart(spec: Spec) -> Trace:
    """The packets of the example's captures, far from each other."""
    trace = captured(spec)
    start = trace.arrivals[0].time
    return replace(trace, arrivals=tuple(replace(a, time=start + n * APART) for n, a in enumerate(trace.arrivals)))


def left(record: Record) -> list[tuple[bool, Counter[tuple[int, bytes]]]]:
    assert record.crash is None
    return [(fate.sent, copies_of(fate)) for fate in record.fates]


@pytest.mark.parametrize("name", EXAMPLES)
def test_packets_leave_as_they_do_from_ribosome(name: str) -> None:
    spec = example(name)
    trace = apart(spec)
    parked, forwarded = (engine.run(spec.program, trace, RunOptions()) for engine in (RIBOSOME, WHOLE))
    assert left(parked) == left(forwarded) and len(forwarded.fates) == len(trace.arrivals)
    emitted = [[(made.port, made.data) for made in record.emitted] for record in (parked, forwarded)]
    assert emitted[0] == emitted[1] and not parked.lost and not forwarded.lost


@pytest.mark.parametrize("kind", ["loss", "duplication", "reordering"])
@pytest.mark.parametrize("name", ["load_balancer", "nat", "bridge", "router6"])
def test_faults_lose_packets_and_corrupt_none(name: str, kind: str) -> None:
    spec = example(name)
    trace = captured(spec)
    again = replace(trace, arrivals=trace.arrivals * 4)
    found = WHOLE.run(spec.program, again, RunOptions(faults=frozenset({kind}), seed=3))
    assert found.crash is None
    assert (len(found.fates) < len(again.arrivals) or bool(found.lost)) == (kind == "loss")
    judgement = Faults().judge(execute(spec, again, WHOLE))
    assert judgement.failure is None and judgement.skipped is None and judgement.cases > 0


def test_there_is_no_memory_server_and_no_other_architecture() -> None:
    spec = example("load_balancer")
    with pytest.raises(BadOption, match="there is no architecture `hole`"):
        RIBOSOME.run(spec.program, captured(spec), RunOptions(architecture="hole"))
    for options in (RunOptions(servers=2), RunOptions(queue_pairs=4), RunOptions(faults=frozenset({"server0:loss=1"}))):
        with pytest.raises(BadOption):
            WHOLE.run(spec.program, captured(spec), options)
    design = default_design(spec.program, architecture="whole")
    assert design.plan.store is None and design.ways == () and design.site.rdma_servers == ()
    assert design.plan.architecture == "whole" and not design.plan.split


def test_properties_that_run_again_do_so_in_the_same_architecture() -> None:
    spec = example("load_balancer")
    execution = execute(spec, captured(spec), WHOLE)
    assert left(execution.rerun(RunOptions(seed=1))) == left(execution.record)
    with pytest.raises(BadOption, match="`whole` has no RDMA servers"):
        execution.rerun(RunOptions(servers=2))


def test_an_engine_without_machines_has_no_architecture() -> None:
    with pytest.raises(Unsupported, match="only the engine `system` has machines around the NF"):
        ENGINES["interp"].around("whole")
