"""Property testing of network functions, from any pytest.

    import polysome.testing as pt
    from hypothesis import given

    spec = pt.load("nat.nf")

    @given(pt.traces(spec))
    def test_nat(trace):
        record = pt.assert_holds(spec, trace)          # its own properties, its libraries', those of all NFs
        assert all(fate.reason != "no free port" for fate in record.fates)

TESTING.md beside this is the manual: all that is here, a property over a capture of one's own, and a program of one's
own held to a spec. `polysome test` runs campaigns from the command line.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from polysome.engines import ENGINES
    from polysome.engines.options import RunOptions, Unsupported
    from polysome.engines.record import Copy, Fate, Made, Record
    from polysome.engines.trace import Arrival, Change, Trace
    from polysome.testing.api import (
        assert_holds,
        assert_like,
        boundaries,
        engines_agree,
        read_capture,
        run,
        write_capture,
    )
    from polysome.testing.black_box import BlackBox
    from polysome.testing.spec import Spec, load
    from polysome.testing.traffic import configs, packets, seeded, traces

_FROM = {
    "engines": ("ENGINES",),
    "engines.options": ("RunOptions", "Unsupported"),
    "engines.record": ("Copy", "Fate", "Made", "Record"),
    "engines.trace": ("Arrival", "Change", "Trace"),
    "testing.api": (
        "assert_holds",
        "assert_like",
        "boundaries",
        "engines_agree",
        "read_capture",
        "run",
        "write_capture",
    ),
    "testing.black_box": ("BlackBox",),
    "testing.spec": ("Spec", "load"),
    "testing.traffic": ("configs", "packets", "seeded", "traces"),
}

__all__ = [
    "ENGINES",
    "Arrival",
    "BlackBox",
    "Change",
    "Copy",
    "Fate",
    "Made",
    "Record",
    "RunOptions",
    "Spec",
    "Trace",
    "Unsupported",
    "assert_holds",
    "assert_like",
    "boundaries",
    "configs",
    "engines_agree",
    "load",
    "packets",
    "read_capture",
    "run",
    "seeded",
    "traces",
    "write_capture",
]


def __getattr__(name: str) -> Any:
    """Loaded at first use: the command line starts without Hypothesis."""
    for module, names in _FROM.items():
        if name in names:
            return getattr(import_module(f"polysome.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
