"""runtime/nf's apply, rebuild and make give the interpreter's bytes: random packets, edits and operations.

The reference is polysome.interp.apply and rebuild (LANGUAGE.md section 10, L4.5, L4.9, L9.7).
"""

from __future__ import annotations

import ctypes
import random
import struct
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.native.odd_headers import odd_spec
from tests.testing.traffic.kit import machine, written

from polysome.backends.nf_cpp.build import compiler, missing
from polysome.backends.nf_cpp.protocols_code import length_code, protocols_code
from polysome.interp.apply import apply
from polysome.interp.machine import Machine
from polysome.interp.packet import Packet, write_bits
from polysome.interp.rebuild import _length, make
from polysome.ir import program as ir
from polysome.resources import folder
from polysome.testing.spec import Spec
from polysome.testing.traffic.build import lone_frame

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(missing() is not None, reason="needs a C++20 compiler: `apt install clang`"),
]

HERE = Path(__file__).resolve().parent
STANDARD = "use net.{};\nnf tiny {{\n  port a, b;\n  on packet {{ send b; }}\n}}\n"
SPECS = {
    "l4": STANDARD.format("l4"),
    "tunnel": STANDARD.format("tunnel"),
    **{f"odd{seed}": odd_spec(seed) for seed in range(6)},
}
CASES = 2500
ROOM = 1 << 17

Headers = tuple[tuple[str, dict[int, int]], ...]


class Native:
    """One program's library."""

    def __init__(self, program: ir.Program, at: Path) -> None:
        self.program = program
        self.numbers = {name: i for i, name in enumerate(program.headers)}
        text = protocols_code(program)
        (at / "protocols.hpp").write_text(
            f'#pragma once\n#include "nf/headers.hpp"\nnamespace polysome::tested {{\n{text}}}\n', encoding="utf-8"
        )
        made = at / "tested.so"
        flags = ["-std=c++20", "-O1", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared"]
        places = [f"-I{folder('runtime')}", f"-I{at}", str(HERE / "apply_library.cpp"), "-o", str(made)]
        subprocess.run([*(compiler() or ()), *flags, *places], check=True, timeout=240)
        self.library = ctypes.CDLL(str(made))
        self.library.tested_length.restype = ctypes.c_uint64
        self.out = ctypes.create_string_buffer(ROOM)

    def apply(self, p: Packet) -> bytes:
        parts = [_sized(p.data), struct.pack("!IIB", p.end, p.payload, len(p.path))]
        parts += [struct.pack("!BIII", i, p.offset[i], p.header_end[i], p.limit[i]) for i in p.path]
        edits = [struct.pack("!HH", key >> 16, key & 0xFFFF) + _wide(value) for key, value in p.edits.items()]
        return self._call(self.library.tested_apply, [*parts, _counted(edits), self._operations(p.operations)])

    def make(self, headers: Headers, payload: bytes) -> bytes:
        pushes = [("push", name, given, None) for name, given in headers]
        return self._call(self.library.tested_make, [self._operations(pushes), _sized(payload)])

    def length(self, header: ir.Header, field: int, size: int, rest: int) -> int:
        number, place = ctypes.c_uint16(self.numbers[header.name]), ctypes.c_uint16(field)
        return int(self.library.tested_length(number, place, ctypes.c_uint64(size), ctypes.c_uint64(rest)))

    def _operations(self, operations: list[Any]) -> bytes:
        found = []
        for operation in operations:
            match operation:
                case ("push", name, given, before):
                    place = 0xFFFF if before is None else before
                    fields = [struct.pack("!H", f) + _wide(v) for f, v in given.items()]
                    found.append(struct.pack("!BHHHHQ", 0, self.numbers[name], place, 0, 0, 0) + _counted(fields))
                case ("pop", first, last):
                    found.append(struct.pack("!BHHHHQH", 1, 0, 0, first, last, 0, 0))
                case ("truncate", size):
                    found.append(struct.pack("!BHHHHQH", 2, 0, 0, 0, 0, size, 0))
        return _counted(found)

    def _call(self, function: Callable[[bytes, Any], int], parts: list[bytes]) -> bytes:
        size = function(b"".join(parts), self.out)
        return ctypes.string_at(self.out, size)


def _sized(data: bytes) -> bytes:
    return struct.pack("!I", len(data)) + data


def _counted(items: list[bytes]) -> bytes:
    return struct.pack("!H", len(items)) + b"".join(items)


def _wide(value: int) -> bytes:
    return int(value).to_bytes(16, "big")


# ---------------------------------------------------------------- random cases


class Cases:
    """Packets with something to apply. Each is a function of the random numbers alone."""

    def __init__(self, name: str, spec: Spec, rng: random.Random) -> None:
        self.program, self.rng = spec.program, rng
        self.machine: Machine = machine(spec, {})
        self.frames = [lone_frame(spec, rng.randbytes(64), rng.randbytes(400)) for _ in range(120)] if name in (
            "l4", "tunnel") else []  # fmt: skip

    def packet(self) -> Packet:
        p = self.machine.parse(0, self._frame())
        for _ in range(30):  # random bytes are seldom a header
            if p.path:
                break
            p = self.machine.parse(0, self._frame())
        if self.rng.random() < 0.4:
            p = self.machine.parse(0, self._with_odd_sums(p))
        return p

    def _frame(self) -> bytes:
        rng = self.rng
        if not self.frames:
            size = rng.randrange(rng.choice((20, 120, 400)))
            return bytes(rng.randrange(1, 9) if rng.random() < 0.8 else rng.randrange(256) for _ in range(size))
        data = bytearray(rng.choice(self.frames))
        for _ in range(rng.choice((0, 0, 1, 3)) if data else 0):
            data[rng.randrange(len(data))] = rng.choice((0, 1, 0xFF, rng.randrange(256)))
        if data and rng.random() < 0.2:
            del data[rng.randrange(len(data)) :]
        return bytes(data) + rng.randbytes(rng.choice((0, 0, 0, 1, 6)))

    def _with_odd_sums(self, p: Packet) -> bytes:
        """Checksums of 0 and ffff."""
        data = bytearray(p.data)
        for i in p.path:
            for f in self.program.parser.instances[i].header.fields:
                if f.checksum is not None and self.rng.random() < 0.5:
                    value = self.rng.choice((0, 0xFFFF, 1, 0xFFFE))
                    write_bits(data, p.offset[i] * 8 + f.offset, 16, value, p.header_end[i])
        return bytes(data)

    def edits(self, p: Packet) -> dict[int, int]:
        fields = [
            (i, n, f)
            for i in p.path
            for n, f in enumerate(self.program.parser.instances[i].header.fields)
            if not f.read_only
        ]
        count = min(len(fields), self.rng.choice((0, 1, 2, 3, 5, 20)))
        return {i << 16 | n: self._value(f) for i, n, f in self.rng.sample(fields, count)}

    def _value(self, f: ir.Field) -> int:
        ones = (1 << f.width) - 1
        return self.rng.choice((0, ones, self.rng.randrange(9) & ones, self.rng.getrandbits(f.width)))

    def given(self, header: ir.Header) -> dict[int, int]:
        return {n: self._value(f) for n, f in enumerate(header.fields) if not f.read_only and self.rng.random() < 0.7}

    def operations(self, p: Packet) -> list[Any]:
        rng, found = self.rng, []
        for _ in range(rng.choice((0, 1, 1, 2, 3, 6))):
            kind = rng.choice(("pop", "push", "push", "truncate"))
            if kind == "pop" and p.path:
                first = rng.randrange(len(p.path))
                last = min(len(p.path) - 1, first + rng.choice((0, 0, 1, 2)))
                found.append(("pop", p.path[first], p.path[last]))
            elif kind == "push":
                header = rng.choice(list(self.program.headers.values()))
                found.append(("push", header.name, self.given(header), rng.choice([*p.path, None])))
            elif kind == "truncate":
                found.append(("truncate", rng.choice((0, rng.randrange(len(p.data) + 1), rng.randrange(600)))))
        return found

    def emitted(self) -> tuple[Headers, bytes]:
        headers = self.rng.choices(list(self.program.headers.values()), k=self.rng.randrange(1, 6))
        payload = self.rng.choice((b"", bytes(5), self.rng.randbytes(self.rng.randrange(80))))
        return tuple((h.name, self.given(h)) for h in headers), payload


@pytest.fixture(scope="module", params=list(SPECS))
def tested(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Native, Cases]]:
    at = tmp_path_factory.mktemp(request.param)
    spec = written(at, SPECS[request.param])
    yield Native(spec.program, at), Cases(request.param, spec, random.Random(request.param))


