"""Counterexamples: made small, kept in files, told as a timeline, and run again."""

from __future__ import annotations

from polysome.testing.counterexample.captured import read_capture, read_captures
from polysome.testing.counterexample.files import (
    Counterexample,
    Paths,
    ReplayError,
    TracePaths,
    dumps,
    loads,
    read,
    write,
    write_trace,
)
from polysome.testing.counterexample.report import replay, report
from polysome.testing.counterexample.shrink import shrink
from polysome.testing.counterexample.timeline import timeline

__all__ = [
    "Counterexample",
    "Paths",
    "ReplayError",
    "TracePaths",
    "dumps",
    "loads",
    "read",
    "read_capture",
    "read_captures",
    "replay",
    "report",
    "shrink",
    "timeline",
    "write",
    "write_trace",
]
