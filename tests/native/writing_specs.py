"""Specs whose handlers write a random selection of the fields that can be written, and packets for them.

For comparing what generated code does for packets of a common shape, and for all others, with the interpreter.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tests.native.odd_headers import odd_spec

from polysome.interp.packet import Packet, write_bits
from polysome.ir import program as ir
from polysome.ir import types as t

ADDRESSES = {t.IPV4: "ipv4", t.IPV6: "ipv6", t.MAC: "mac"}
WIDEST = 128  # bits that a write in place may touch together with those beside it


@dataclass(frozen=True)
class Wanted:
    """What a spec is to be like: how many fields are written; `among`: of which headers, if not of all; `demands`:
    headers that its contract demands; `groups`: of which the fields are written too."""

    writes: int = 14
    among: tuple[str, ...] = ()
    demands: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()


def odd_headers(seed: int) -> str:
    """Headers and parser of an odd spec, whose pseudo headers are of whole bytes."""
    text = odd_spec(seed).partition("nf odd {")[0]
    return re.sub(r"(header \w+ \{\n)(.*)\n(.*)", _whole_pseudo, text)


def _whole_pseudo(header: re.Match[str]) -> str:
    whole, bit = set(), 0
    for name, width in re.findall(r"(\w+): (?:bit<|u)(\d+)", header[2]):
        if bit % 8 == int(width) % 8 == 0:
            whole.add(name)
        bit += int(width)
    listed = re.search(r"pseudo ([^;]*);", header[3])
    kept = [name for name in (listed[1].split(", ") if listed else ()) if name in whole]
    rule = f"pseudo {', '.join(kept)};" if kept else ""
    return f"{header[1]}{header[2]}\n{re.sub(r'pseudo [^;]*;', rule, header[3])}"


def writing_spec(declarations: str, program: ir.Program, wanted: Wanted, seed: int) -> str:
    """The text of an NF over the parser of `program`, whose own text begins with `declarations`."""
    body = "".join(f"    {line}\n" for line in _Handler(program, wanted, random.Random(seed)).lines())
    return (
        f"{declarations}\nnf writing {{\n  port a, b;\n{_contract(program, wanted)}"
        "  state { turn: u64; seen: map<u64, u64> { capacity 32; idle 1s; when full evict oldest; } }\n"
        f"  on packet from a {{\n    turn += 1;\n{body}    send b;\n  }}\n  on packet from b {{ send a; }}\n}}\n"
    )


def _contract(program: ir.Program, wanted: Wanted) -> str:
    if not wanted.demands:
        return ""
    names = [i.name for i in program.parser.instances]
    others = [name for name in names if name not in wanted.demands]
    items = [*wanted.demands, *(f"{name} when {name}" for name in others)]
    return f'  relevant {", ".join(items)} else drop "not demanded";\n'


class _Handler:
    def __init__(self, program: ir.Program, wanted: Wanted, rng: random.Random) -> None:
        self.parser, self.wanted, self.rng = program.parser, wanted, rng
        self.instances = [i for i in self.parser.instances if i.name in wanted.among or not wanted.among]
        self.locals = 0

    def lines(self) -> list[str]:
        """Statements on one header or two, in any order, so that fields are read before and after they are written."""
        places = [
            (i, f)
            for i in self.instances
            for f in i.header.fields
            if not f.read_only and _can_be_had(f) and f.offset % 8 + f.width <= WIDEST
        ]
        chosen = self.rng.sample(places, min(len(places), self.wanted.writes))
        found = [self._about(i.name, f) for i, f in chosen]
        found += [self._in(group, self._write(group, f)) for group in self.wanted.groups for f in self._common(group)]
        self.rng.shuffle(found)
        return [line for lines in found for line in lines]

    def _common(self, group: str) -> list[ir.Field]:
        first, *others = [self.parser.instances[i].header for i in self.parser.groups[group]]
        names = [{f.name for f in h.fields} for h in others]
        return [f for f in first.fields if not f.read_only and _can_be_had(f) and all(f.name in n for n in names)]

    def _about(self, name: str, f: ir.Field) -> list[str]:
        rng = self.rng
        other = rng.choice(self.instances)
        readable = [g for g in other.header.fields if _can_be_had(g) and not g.rest]
        if rng.random() < 0.35 and readable:
            g = rng.choice(readable)
            value = f"({other.name}.{g.name} as bit<128>)"
            if rng.random() < 0.4:
                return self._in(name, self._in(other.name, self._lookup(name, f, value)))
            return self._in(name, self._in(other.name, [self._sometimes(f"{name}.{f.name} = {_cast(f, value)};")]))
        return self._in(name, self._write(name, f))

    def _in(self, name: str, lines: list[str]) -> list[str]:
        return [f"if {name} {{", *("  " + line for line in lines), "}"]

    def _write(self, name: str, f: ir.Field) -> list[str]:
        rng = self.rng
        value = rng.choice(
            (
                f"{rng.choice((0, (1 << 128) - 1, rng.getrandbits(128)))} as bit<128>",
                f"turn as bit<128> * {rng.getrandbits(128)} + {rng.getrandbits(128)}",
                f"{name}.{f.name} as bit<128> ^ {rng.choice((0, 1, rng.getrandbits(128)))}",
                f"{name}.{f.name} as bit<128> + (turn % 2) as bit<128>",
            )
        )
        return [self._sometimes(f"{name}.{f.name} = {_cast(f, f'({value})')};")]

    def _lookup(self, name: str, f: ir.Field, key: str) -> list[str]:
        self.locals += 1
        v, key = f"v{self.locals}", f"({key} as u64) % 50"
        return [
            f"let {v} = seen[{key}] else turn;",
            self._sometimes(f"{name}.{f.name} = {_cast(f, f'({v} as bit<128>)')};"),
            self._sometimes(f"seen[{key}] = turn * 77;"),
        ]

    def _sometimes(self, statement: str) -> str:
        every = self.rng.choice((1, 2, 2, 3, 5))
        return statement if every == 1 else f"if turn % {every} == {self.rng.randrange(every)} {{ {statement} }}"


def _can_be_had(f: ir.Field) -> bool:
    """Can it be made from a number, or read as one?"""
    return f.type in ADDRESSES or isinstance(f.type, t.Bits)


def _cast(f: ir.Field, value: str) -> str:
    return f"{value} as {ADDRESSES.get(f.type, f'bit<{f.width}>')}"


# ---------------------------------------------------------------- packets


class OddFrames:
    """Frames of odd_headers: every other one goes one of `ways` through the parser, as far as the headers let it."""

    def __init__(
        self, program: ir.Program, parse: Callable[[bytes], Packet], rng: random.Random, ways: list[tuple[int, ...]]
    ) -> None:
        self.parser, self.parse, self.rng, self.ways = program.parser, parse, rng, ways

    def __iter__(self) -> Iterator[bytes]:
        while True:
            yield with_odd_sums(self.parser, self.parse(self._frame()), self.rng)

    def _frame(self) -> bytes:
        rng = self.rng
        data = bytearray(rng.randbytes(rng.choice((300, 300, 300, rng.randrange(1, 300)))))
        way = rng.choice(self.ways) if rng.random() < 0.5 else rng.choice(self.parser.classes)
        for known in range(1, len(way) + 1):
            p = self.parse(bytes(data))
            if tuple(p.path) != way[:known]:
                break
            i = p.path[-1]
            after = self.parser.instances[way[known]].name if known < len(way) else ""
            kind = 7 if after.startswith("quoted") else int(after[1:]) + 1 if after else 200
            for f in self.parser.instances[i].header.fields:
                at = p.offset[i] + f.offset // 8
                if f.name == "total" and at < len(data):
                    self._set_total(data, at, known)
                elif f.name in ("kind", "size") and at < len(data):
                    data[at] = kind if f.name == "kind" else rng.choice((0, 0, 0, 0, 0, 3))
        if rng.random() < 0.2:  # a length that lies
            data[rng.randrange(len(data))] = rng.choice((0, 1, 40, 255))
        return bytes(data)

    def _set_total(self, data: bytearray, at: int, depth: int) -> None:
        """The largest value of an `end` field that the frame has room for, or one near it."""
        for value in range(255, -1, -5):
            data[at] = value
            p = self.parse(bytes(data))
            if len(p.path) >= depth and not p.short:
                return


class RealFrames:
    """Frames of real protocols: as they are, cut, damaged, with options, fragments, and bytes behind them."""

    def __init__(
        self, program: ir.Program, parse: Callable[[bytes], Packet], rng: random.Random, frames: list[bytes]
    ) -> None:
        self.parser, self.parse, self.rng, self.frames = program.parser, parse, rng, frames

    def __iter__(self) -> Iterator[bytes]:
        rng = self.rng
        while True:
            p = self.parse(rng.choice(self.frames))
            data = bytearray(with_odd_sums(self.parser, p, rng))
            if rng.random() < 0.3:
                self._set(p, data, rng.choice(("ihl", "data_offset", "more_fragments", "fragment_offset")))
            if rng.random() < 0.15:
                self._set(p, data, rng.choice(("total_length", "length", "payload_length", "version")))
            if rng.random() < 0.1 and data:
                data[rng.randrange(len(data))] = rng.choice((0, 1, 0xFF, rng.randrange(256)))
            if rng.random() < 0.1 and data:
                del data[rng.randrange(len(data)) :]
            yield bytes(data) + rng.randbytes(rng.choice((0, 0, 0, 1, 6)))

    def _set(self, p: Packet, data: bytearray, name: str) -> None:
        for i in p.path:
            for f in self.parser.instances[i].header.fields:
                if f.name == name:
                    old = int.from_bytes(data, "big") >> (len(data) * 8 - p.offset[i] * 8 - f.offset - f.width)
                    value = (old + self.rng.choice((-1, 1, 1, 2, 40))) % (1 << f.width)
                    write_bits(data, p.offset[i] * 8 + f.offset, f.width, value, len(data))


def with_odd_sums(parser: ir.Parser, p: Packet, rng: random.Random) -> bytes:
    """The packet, in every other case with some of its checksums 0, ffff or beside these."""
    data = bytearray(p.data)
    if rng.random() < 0.5:
        for i in p.path:
            for f in parser.instances[i].header.fields:
                if f.checksum is not None and rng.random() < 0.5:
                    value = rng.choice((0, 0xFFFF, 1, 0xFFFE))
                    write_bits(data, p.offset[i] * 8 + f.offset, 16, value, p.header_end[i])
    return bytes(data)
