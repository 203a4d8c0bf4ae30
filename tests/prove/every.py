"""Proves what is emitted for every example, for every chip and everything that may be carried: `make proofs`.

Equal texts with equal plans are proved once. Exit code 1 if something is not proved.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from multiprocessing import get_context

from tests.backends.examples import EXAMPLES
from tests.prove.kit import example

from polysome.analysis.layout import Carry
from polysome.backends.system.design import Design
from polysome.backends.system.library import p4_text
from polysome.backends.system.proof import case_of
from polysome.prove.obligations import prove
from polysome.prove.result import Status
from polysome.syntax.diagnostics import SpecError

CARRIES: tuple[Carry, ...] = ("fields", "headers")
TARGETS = ("tofino", "tofino2")


@dataclass(frozen=True)
class Proof:
    name: str
    target: str
    carry: Carry
    results: int
    failed: tuple[str, ...]
    seconds: float


def proved(which: tuple[str, str, Carry]) -> Proof:
    """On the software site where the plan does not fit the chip's."""
    name, target, carry = which
    start = time.monotonic()
    found = list(prove(case_of(_designed(*which)), 600))
    failed = tuple(f"{r.obligation}: {r.subject}: {r.why}" for r in found if r.status != Status.proved)
    return Proof(name, target, carry, len(found), failed, time.monotonic() - start)


def _designed(name: str, target: str, carry: Carry) -> Design:
    try:
        return example(name, target, carry)
    except SpecError:
        return example(name, "software", carry)


def distinct() -> Iterator[tuple[str, str, Carry]]:
    """Each of another text or another plan of ways."""
    seen = set()
    names = sorted(path.stem for path in EXAMPLES.glob("*/*.nf"))
    for name, target, carry in product(names, TARGETS, CARRIES):
        made = _designed(name, target, carry)
        key = (p4_text(made), repr(case_of(made).ways))
        if key not in seen:
            seen.add(key)
            yield name, target, carry


def main() -> int:
    start = time.monotonic()
    with get_context("spawn").Pool(2) as pool:
        found = []
        for proof in pool.imap_unordered(proved, list(distinct())):
            found.append(proof)
            said = "proved" if not proof.failed else f"NOT PROVED: {proof.failed[0]}"
            about = f"{proof.name:<14} {proof.target:<8} {proof.carry:<8} {proof.results:6,} {proof.seconds:6.1f} s"
            print(f"{about}  {said}", flush=True)
    failed = [proof for proof in found if proof.failed]
    print(f"{len(found)} programs, {len(failed)} not proved, {time.monotonic() - start:.0f} s")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
