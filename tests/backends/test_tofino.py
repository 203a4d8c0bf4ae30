"""The P4 program of the switch: for every example, for both chips, and by the real compiler where it is."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from tests.backends.examples import EXAMPLES, program

from polysome.backends.tofino.names import instance
from polysome.backends.tofino.program import Addresses, Sizes, tofino_program
from polysome.plan.frames import BRIDGE
from polysome.plan.ways import ways

NAMES = sorted(path.name for path in EXAMPLES.iterdir() if path.is_dir())
OF_THE_PAPER = ["forwarder", "load_balancer", "nat", "policer", "reframer"]
# Ribosome's own program: its Table 3, and the stages that the open compiler gives it (percent of all there is).
RIBOSOME = {"stages": 11, "sram": 7.84, "tcam": 1.14, "vliw": 13.82, "exact_xbar": 13.92, "ternary_xbar": 0.69}
STAGES = 12  # of Tofino 1
SIZES = Sizes(
    slots=16384,
    queue_pairs=1024,
    buckets=1024,
    cells=65536,
    cell=2048,
    least=128,
    most=2040,
    timeout=16,
    most_reads=16,
    tries=8,
    nf_ports=4,
    server_ports=16,
)


@cache
def text(name: str, architecture: str = "tna") -> str:
    spec = program(name)
    return tofino_program(spec, ways(spec), SIZES, Addresses(0x020000000001, 0xC0A828FE, 68), architecture)


def test_the_load_balancers_switch(golden: Callable[[Path, str], None]) -> None:
    golden(Path(__file__).parents[1] / "golden" / "p4" / "load_balancer.txt", text("load_balancer"))


@pytest.mark.parametrize("name", NAMES)
def test_both_chips_get_the_same_program(name: str) -> None:
    one, two = text(name), text(name, "t2na")
    assert one.replace("#include <tna.p4>", "") == two.replace("#include <t2na.p4>", "")


# ---------------------------------------------------------------- the real compiler


def compile_with_p4c(name: str, folder: Path, target: str, architecture: str) -> str:
    """What the compiler says; skips where it is not. Its exit status is 0 for programs that no chip holds, too."""
    if "P4C" not in os.environ:
        pytest.skip("P4C does not name a p4c with its Tofino backend")
    source = folder / f"{name}.p4"
    source.write_text(text(name, architecture), encoding="utf-8")
    command = [*shlex.split(os.environ["P4C"]), "--target", target, "--arch", architecture, "-o", str(folder / "out")]
    done = subprocess.run([*command, str(source)], capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", NAMES)
def test_the_open_compiler_takes_it(name: str, tmp_path: Path) -> None:
    said = compile_with_p4c(name, tmp_path, "tofino", "tna")
    assert "container" not in said and "read size" not in said, said[-3000:]  # such a warning is a wrong program
    (path,) = tmp_path.rglob("*.bfa")
    assembly = path.read_text(encoding="utf-8")
    assert max(map(int, re.findall(r"^stage (\d+) ", assembly, re.MULTILINE))) < STAGES
    assert len(set(parser_tests(assembly))) > 1, "all frames take the same way through the parser"
    leaves = stateful(assembly, "left0")
    assert [leaves["arrive0"], leaves["is_there0"], leaves["leave0"]] == [
        ["clr_bit"],
        ["read_bitc", "output alu_lo"],
        ["set_bitc", "output alu_lo"],  # the old bit, inverted
    ]


def parser_tests(assembly: str) -> list[str]:
    """What the rows of the ingress parser compare with."""
    body = assembly.split("\nparser ingress:")[1].split("\ndeparser ingress:")[0]
    return re.findall(r"^      (\S+):$", body, re.MULTILINE)


def stateful(assembly: str, register: str) -> dict[str, list[str]]:
    """The instructions of each action of a register."""
    body = re.split(rf"\n  stateful \S*Ingress\.{register}:\n", assembly)[1]
    lines = re.split(r"\n  \w", body)[0].split("    actions:\n")[1]
    found = re.findall(r"^      (\w+)_\d+:\n((?:      - .*\n?)+)", lines, re.MULTILINE)
    return {name: [line.strip(" -") for line in said.splitlines()] for name, said in found}


def test_the_plan_knows_how_long_a_bridge_header_is() -> None:
    (body,) = re.findall(r"header bridge_h \{(.*?)\}", text("load_balancer"), re.DOTALL)
    assert sum(map(int, re.findall(r"bit<(\d+)>", body))) == 8 * BRIDGE


def test_headers_leave_in_the_order_of_the_wire() -> None:
    """Deparsers emit a struct's headers in its order, which must be the wire's on every way."""
    for name in NAMES:
        spec = program(name)
        (body,) = re.findall(r"struct ingress_headers_t \{(.*?)\}", text(name), re.DOTALL)
        place = {field: n for n, field in enumerate(re.findall(r"\w+ (\w+);", body))}
        for way in ways(spec):
            places = [place[instance(i, spec.parser)] for i in way.instances]
            assert places == sorted(places)
