"""Parsers and registers in the assembly that p4c's Tofino backend writes (`.bfa`), and what a parser does to a frame.

A row of a parser's state matches what rows before it loaded into match registers, or a counter; the one taken may
extract, write constants, load match registers, move on in the frame and go to the next state. Which field an extract
or a constant is of stands in the comments that the backend writes; the rest is what the assembler reads.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

DIGIT = {"0x": 4, "0o": 3, "0b": 1}  # bits of a digit of a match
MATCHED = {"half": 16, "byte": 8, "ctr_neg": 1, "ctr_zero": 1}  # bits of what is matched, by the begin of its name
MOST_STEPS = 256
PASSED_OVER = re.compile(r"(checksum \d|clot \d+|\d+(\.\.\d+)?|[TMD]?[BHW]\d+|hdr_len_inc_stop|intr_md)")
SAVED = {60: "byte3", 61: "byte2", 62: "byte1", 63: "byte0"}  # where scratch registers are loaded from (parde_spec.h)


@dataclass
class Row:
    """`value`, `mask`: of what `State.match` names, first one first. Places are bytes from where the row stands.

    `extracts`: field, highest bit of the part (-1: all of it), bit. `counter`: set to, taken from it, or left (None).
    """

    value: int
    mask: int
    needs: int = 0
    shift: int = 0
    onward: str = "end"
    load: dict[str, int] = field(default_factory=dict)
    save: list[str] = field(default_factory=list)
    extracts: list[tuple[str, int, int]] = field(default_factory=list)
    constants: list[tuple[str, int]] = field(default_factory=list)
    counter: tuple[str, int] | None = None


@dataclass
class State:
    match: list[str] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)


@dataclass
class Parsed:
    """`places`: the bit of the frame where a part of a field begins, by field and highest bit; `rows`: those taken, as
    state and number; `matched`: the byte of the frame in which a match register stood there, by register."""

    constants: dict[str, int] = field(default_factory=dict)
    places: dict[tuple[str, int], int] = field(default_factory=dict)
    rows: list[tuple[str, int]] = field(default_factory=list)
    matched: dict[str, dict[str, int]] = field(default_factory=dict)
    error: bool = False

    @property
    def valid(self) -> set[str]:
        """The headers."""
        return {name.removesuffix(".$valid") for name in self.constants if name.endswith(".$valid")}


@dataclass
class Parser:
    """`metadata`: how many bytes stand before the frame."""

    start: str
    metadata: int
    states: dict[str, State]

    def parse(self, metadata: bytes, frame: bytes) -> Parsed:
        """What becomes of a frame: one that ends too early, or for which a state has no row, is an error there."""
        assert len(metadata) == self.metadata
        found, buffer, at, name, counter = Parsed(), metadata + frame, 0, self.start, 0
        registers: dict[str, int] = {}
        places: dict[str, int] = {}
        saved: dict[str, tuple[int, int]] = {}  # in scratch registers: what was loaded, and from where
        for _ in range(MOST_STEPS):
            state = self.states[name]
            registers |= {"ctr_neg": counter < 0, "ctr_zero": counter == 0}
            found.matched[name] = {register: places[register] for register in state.match if register in places}
            row = next((n for n, row in enumerate(state.rows) if _matches(state, row, registers)), None)
            if row is None or at + state.rows[row].needs > len(buffer):
                found.error = True
                return found
            found.rows.append((name, row))
            taken = state.rows[row]
            self._take(taken, at, found)
            before = dict(saved)
            for register, place in taken.load.items():
                if place in SAVED:
                    registers[register], places[register] = before[SAVED[place]]
                    continue
                registers[register] = int.from_bytes(buffer[at + place :][: bits(register) // 8], "big")
                places[register] = at + place - self.metadata
            saved |= {register: (registers[register], places[register]) for register in taken.save}
            if taken.counter:
                counter = counter - taken.counter[1] if taken.counter[0] == "dec" else taken.counter[1]
            at, name = at + taken.shift, taken.onward
            if name == "end":
                return found
        raise AssertionError("a loop")

    def _take(self, row: Row, at: int, found: Parsed) -> None:
        for name, value in row.constants:
            found.constants[name] = found.constants.get(name, 0) | value
        for name, high, bit in row.extracts:
            place = 8 * (at - self.metadata) + bit
            assert found.places.setdefault((name, high), place) == place, f"{name} comes from two places"


def bits(matched: str) -> int:
    """Of a match register, or of what is asked of a counter."""
    return next(width for begin, width in MATCHED.items() if matched.startswith(begin))


def _matches(state: State, row: Row, registers: dict[str, int]) -> bool:
    seen = 0
    for register in state.match:
        seen = seen << bits(register) | registers[register]
    return seen & row.mask == row.value


def parser_of(assembly: str, gress: str) -> Parser:
    """Raises AssertionError where a line is not known: nothing is passed over that might mean something."""
    body = assembly.split(f"\nparser {gress}:\n")[1].split(f"\ndeparser {gress}:")[0]
    head, states = body.split("\n  states:\n")
    known: dict[str, str] = dict(re.findall(r"^  (\w+): (.*)$", head, re.MULTILINE))
    return Parser(known["start"], int(known["hdr_len_adj"]), dict(_states(states)))


def _states(text: str) -> Iterator[tuple[str, State]]:
    for name, body in re.findall(r"^    (\S+):\n((?:     .*\n?)+)", text, re.MULTILINE):
        state = State()
        for line in body.splitlines():
            _line(line, state)
        yield name, state


def _line(line: str, state: State) -> None:
    indent = len(line) - len(line.lstrip())
    if indent == 8 and line.lstrip().startswith("#"):
        return
    said, _, comment = (part.strip() for part in line.partition("# "))
    key, _, value = (part.strip() for part in said.partition(":"))
    if indent == 6 and key == "match":
        state.match = value.strip("[ ]").split(", ")
    elif indent == 6 and key != "option":
        state.rows.append(Row(*_test(key)))
    elif indent == 8:
        _does(key, value, state.rows[-1])
        _comment(key, comment, state.rows[-1])
    elif indent == 10 and key == "imm":
        state.rows[-1].counter = ("set", int(value))
    elif indent == 12:
        _comment("", comment.removeprefix("- "), state.rows[-1])
    else:
        assert indent == 10 or key == "option", line  # parts of a checksum, or of bytes that are only passed on


def _test(said: str) -> tuple[int, int]:
    """Value and mask."""
    width = DIGIT.get(said[:2], 1)
    value = mask = 0
    for digit in said[2:] if said[:2] in DIGIT else "":
        value, mask = value << width, mask << width
        if digit != "*":
            value, mask = value | int(digit, 16), mask | (1 << width) - 1
    assert said == "*" or said[:2] in DIGIT, said
    return value, mask


def _does(key: str, value: str, row: Row) -> None:
    match key:
        case "buf_req":
            row.needs = int(value)
        case "shift":
            row.shift = int(value)
        case "next":
            row.onward = value
        case "load":
            pairs = (part.split(" : ") for part in value.strip("{ }").split(", "))
            row.load = {register: int(place.split("..")[0]) for register, place in pairs}
        case "save":
            row.save = value.strip("[ ]").split(", ")
        case "counter":
            row.counter = ("dec", int(value.removeprefix("dec "))) if value else None
        case _:
            assert PASSED_OVER.fullmatch(key), f"{key}: {value}"


def _comment(key: str, comment: str, row: Row) -> None:
    """Which fields an extract or a constant is of."""
    if "buffer mapped" in comment:  # not from the frame
        return
    if found := re.fullmatch(r"value (\d+) -> \S+ bit\[[\d.]+\]: (\S+)", comment):
        name, _, low = _slice(found[2])
        row.constants.append((name, int(found[1]) << low))
    elif found := re.fullmatch(r"bit\[(\d+)(?:\.\.\d+)?\] -> \S+ bit\[[\d.]+\]: (\S+)", comment):
        name, high, _ = _slice(found[2])
        row.extracts.append((name, high, int(found[1])))
    elif comment:
        name, high, _ = _slice(comment)
        row.extracts.append((name, high, 8 * int(key.split("..")[0])))


def _slice(said: str) -> tuple[str, int, int]:
    """Name, highest and lowest bit; -1 and 0 where all of the field is meant."""
    found = re.fullmatch(r"\w+::(\S+?)(?:\[(\d+):(\d+)\])?(?:\.\d+-\d+)?", said)
    assert found, said
    return found[1], int(found[2] or -1), int(found[3] or 0)


def stateful(assembly: str, register: str) -> dict[str, list[str]]:
    """The instructions of each action of a register."""
    body = re.split(rf"\n  stateful \S*{re.escape(register)}:\n", assembly)[1]
    lines = re.split(r"\n  \w", body)[0].split("    actions:\n")[1]
    found = re.findall(r"^      (\w+)_\d+:\n((?:      - .*\n?)+)", lines, re.MULTILINE)
    return {name: [line.strip(" -") for line in said.splitlines()] for name, said in found}
