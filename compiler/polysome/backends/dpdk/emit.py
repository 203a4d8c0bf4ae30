"""The source of the DPDK program of an NF; what it does is in runtime/host/dpdk.hpp."""

from __future__ import annotations

from polysome.backends.nf_cpp.generate import namespace
from polysome.backends.templates import fill
from polysome.ir import program as ir


def emit(program: ir.Program) -> dict[str, str]:
    """The program's files, by path in the folder of the NF."""
    return {"dpdk.cpp": fill("program/dpdk.cpp", {"nf": namespace(program)})}
