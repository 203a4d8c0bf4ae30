"""Specs whose headers are as odd as the language allows, at random: for comparing `apply` with the interpreter.

Headers of odd sizes, fields of any width, several checksums over any parts, pseudo headers of fields that share bytes,
lengths that wrap, quotes that are cut.
"""

from __future__ import annotations

import random

LENGTHS = (
    "header", "rest", "header + rest", "header / 2", "rest * 3 - header", "(header + rest) / 2 - 7", "rest << 3",
    "(rest >> 2) ^ header", "header % 5 & rest", "rest | 1", "header - rest", "(rest as bit<128> / 3) as u64",
)  # fmt: skip
PARTS = ("header", "header, rest", "pseudo, header, rest", "pseudo, header, rest", "rest", "pseudo", "pseudo, rest")
HEADERS = 6


def odd_spec(seed: int) -> str:
    """The text of a spec. Bytes below 8 choose the header that comes next."""
    rng = random.Random(seed)
    members = [f"h{n} = {n + 1}" for n in range(HEADERS) if rng.random() < 0.8]
    enum = f"enum Kind: u8 {{ {', '.join(members or ['h0 = 1'])}, other = 200 }}\n"
    enum += "enum Sort: u8 { h0 = 7, h2 = 6, h3 = 5 }\n"
    headers = "".join(_Header(rng, n).text() for n in range(HEADERS))
    return f"{enum}{headers}{_parser(rng)}nf odd {{\n  port a, b;\n  on packet {{ send b; }}\n}}\n"


def _parser(rng: random.Random) -> str:
    """A chain with short cuts; the last two headers stand once more as quotes."""
    states = []
    for n in range(HEADERS):
        name = "start" if n == 0 else f"s{n}"
        cases = "".join(f" {k + 1} => s{k};" for k in range(n + 1, HEADERS))
        if n >= 2:
            cases += f" 7 => q{rng.choice((4, 5))};"
        states.append(f"  state {name} {{ extract h{n}; select h{n}.kind {{{cases} }} }}\n")
    for n in (4, 5):
        after = " select quoted.h4.kind { 3..8 => q5; }" if n == 4 else ""
        states.append(f"  state q{n} {{ extract h{n} as quoted.h{n} cut {rng.randrange(1, 9)};{after} }}\n")
    return f"parser odd {{\n{''.join(states)}}}\n"


class _Header:
    def __init__(self, rng: random.Random, number: int) -> None:
        self.rng, self.number = rng, number
        self.bits = 0
        self.lines: list[str] = []
        self.rules: list[str] = []
        self.plain: list[str] = []

    def text(self) -> str:
        rng = self.rng
        mark = rng.choice((" next Kind", " next Kind", " next Sort", ""))
        self._field("kind", 8, f"u8{mark}")
        for n in range(rng.randrange(1, 5)):
            self._any(f"f{n}")
            if rng.random() < 0.4:
                self._checksum(f"sum{n}")
        self._whole_bytes()
        if rng.random() < 0.6:
            width = rng.choice((8, 16, 64, 128))
            self._field("said", width, f"bit<{width}> length({rng.choice(LENGTHS)})")
        if rng.random() < 0.3:
            self._field("total", 8, "u8 length(header + rest)")
            self.rules.append(f"end total as u16 * {rng.choice((1, 8))} + {rng.randrange(40)};")
        if rng.random() < 0.3:
            self._field("size", 8, "u8 length(header)")
            self.rules.append(f"size size as u16 + {self.bits // 8};")
            self.lines.append("tail: rest;")
        if rng.random() < 0.5:
            self.rules.append(f"pseudo {', '.join(rng.choices(self.plain, k=rng.randrange(1, 4)))};")
        return f"header h{self.number} {{\n  {' '.join(self.lines)}\n  {' '.join(self.rules)}\n}}\n"

    def _field(self, name: str, width: int, type: str) -> None:
        self.lines.append(f"{name}: {type};")
        self.bits += width

    def _any(self, name: str) -> None:
        width = self.rng.choice((8, 16, 32, 48, 64, 128, self.rng.randrange(1, 16), self.rng.randrange(1, 129)))
        given = f" = {self.rng.randrange(1, 1 << width)}" if self.rng.random() < 0.4 else ""
        self._field(name, width, f"bit<{width}>{given}")
        self.plain.append(name)

    def _whole_bytes(self, unit: int = 8) -> None:
        if self.bits % unit:
            self._field(f"pad{self.bits}", -self.bits % unit, f"bit<{-self.bits % unit}>")

    def _checksum(self, name: str) -> None:
        self._whole_bytes(16)
        none = " zero is none" if self.rng.random() < 0.4 else ""
        self._field(name, 16, f"u16 checksum({self.rng.choice(PARTS)}){none}")
