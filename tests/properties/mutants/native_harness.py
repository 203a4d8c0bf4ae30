"""Tries a mutant of the native NF: does it still do what the interpreter does?"""

from __future__ import annotations

import multiprocessing
import os
import shutil
import time
from collections.abc import Iterator
from functools import partial
from itertools import count
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from tests.properties.mutants import native_specs

FLAGS = ("-std=c++20", "-O1", "-g0", "-fPIC", "-shared", "-fvisibility=hidden")
FEW = 6  # traces of one spec before the next one has its turn
STUCK = 30  # seconds without a sign of life


def attempt_native(name: str, example: Path, runtime: Path, cache: Path, seconds: float, seed: int) -> dict[str, Any]:
    """What generated traffic finds within `seconds`: a difference, a crash, or no answer.

    Everything runs in a process of its own, which may die of the fault. `runtime` is the folder of the C++ headers;
    libraries are kept in `cache`, which ends with the mutant.
    """
    here, there = multiprocessing.get_context("fork").Pipe()
    process = multiprocessing.get_context("fork").Process(
        target=_child, args=(there, example, runtime, cache, seconds, seed)
    )
    start, built = time.monotonic(), 0.0
    process.start()
    there.close()
    traces, found = 0, {}
    answer: dict[str, Any] = {"name": name}
    while True:
        if not here.poll(seconds + STUCK if built else 600):
            process.kill()
            found = {"no answer": {"packets": 0, "seconds": round(time.monotonic() - start, 1)}}
            break
        try:
            what, value = here.recv()
        except EOFError:
            process.join()
            if process.exitcode and process.exitcode < 0:
                found = {"crash": {"packets": 0, "seconds": round(time.monotonic() - start, 1)}}
            elif process.exitcode:
                raise RuntimeError(f"{name}: the process ended with code {process.exitcode}") from None
            break
        match what:
            case "built":
                built = time.monotonic()
            case "trace":
                traces = value
            case "refused":
                return {**answer, "refused": value}
            case "broken":
                said, packets = value
                answer["said"] = said
                found = {"native as interp": {"packets": packets, "seconds": round(time.monotonic() - built, 2)}}
    process.join()
    return {**answer, "caught": found, "traces": traces, "seconds": round(time.monotonic() - start, 1)}


def _child(pipe: Connection, example: Path, runtime: Path, cache: Path, seconds: float, seed: int) -> None:
    os.environ["XDG_CACHE_HOME"] = str(cache)
    from polysome.backends.nf_cpp import build, types_code
    from polysome.engines import ENGINES, native
    from polysome.engines.options import Unsupported
    from polysome.testing.builtin.base import Broken
    from polysome.testing.builtin.compare import same
    from polysome.testing.spec import load

    original = build.folder
    build.folder = lambda name: runtime if name == "runtime" else original(name)
    native.build = partial(build.build, flags=FLAGS)
    tables = [f"{path.stem}={path}" for path in sorted(example.parent.glob("*.csv"))]
    spec = load(example)
    configured = load(example, config=[*map(str, example.parent.glob("config.toml")), *tables])
    try:
        build.build(spec.program, FLAGS)
    except (build.BuildError, types_code.Unsupported) as error:
        pipe.send(("refused", str(error)[:400]))
        return
    pipe.send(("built", None))
    end, tried = time.monotonic() + seconds, 0
    for one, trace, options in _runs(spec, configured, seed):
        try:
            expected = ENGINES["interp"].run(one.program, trace, options)
            found = ENGINES["native"].run(one.program, trace, options)
        except Unsupported:
            continue
        try:
            same(expected, found, "as C++")
            if [made.cause for made in expected.emitted] != [made.cause for made in found.emitted]:
                raise Broken((), "as C++, packets are emitted because of others")
        except Broken as broken:
            pipe.send(("broken", (f"{options}: {broken}"[:300], len(trace.arrivals))))
            return
        tried += 1
        pipe.send(("trace", tried))
        if time.monotonic() > end:
            return


def _runs(spec: Any, configured: Any, seed: int) -> Iterator[tuple[Any, Any, Any]]:
    """Specs with little room and with much, with config that is made up or the example's, traces, and ways to run
    them, for ever. Specs of native_specs.py have traces of their own."""
    from polysome.engines.options import RunOptions
    from polysome.testing import traffic
    from polysome.testing.builtin.time_jumps import jumps

    gap = max(jumps(spec.program), default=10**9)
    specs = (spec.small(), configured.small(1), spec.small(1), configured)
    ways = (
        RunOptions(),
        RunOptions(batch=1),
        RunOptions(jump=gap, seed=seed),
        RunOptions(collisions=True),
        RunOptions(ties=5),
        RunOptions(steps=3),
        RunOptions(cores=3),
    )
    if spec.path.stem in native_specs.OWN:
        for number, trace in enumerate(native_specs.traces(spec.path.stem, spec, seed)):
            yield spec, trace, ways[0]
            yield spec, trace, ways[1 + number % (len(ways) - 1)]
    for number in count():
        one = specs[number % len(specs)]
        for trace in traffic.seeded(one, 10_000 * seed + number, count=FEW):
            yield one, trace, ways[0]
            yield one, trace, ways[1 + number % (len(ways) - 1)]


def mutated_runtime(source: Path, file: str, text: str, folder: Path) -> Path:
    """A copy of the runtime in which one header has another text."""
    copy = folder / "runtime"
    shutil.copytree(source, copy)
    (copy.parent / file).write_text(text, encoding="utf-8")
    return copy
