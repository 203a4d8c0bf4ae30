"""The library of a system: its structs are those of the C headers, and records are read as they are written."""

from __future__ import annotations

import ctypes
import re
import subprocess
from dataclasses import replace
from pathlib import Path
from struct import pack

import pytest
from tests.backends.examples import program

from polysome.backends.controller.config import Places, controller_config
from polysome.backends.nf_cpp.build import compiler
from polysome.backends.nf_cpp.library import Failed
from polysome.backends.system import abi, structs
from polysome.backends.system.cables import DEEP
from polysome.backends.system.configure import Run, configure
from polysome.backends.system.faults import parse
from polysome.backends.system.library import p4_text
from polysome.plan import targets
from polysome.plan.architectures.ribosome.store import parking_of, queue_pairs
from polysome.plan.design import NOTHING, default_design
from polysome.resources import folder

STRUCTS = {
    "polysome_link": structs.Link,
    "polysome_cable": structs.Cable,
    "polysome_server": structs.Server,
    "polysome_fault": structs.Fault,
    "polysome_system": structs.System,
    "polysome_progress": structs.Progress,
    "polysome_port": structs.Port,
    "polysome_arrival": abi.Arrival,
}
RENAMED = {"in_": "in", "from_": "from"}  # words of Python


@pytest.mark.skipif(compiler() is None, reason="no C++ compiler")
def test_structs_are_those_of_the_headers(tmp_path: Path) -> None:
    lines = []
    for name, struct in STRUCTS.items():
        lines.append(f'    std::printf("{name} %zu\\n", sizeof({name}));')
        for member, *_ in struct._fields_:  # type: ignore[misc]
            real = RENAMED.get(member, member)
            lines.append(f'    std::printf("{name}.{member} %zu\\n", offsetof({name}, {real}));')
    source = tmp_path / "sizes.cpp"
    body = "\n".join(lines)
    source.write_text(
        f'#include <cstddef>\n#include <cstdio>\n#include "host/library.hpp"\n#include "system/c_config.hpp"\n'
        f"int main() {{\n{body}\n}}\n"
    )
    made = tmp_path / "sizes"
    command = [*(compiler() or ()), "-std=c++20", "-O0", f"-I{folder('runtime')}", str(source), "-o", str(made)]
    subprocess.run(command, check=True, capture_output=True)
    said = subprocess.run([made], check=True, capture_output=True, text=True).stdout
    found = dict(line.split() for line in said.splitlines())
    for name, struct in STRUCTS.items():
        assert int(found[name]) == ctypes.sizeof(struct), name
        for member, *_ in struct._fields_:  # type: ignore[misc]
            assert int(found[f"{name}.{member}"]) == getattr(struct, member).offset, f"{name}.{member}"


def test_kinds_of_records_are_those_of_the_header() -> None:
    text = (folder("runtime") / "system" / "records.hpp").read_text(encoding="utf-8")
    names = re.search(r"enum class Record : uint8_t \{(.*?)\}", text, re.DOTALL)
    assert names is not None
    assert [name.strip() for name in names[1].split(",") if name.strip()] == [kind.name for kind in abi.Kind]


def test_records_are_read_as_written() -> None:
    head = pack("<BBHIQQQ", 0, 0, 3, 4, 99, 7, abi.NONE) + b"abcd"
    followed = pack("<BBHIQQQ", 0, 3, 3, 4, 99, 7, abi.NONE) + b"abcd"
    lost = pack("<BBHIQQQ", 5, 0, 2, 0, 100, abi.NONE, 12)
    first, second = abi.parse(head + lost)
    assert first == (abi.Kind.left, 3, 99, 7, None, b"abcd", b"")
    assert second == (abi.Kind.lost, 2, 100, None, 12, b"", b"")
    (third,) = abi.parse(followed)
    assert third == (abi.Kind.left, 3, 99, 7, None, b"a", b"bcd")
    with pytest.raises(Failed, match="cut off"):
        list(abi.parse(head + lost[:-1]))
    for damaged in (head[:-1], head[:1] + b"\5" + head[2:]):
        with pytest.raises(Failed, match="damaged"):
            list(abi.parse(damaged))


def test_what_a_design_says_is_what_the_library_gets() -> None:
    made = default_design(program("load_balancer"), 3, 2)
    system = configure(made, Run([5, 6], start=1000, seed=4, faults=parse("server2:loss=0.5", 3), deep=True))
    assert (system.seed, system.start, system.server_count) == (4, 1000, 3)
    assert [system.servers[i].queue_pairs for i in range(3)] == [2, 2, 2]
    assert system.traffic_count == len(made.program.ports)
    assert system.nf_queue == DEEP
    assert [system.sizes[i] for i in range(system.size_count)] == [5, 6]
    assert (system.faults[0].kind, system.faults[0].where, system.faults[0].index) == (0, 1, 2)
    assert system.servers[0].region == made.sizes.cells * made.sizes.cell
    macs = {bytes(system.servers[i].mac) for i in range(3)} | {bytes(system.switch_mac)}
    assert len(macs) == 4 and made.nf_mac.to_bytes(6, "big") not in macs, "every station has an address of its own"


def test_sizes_are_the_plans() -> None:
    made = default_design(program("load_balancer"))
    parking = parking_of(made.plan)
    assert parking is not None
    sizes = made.sizes
    assert (sizes.slots, sizes.cells, sizes.cell) == (parking.slots.value, parking.cells.value, parking.cell.value)
    assert (sizes.least, sizes.most) == (parking.threshold.value + 1, parking.longest.value)
    for count in (sizes.slots, sizes.cells, sizes.cell, sizes.buckets, sizes.queue_pairs):
        assert count & (count - 1) == 0
    assert [way.number for way in made.ways] == list(range(1, len(made.ways) + 1))


def test_a_system_that_splits_nothing() -> None:
    made = default_design(program("bridge"))
    assert made.ways == () and made.sizes == NOTHING and queue_pairs(made.plan) == ()


def test_what_is_no_library_is_said(tmp_path: Path) -> None:
    with pytest.raises(OSError):
        abi.Library(tmp_path / "missing.so")


def test_the_chip_of_another_name_has_its_architecture() -> None:
    design = default_design(program("forwarder"))
    for model in ("tofino", "tofino2"):
        chip = replace(targets.switch(model), name="mine")
        text = p4_text(replace(design, site=replace(design.site, switch=chip)))
        assert f"#include <{chip.architecture}.p4>" in text
    assert targets.switch("tofino2").architecture == "t2na"


def test_what_frames_carry_is_all_the_same_where_there_are_none() -> None:
    """All packets of the bridge go whole: its programs, and their hashes, are the same then."""
    fields, headers = (default_design(program("bridge"), carry=carry) for carry in ("fields", "headers"))
    assert not fields.ways and fields.carry == headers.carry
    places = Places("tls", "state", "admin", "config")
    assert controller_config(fields, places) == controller_config(headers, places)
    assert default_design(program("nat"), carry="headers").carry == "headers"
