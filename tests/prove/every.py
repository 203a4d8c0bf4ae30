"""Proves what is emitted for every example, for every chip and everything that may be carried: `make proofs`.

What is the same to the prover is proved once by each of two processes. Programs that are alike ask mostly the same
(`polysome.prove.questions`), so the processes begin at either end of a list in which they stand together, and meet
somewhere in it. Exit code 1 if something is not proved.
"""

from __future__ import annotations

import gc
import re
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from multiprocessing import get_context
from multiprocessing.queues import Queue
from multiprocessing.sharedctypes import Synchronized
from typing import TypeAlias

from tests.backends import examples
from tests.backends.examples import EXAMPLES
from tests.prove.kit import designed

from polysome.analysis.framed import framed_classes
from polysome.analysis.layout import Carry, ClassLayout
from polysome.backends.nf_cpp.generate import generate
from polysome.backends.system.library import p4_text
from polysome.backends.system.proof import case_of
from polysome.ir import program as ir
from polysome.ir.walk import walk
from polysome.plan.design import Design
from polysome.prove.obligations import prove
from polysome.prove.offsets import offsets
from polysome.prove.result import Result, Status
from polysome.syntax.diagnostics import SpecError

CARRIES: tuple[Carry, ...] = ("fields", "headers")
TARGETS = ("tofino", "tofino2")
program = cache(examples.program)
Asked: TypeAlias = tuple[str, str, Carry]


@dataclass(frozen=True)
class Proof:
    """`results`: how many there are; `twin`: the program, proved before, that is the same to the prover."""

    name: str
    target: str
    carry: Carry
    results: int
    failed: tuple[str, ...]
    seconds: float
    twin: str = ""

    def __str__(self) -> str:
        said = f"NOT PROVED: {self.failed[0]}" if self.failed else f"as {self.twin}" if self.twin else "proved"
        return f"{self.name:<14} {self.target:<8} {self.carry:<8} {self.results:6,} {self.seconds:6.1f} s  {said}"


def proof_of(asked: Asked, known: dict[object, Proof]) -> Proof:
    """`known`: those that were found, by what is asked; they become more."""
    name, target, carry = asked
    start = time.monotonic()
    made = on_the_chip(program(name), target, carry)
    key = question(made)
    if twin := known.get(key):
        failed = (*twin.failed, *_failed(_own(made)))
        first = f"{twin.name}, {twin.target}, {twin.carry}"
        return Proof(name, target, carry, twin.results, failed, time.monotonic() - start, first)
    results = list(prove(case_of(made), 600))
    known[key] = Proof(name, target, carry, len(results), _failed(results), time.monotonic() - start)
    return known[key]


def _own(made: Design) -> Iterator[Result]:
    """What is proved of the NF's own text: it has the NF's name, and its functions."""
    text = generate(made.program, defaults=False, carry=made.carry)
    yield from offsets(made.program, framed_classes(made.program, made.carry), text)


def _failed(results: Iterable[Result]) -> tuple[str, ...]:
    return tuple(f"{r.obligation}: {r.subject}: {r.why}" for r in results if r.status != Status.proved)


def on_the_chip(spec: ir.Program, target: str, carry: Carry) -> Design:
    """On the software site where the plan does not fit the chip's."""
    try:
        return designed(spec, target, carry)
    except SpecError:
        return designed(spec, "software", carry)


def question(made: Design) -> object:
    """Equal for programs of whose switch the prover sees nothing that differs."""
    spec, text = made.program, re.sub(r"//.*", "", p4_text(made))
    layouts = [_frames(layout) for layout in framed_classes(spec, made.carry)]
    ways = [replace(way, layout=_frames(way.layout)) for way in made.ways]
    seen = [_bare((ways, made.sizes, made.addresses, made.site.switch, layouts))]
    seen += [_bare((spec.parser, spec.schedule.cls)), str(len(spec.ports))]
    called = set[str]()
    while new := {fn for part in seen for fn in re.findall(r"fn='(\w+)'", part)} - called:
        called |= new
        seen += [_bare(spec.fns[fn]) for fn in sorted(new)]
    return (text, *seen)


def _frames(layout: ClassLayout) -> ClassLayout:
    """Without the reasons for it."""
    return replace(layout, needs=(), kept=())


def _bare(part: object) -> str:
    """All that a part of a program says, but for where it stands in its file."""
    return re.sub(r"Span\([^()]*\)", "", repr(part))


def alike() -> list[str]:
    """The examples, those with equal parsers, and of them those that write the same fields, next to each other."""

    def key(name: str) -> tuple[str, list[tuple[int, int]], str]:
        spec = program(name)
        written = {(n.instance, n.field) for n in walk(spec.packet_handlers) if isinstance(n, ir.FieldWrite)}
        return _bare(spec.parser), sorted(written), name

    return sorted((path.stem for path in EXAMPLES.glob("*/*.nf")), key=key)


def work(asked: Sequence[Asked], left: Synchronized[int], found: Queue[Proof | None]) -> None:
    """Proves those that nobody has begun, from the first on."""
    known: dict[object, Proof] = {}
    programs = iter(asked)
    try:
        while _one_more(left):
            found.put(proof_of(next(programs), known))
            gc.freeze()  # what is remembered stays: no need to look through it for cycles again
    finally:
        found.put(None)


def _one_more(left: Synchronized[int]) -> bool:
    with left.get_lock():
        left.value -= 1
        return left.value >= 0


def main() -> int:
    start = time.monotonic()
    asked, context = list(product(alike(), TARGETS, CARRIES)), get_context("spawn")
    left, queue = context.Value("i", len(asked)), context.Queue()
    workers = [context.Process(target=work, args=(order, left, queue)) for order in (asked, asked[::-1])]
    for worker in workers:
        worker.start()
    found = []
    for _ in workers:
        for proof in iter(queue.get, None):
            found.append(proof)
            print(proof, flush=True)
    for worker in workers:
        worker.join()
    failed = [proof for proof in found if proof.failed]
    seconds, different = time.monotonic() - start, sum(not proof.twin for proof in found)
    print(f"{len(found)} programs, {different} of them different, {len(failed)} not proved, {seconds:.0f} s")
    return bool(failed) or any(worker.exitcode for worker in workers)


if __name__ == "__main__":
    sys.exit(main())
