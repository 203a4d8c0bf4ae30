"""The system of an NF as a shared library: its P4 program as C++, and the NF, built together and kept in the cache."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

from polysome.backends.nf_cpp.build import CHECKED, built, users_flags
from polysome.backends.nf_cpp.generate import generate, namespace
from polysome.backends.tofino.program import tofino_program
from polysome.p4 import program as pr
from polysome.p4.coverage import Coverage
from polysome.p4.limits import ChipLimits
from polysome.p4.points import Points
from polysome.plan.design import Design
from polysome.plan.targets import Switch

_HEADERS = ("nf/generated.hpp", "switch/hash.hpp", "switch/switch.hpp", "switch/table.hpp", "system/abi.hpp")
_FLAGS = (*CHECKED, "-march=native")
_COUNTED = (*CHECKED, "-O0")  # used for little traffic, so it is built fast


def build(design: Design, more: Mapping[str, str] = MappingProxyType({}), *, counted: bool = False) -> Path:
    """The library, from the cache if it was built before. Raises BuildError, and Unsupported of `nf_cpp.types_code`.

    `nf_cpp.build.missing` must be None. Designs that differ in what is no part of the P4 program share a library.
    `more`: headers, text by name, that the library includes last, for what a caller adds to its functions.
    `counted`: the switch counts what of its program is reached (`nothing_reached`, `Running.coverage`).
    """
    name = namespace(design.program)
    header = generate(design.program, defaults=False, carry=design.carry)
    switch = translated(f"{name}.p4", p4_text(design), limits(design.site.switch), counted)
    source = _source(name) + "".join(f'#include "{added}"\n' for added in more)
    flags = (*(_COUNTED if counted else _FLAGS), *users_flags())
    return built(name, header, source, flags, {f"{name}_switch.hpp": switch, **more}, _HEADERS)


def p4_program(design: Design) -> pr.Program:
    """The P4 program as our front end reads its text."""
    return _program(f"{namespace(design.program)}.p4", p4_text(design), limits(design.site.switch))


def nothing_reached(design: Design) -> Coverage:
    """The coverage of the P4 program before any run."""
    text = p4_text(design)
    points = Points(p4_program(design))
    return Coverage(points, text, (0,) * len(points.outcomes))


@lru_cache(maxsize=64)
def p4_text(design: Design) -> str:
    """The P4 program."""
    chip, architecture = design.site.switch.architecture, design.plan.architecture
    return tofino_program(design.program, design.ways, design.sizes, design.addresses, chip, architecture)


@lru_cache(maxsize=64)
def translated(name: str, p4: str, chip: ChipLimits, counted: bool = False) -> str:
    """The P4 program as a C++ header. SpecError if it is outside the subset, which is the generator's fault."""
    from polysome.p4.translate.translate import translate

    program = _program(name, p4, chip)
    return translate(program, chip, Points(program) if counted else None)


@lru_cache(maxsize=64)
def _program(name: str, p4: str, chip: ChipLimits) -> pr.Program:
    from polysome.p4.load import load  # with ANTLR, which takes long to import

    return load(name, p4, chip)


def limits(chip: Switch) -> ChipLimits:
    """What the P4 front end has to know of a chip."""
    fcs = chip.packet_length_counts_fcs_bytes
    return ChipLimits(
        name=chip.name,
        arch=chip.architecture,
        ingress_parser_depth=chip.ingress_depth_most_bytes,
        egress_parser_depth=chip.egress_depth_most_bytes,
        mirror_header=chip.mirror_header_most_bytes,
        mirror_sessions=chip.mirror_sessions,
        gateway_bits=chip.gateway_bits,
        stateful_compares=chip.stateful_compares,
        stateful_operands=chip.stateful_operands,
        stateful_wraps=chip.stateful_wraps,
        length_extra=fcs,
        mirror_length_extra=fcs,
        mirror_cuts_header=chip.mirror_length_counts_header,
        mirror_cuts_fcs=chip.mirror_length_counts_fcs_bytes,
        queue_cell=chip.cell_bytes,
        residual_zero_is_ones=chip.checksum_residual_zero_is_ones,
    )


def _source(name: str) -> str:
    """The library: its functions, and nothing else, are seen from outside."""
    return f"""#include "{name}.hpp"
#include "{name}_switch.hpp"

#include "switch/switch.hpp"
#include "system/abi.hpp"

#pragma GCC visibility push(default)
POLYSOME_SYSTEM(polysome::p4::generated::Program, polysome::nf::{name}::Nf)
#pragma GCC visibility pop
"""
