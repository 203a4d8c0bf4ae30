"""Cycles of recorded instructions, from LLVM's machine-code analyser, llvm-mca.

It simulates the pipeline of one processor model: every load hits the first-level cache, every branch is predicted, and
loads never wait for stores to the same place.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from polysome.backends.cost.tracing import CostError, output, tool

TOGETHER = 32  # packets that follow each other along one path: the NF's batch

_UNNAMED = ("generic", "x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4")  # not one processor's names
# What stands in where LLVM does not know the processor: the newest of the maker that LLVM 14 has a model of.
_OF_MAKER = {"AuthenticAMD": "znver3", "GenuineIntel": "icelake-server"}
_OTHER = "skylake"

_SYNTAX = re.compile(r"^<stdin>:(\d+):\d+: error:", re.MULTILINE)
_UNMODELLED = re.compile(r"note: instruction:\s*(.*)")


@dataclass(frozen=True)
class Processor:
    """The model that is simulated, and the version of LLVM. `own`: the model is that of this machine."""

    name: str
    own: bool
    llvm: str


@dataclass(frozen=True)
class Cycles:
    """Cycles of a piece of straight code, for one packet of TOGETHER in a row; `unknown`: instructions not modelled."""

    cycles: float
    instructions: int
    unknown: int


@cache
def processor() -> Processor:
    """This machine's, by the name that the compiler gives it, else the model that is nearest."""
    clang = tool("clang++")
    said = subprocess.run(
        [clang or "", "-march=native", "-E", "-v", "-x", "c++", "/dev/null"], capture_output=True, text=True
    ).stderr
    own = re.search(r"-target-cpu (\S+)", said)
    version = re.search(r"LLVM version (\S+)", output("llvm-mca", "--version"))
    llvm = version[1] if version else "?"
    if own is not None and own[1] not in _UNNAMED:
        return Processor(own[1], True, llvm)
    about = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    maker = re.search(r"vendor_id\s*:\s*(\S+)", about)
    return Processor(_OF_MAKER.get(maker[1] if maker else "", _OTHER), False, llvm)


def cycles(pieces: Sequence[Sequence[str]], model: Processor) -> list[Cycles]:
    """The cycles of each piece, its instructions as `disassembly` gives them."""
    known = _modelled({text for piece in pieces for text in piece}, model)
    codes = [tuple(line for text in piece for line in known.get(text, ())) for piece in pieces]
    found: dict[tuple[str, ...], float] = {(): 0.0}
    different = [code for code in dict.fromkeys(codes) if code]
    if different:
        lines = [line for code in different for line in ("# LLVM-MCA-BEGIN", *code, "# LLVM-MCA-END")]
        said = json.loads(_analysed(lines, model, f"-iterations={TOGETHER}"))
        for code, region in zip(different, said["CodeRegions"], strict=True):
            found[code] = region["SummaryView"]["TotalCycles"] / TOGETHER
    return [
        Cycles(found[code], len(piece), sum(text not in known for text in piece))
        for code, piece in zip(codes, pieces, strict=True)
    ]


def straight(text: str) -> tuple[str, ...]:
    """An instruction as the analyser takes it.

    Calls and returns, for which it would assume 100 cycles, are what they do to memory, since the code that is called
    follows; and so are pushes and pops: processors keep count of the stack apart, without waiting for it.
    """
    mnemonic, _, operands = re.sub(r"^(notrack|bnd|data16)\s+", "", text).partition(" ")
    operands = operands.strip()
    match mnemonic:
        case "callq" | "call":
            return (f"jmpq {operands}" if operands.startswith("*") else "jmp 0", "movq $0, -8(%rsp)")
        case "retq" | "ret":
            return ("jmpq *(%rsp)",)
        case "pushq" | "push" if "(" not in operands:
            return (f"movq {operands}, -8(%rsp)",)
        case "popq" | "pop" if "(" not in operands:
            return (f"movq (%rsp), {operands}",)
        case _ if mnemonic.startswith("nop"):
            return ("nop",)
        case _:
            return (f"{mnemonic} {operands}",)


def _modelled(texts: Iterable[str], model: Processor) -> dict[str, tuple[str, ...]]:
    """The instructions that the analyser understands and has in the model, as it takes them."""
    left = {text: straight(text) for text in sorted(texts)}
    while left:
        lines = [(text, line) for text, code in left.items() for line in code]
        try:
            _analysed([line for _, line in lines], model, "-iterations=1")
            return left
        except CostError as error:
            said = str(error)
        refused = {lines[int(number) - 1][0] for number in _SYNTAX.findall(said)}
        if (unmodelled := _UNMODELLED.search(said)) is not None:
            bare = _bare(unmodelled[1])
            refused |= {text for text, line in lines if _bare(line) == bare}
        if not refused:
            raise CostError(said)
        left = {text: code for text, code in left.items() if text not in refused}
    return left


def _bare(line: str) -> str:
    """What of an instruction is the same however it is printed: its name without the size, its registers."""
    name, _, operands = line.strip().partition("\t" if "\t" in line.strip() else " ")
    return f"{name.strip()} {','.join(re.findall(r'%[a-z0-9]+', operands))}"


def _analysed(lines: Iterable[str], model: Processor, *options: str) -> str:
    arguments = (f"-mcpu={model.name}", "-json", "-all-views=false", "-summary-view", *options, "-")
    return output("llvm-mca", *arguments, given="\n".join(lines) + "\n")
