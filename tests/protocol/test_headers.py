"""Layouts of headers: what Python and C++ read and write is the same, and so is what the P4 program declares."""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path

import pytest
from tests.backends.examples import program

from polysome.backends.nf_cpp.build import compiler, missing
from polysome.backends.system.library import p4_text
from polysome.plan.design import default_design
from polysome_protocol import ETHERNET, FRAMES, HEADERS, TAG
from polysome_protocol.headers import Field, Header, header
from polysome_protocol.write.cpp import type_of

ROOT = Path(__file__).parents[2]
MAIN = """#include <cstdio>
#include <cstring>
#include "protocol/protocol.hpp"
using namespace polysome::protocol;

// Writes a value into a header at argument 3, and prints the header and what is read from it.
template <class Field>
void turn(const char* value, const char* hex, size_t size) {
    uint8_t bytes[64];
    for (size_t i = 0; i < size; ++i) std::sscanf(hex + 2 * i, "%2hhx", bytes + i);
    unsigned long long told = 0;
    std::sscanf(value, "%llu", &told);
    Field::write(bytes, static_cast<typename Field::Value>(told));
    for (size_t i = 0; i < size; ++i) std::printf("%02x", bytes[i]);
    std::printf(" %llu %llu\\n", static_cast<unsigned long long>(Field::read(bytes)),
                static_cast<unsigned long long>(Field::most));
}

int main() {
    char name[64], value[64], hex[256];
    while (std::scanf("%63s %63s %255s", name, value, hex) == 3) {
CASES
    }
}
"""


def fields() -> Iterator[tuple[Header, Field]]:
    yield from ((one, field) for one in HEADERS.values() for field in one.fields)


def boundaries(field: Field) -> set[int]:
    return {0, 1, field.most, field.most - 1, field.most >> 1, (field.most >> 1) + 1} - {-1}


@pytest.mark.skipif(missing() is not None, reason="needs a C++20 compiler: `apt install clang`")
def test_cpp_and_python_agree(tmp_path: Path) -> None:
    """Every boundary value of every field, beside zeros, ones, and anything."""
    cases = "".join(
        f'        if (std::strcmp(name, "{one.name}.{field.name}") == 0)\n'
        f"            turn<{type_of(one)}::{field.name}>(value, hex, {type_of(one)}::size);\n"
        for one, field in fields()
    )
    (tmp_path / "main.cpp").write_text(MAIN.replace("CASES", cases))
    flags = ["-std=c++20", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-fsanitize=undefined", "-I", "runtime"]
    made = [*(compiler() or ()), *flags, str(tmp_path / "main.cpp"), "-o", str(tmp_path / "main")]
    subprocess.run(made, check=True, cwd=ROOT)
    rng, asked, wanted = random.Random(1), [], []
    for one, field in fields():
        for value in boundaries(field):
            for before in (bytes(one.size), b"\xff" * one.size, rng.randbytes(one.size)):
                asked.append(f"{one.name}.{field.name} {value} {before.hex()}")
                there, own = int.from_bytes(before, "big"), 8 * one.size - field.end
                after = there & ~(((1 << field.bits) - 1) << own) | value << own
                wanted.append(f"{after.to_bytes(one.size, 'big').hex()} {value} {field.most}")
    said = subprocess.run([tmp_path / "main"], input="\n".join(asked), capture_output=True, text=True, check=True)
    differ = [one for one in zip(asked, said.stdout.split("\n"), wanted, strict=False) if one[1] != one[2]]
    assert len(said.stdout.splitlines()) == len(asked) > 500 and not differ, differ[:3]


@pytest.mark.parametrize("name", HEADERS)
def test_python_reads_what_it_writes(name: str) -> None:
    one, rng = HEADERS[name], random.Random(name)
    for field in one.fields:
        for value in boundaries(field):
            packed = one.pack(**{field.name: value})
            assert int.from_bytes(packed, "big") == value << 8 * one.size - field.end
            assert field.read(b"xyz" + packed, 3) == value
    values = {field.name: rng.randint(0, field.most) for field in one.fields}
    assert one.unpack(b"\xff" + one.pack(**values) + b"\xff", 1) == values


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match=r"tag\.seq is 0 to 0x3fffffff"):
        TAG.pack(seq=1 << 30)
    with pytest.raises(KeyError, match="tag has no field `sequence`"):
        TAG.pack(sequence=1)
    with pytest.raises(IndexError):
        TAG.unpack(bytes(TAG.size - 1))


