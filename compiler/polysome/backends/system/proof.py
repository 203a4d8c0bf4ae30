"""The proof that a design's P4 program does what its spec says (`polysome.prove`); equal ones are proved once."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import polysome_protocol
from polysome.analysis.framed import framed_classes
from polysome.backends.nf_cpp.build import BuildError, cache_folder, used
from polysome.backends.nf_cpp.generate import generate, namespace
from polysome.backends.nf_cpp.types_code import Unsupported
from polysome.backends.system.library import limits, p4_program, p4_text
from polysome.ir.printer import show
from polysome.plan.design import Design
from polysome.plan.kinds import mirror_length
from polysome.prove.case import Addresses, Case
from polysome.prove.obligations import prove
from polysome.prove.result import Result, Status

SECONDS = 600.0  # after which a proof is none


def case_of(design: Design) -> Case:
    """What is to be proved."""
    return Case(program=design.program, p4=p4_program(design), entries={}, nf=_nf(design), **_planned(design))


def _planned(design: Design) -> dict[str, Any]:
    """What the case has of plan, site and chip, by its fields."""
    chip, sizes, own = design.site.switch, design.sizes, design.addresses
    bounded = [way.within(sizes.least, sizes.most) for way in design.ways]
    return {
        "chip": limits(chip),
        "ways": tuple(way for way in bounded if way is not None),
        "layouts": framed_classes(design.program, design.carry),
        "addresses": Addresses(own.mac, own.ip, own.recirculation_port),
        "sessions": tuple(mirror_length(chip, way.depth(design.program.parser)) for way in design.ways),
        "cell": sizes.cell,
        "cells": sizes.cells,
        "timeout": sizes.timeout,
        "most_reads": sizes.most_reads,
    }


def _nf(design: Design) -> str:
    try:
        return generate(design.program, defaults=False, carry=design.carry)
    except Unsupported:
        return ""


def results(design: Design, seconds: float = SECONDS) -> Iterator[Result]:
    """What `prove` finds, as it finds it."""
    yield from prove(case_of(design), seconds)


def known(design: Design) -> bool:
    """Was an equal design proved before?"""
    try:
        return used(_place(design))
    except BuildError:
        return False


def remember(design: Design, found: list[Result]) -> None:
    """Keeps that all of it was found to be proved, if it was and there is room for it."""
    if any(result.status != Status.proved for result in found):
        return
    try:
        _place(design).touch()
    except (OSError, BuildError):
        return


def _place(design: Design) -> Path:
    """By all that the proof depends on: both texts, the program, the plan's ways, the chip, the prover itself.

    The P4 is not read for it: that takes longer than all else.
    """
    parts = (p4_text(design), _nf(design), show(design.program), repr(_planned(design)), _prover())
    digest = hashlib.sha256("\0".join(parts).encode())
    return cache_folder() / f"{namespace(design.program)}-{digest.hexdigest()[:32]}.proof"


@cache
def _prover() -> str:
    """The sources that a proof rests on."""
    top = Path(__file__).parents[2]
    files = sorted(path for room in ("prove", "smt", "p4", "symbolic", "ir") for path in (top / room).rglob("*.py"))
    files += sorted(Path(polysome_protocol.__file__).parent.glob("*.*"))
    return version("z3-solver") + hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()