def test_apply_gives_the_interpreters_bytes(tested: tuple[Native, Cases]) -> None:
    native, cases = tested
    depths, changed = set(), 0
    for _ in range(CASES):
        p = cases.packet()
        p.edits = cases.edits(p)
        wanted = apply(cases.program, p)
        assert native.apply(p).hex() == wanted.hex(), (p.data.hex(), p.path, p.edits)
        depths.add(len(p.path))
        changed += wanted != p.data[: p.end]
    assert len(depths) > 3 and changed > CASES / 4


def test_rebuild_gives_the_interpreters_bytes(tested: tuple[Native, Cases]) -> None:
    native, cases = tested
    for _ in range(CASES):
        p = cases.packet()
        p.edits, p.operations = cases.edits(p), cases.operations(p)
        wanted = apply(cases.program, p)
        assert native.apply(p).hex() == wanted.hex(), (p.data.hex(), p.path, p.edits, p.operations)


def test_make_gives_the_interpreters_bytes(tested: tuple[Native, Cases]) -> None:
    native, cases = tested
    for _ in range(CASES // 5):
        headers, payload = cases.emitted()
        wanted = make(cases.program, headers, payload)
        assert native.make(headers, payload).hex() == wanted.hex(), (headers, payload)


def test_lengths_are_the_interpreters(tested: tuple[Native, Cases]) -> None:
    native, cases = tested
    marked = [(h, n, f.length) for h in cases.program.headers.values() for n, f in enumerate(h.fields) if f.length]
    for header, n, length in marked:
        for size, rest in [(0, 0), (1, 65535), (20, 1480), *((cases.rng.getrandbits(64), 5) for _ in range(20))]:
            wanted = _length(length, size, rest)
            assert native.length(header, n, size, rest) == wanted & (1 << 64) - 1, length_code(length)