@pytest.mark.parametrize(
    ("widths", "why"),
    [
        ((4, 8, 4), "b fills no whole bytes"),
        ((4, 16), "b fills no whole bytes"),
        ((12, 4), "a fills no whole bytes"),
        ((8, 0), "b fills no whole bytes"),
        ((8, 4), "must have whole bytes"),
        ((), "must have whole bytes"),
    ],
)
def test_layouts_that_nobody_reads_at_once_are_refused(widths: tuple[int, ...], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        header("odd", [{"name": name, "bits": bits} for name, bits in zip("abc", widths, strict=False)])


# ---------------------------------------------------------------- the P4 program

# What each header is in the program: several there, or one of another name.
IN_P4 = {"ethernet": ("split_ethernet_h", "roce_ethernet_h"), "ipv4": ("roce_ipv4_h",), "udp": ("roce_udp_h",)}
IN_P4 |= {"port_metadata": ("port_metadata_t",)}


def declared(p4: str, name: str) -> list[tuple[str, int]]:
    """Fields and widths of a header, or struct, of the text."""
    body = re.split(rf"(?:header|struct) {name} {{", p4)[1].partition("}")[0]
    lines = [line.partition(";")[0].split() for line in body.splitlines() if ";" in line]
    return [(field, int(width.removeprefix("bit<").removesuffix(">"))) for width, field in lines]


@pytest.mark.parametrize("name", sorted(HEADERS))
def test_the_p4_declares_them_so(name: str) -> None:
    p4 = p4_text(default_design(program("load_balancer")))
    wanted = [(field.name, field.bits) for field in HEADERS[name].fields]
    if name == "tag":
        assert [field for part in ("tag_h", "cell_h", "tag_end_h") for field in declared(p4, part)] == wanted
        return
    for one in IN_P4.get(name, (f"{name}_h",)):
        assert declared(p4, one) == wanted


CHANGED = """
import sys
from tests.backends.examples import program
from polysome.plan.design import default_design
from polysome.backends.system.library import p4_program, p4_text
from polysome.prove import wire
from polysome_controller import probe_frames
design = default_design(program("load_balancer"))
p4_program(design)
fields = bytes(range(60))
print(wire.PAIR, wire.SIZE, probe_frames.queue_pair(fields), file=sys.stderr)
print(p4_text(design))
"""


@pytest.mark.parametrize(
    ("order", "asked"),
    [
        ("version flags parse_class seq length queue_pair port", "pkt.lookahead<bit<32>>()[15:0]"),
        ("flags version queue_pair seq port parse_class length", "hdr.tag.queue_pair"),
    ],
)
def test_a_change_of_the_data_is_a_change_everywhere(order: str, asked: str, tmp_path: Path) -> None:
    """Another EtherType, and another order of the tag's fields, in a process that reads such a file. `asked`: where the
    parser has the queue pair from, once it has taken seq."""
    package, now = tmp_path / "polysome_protocol", f"{FRAMES.ether_type:#06x}"
    package.mkdir()
    for file in (ROOT / "runtime" / "protocol" / "polysome_protocol").glob("*.*"):
        (package / file.name).write_bytes(file.read_bytes())
    lines = (package / "protocol.toml").read_text(encoding="utf-8").splitlines(keepends=True)
    first = lines.index("[headers.tag]\n") + 2
    rows = {field.name: lines[first + n] for n, field in enumerate(TAG.fields)}
    lines[first : first + len(rows)] = [rows[name] for name in order.split()]
    (package / "protocol.toml").write_text("".join(lines).replace(now, "0x88b9"), encoding="utf-8")
    env = os.environ | {"PYTHONPATH": f"{tmp_path}:{ROOT}"}
    done = subprocess.run([sys.executable, "-c", CHANGED], env=env, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    ends = dict(zip(order.split(), accumulate(TAG[name].bits for name in order.split()), strict=True))
    places = [ETHERNET.size + ends[name] // 8 - 2 for name in ("queue_pair", "length")]
    assert done.stderr.split() == [*map(str, places), str(places[0] << 8 | places[0] + 1)]
    assert "ETHER_TYPE_SPLIT = 0x88b9;" in done.stdout and now not in done.stdout
    shown = [name for part in ("tag_h", "cell_h", "tag_end_h") for name, _ in declared(done.stdout, part)]
    assert shown == order.split() and f"state numbered {{\n        transition select({asked})" in done.stdout
