"""The symbolic semantics on known packets: which way a frame goes and what leaves, to compare with the soft switch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from polysome import smt
from polysome.p4 import program as pr
from polysome.p4.architecture import ARCHITECTURES
from polysome.p4.limits import ChipLimits
from polysome.prove.p4.control import Around
from polysome.prove.p4.parser import paths
from polysome.prove.p4.pipe import Onward, Passed, bridged, mirrored
from polysome.prove.p4.store import Access, Residual, Sum
from polysome.prove.p4.tables import Entries
from polysome.prove.window import Frame, Window

FRAME = Frame()


@dataclass
class Facts:
    """Values of symbols by name; what nothing says is 0, as in the soft switch."""

    values: dict[str, int]
    sums: Mapping[str, Sum] = field(default_factory=dict)

    def __post_init__(self) -> None:
        solver = smt.Solver()
        solver.check()
        self.model = solver.model()
        self.told: set[str] = set()
        self.found: dict[int, int] = {}

    def of(self, term: object) -> int:
        if isinstance(term, int):
            return term
        number = term.get_id()  # type: ignore[attr-defined]
        if number not in self.found:
            self.found[number] = self._found(term)
        return self.found[number]

    def _found(self, term: object) -> int:
        for name, constant in symbols(term):
            if name not in self.told:
                self.told.add(name)
                value = self.values[name] if name in self.values else self._sum(self.sums.get(name))
                bits = constant.size() if smt.is_bv(constant) else 0
                self.model.update_value(constant, smt.BitVecVal(value, bits) if bits else smt.BoolVal(bool(value)))
        found = self.model.eval(term, model_completion=True)
        return int(smt.is_true(found)) if smt.is_bool(found) else int(found.as_long())

    def _sum(self, of: Sum | None) -> int:
        """As runtime/switch/bits.hpp has it."""
        if of is None:
            return 0
        words = [self.of(word) for word in of.words]
        if isinstance(of, Residual):
            return fold(sum(0xFFFF - word for word in words))
        found = 0xFFFF - fold(sum(words))
        return 0xFFFF if of.ones and found == 0 else found


def fold(total: int) -> int:
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return total


_SYMBOLS: dict[int, tuple[object, dict[str, smt.Term]]] = {}  # by the term's number, which lasts as long as it does


def symbols(term: object) -> Iterable[tuple[str, smt.Term]]:
    """The symbols in a term, by name."""
    number = term.get_id()  # type: ignore[attr-defined]
    if number not in _SYMBOLS:
        found: dict[str, smt.Term] = {}
        if smt.is_symbol(term):  # type: ignore[attr-defined]
            found[term.name] = term
        for part in term.children():  # type: ignore[attr-defined]
            found |= symbols(part)
        _SYMBOLS[number] = (term, found)
    return _SYMBOLS[number][1].items()


@dataclass
class Pipe:
    """A program with its tables, sessions (number: port and length) and registers: what the soft switch has."""

    program: pr.Program
    chip: ChipLimits
    entries: Entries
    sessions: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    registers: dict[tuple[str, int, str], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.around = Around({name: self.entries.get(name, ()) for name in self.program.tables})
        self.ingress = Onward(self.program, self.program.ingress, self.around)
        ways = paths(self.program, self.program.ingress, Window(FRAME))
        self.ways = [(path, list(self.ingress.of(path))) for path in ways]
        self.after: dict[tuple[int, str], list[Passed]] = {}
        self.taken: list[Passed] = []

    def receive(self, port: int, metadata: int, frame: bytes, now: int) -> list[str]:
        """What leaves, as the driver of the soft switch prints it; ports have no rate and no queue before them."""
        facts = _frame(frame)
        bits = ARCHITECTURES[self.program.arch].port_metadata
        facts |= {"port_metadata": metadata << bits - 64, "ig_intr_md.ingress_port": port}
        facts |= {"prsr.global_tstamp": now, "ig_intr_md.ingress_mac_tstamp": now}
        passed, known = self._taken(self._of_path(facts), facts)
        found = []
        if not passed.lost and passed.port is not None:
            window, given = bridged(passed, FRAME, self.chip)
            found += self._leave(passed, window, given, known.of(passed.port), known, now)
        if passed.store.mirror is not None:
            session = self.sessions[known.of(passed.store.mirror.session)]
            window, given = mirrored(passed, FRAME, session[1], self.chip)
            found += self._leave(passed, window, given, session[0], known, now)
        return found

    def _of_path(self, facts: dict[str, int]) -> list[Passed]:
        known = Facts(facts)
        found = [passed for path, passed in self.ways if all(known.of(c) for c in path.conditions)]
        assert len(found) == 1, found
        return found[0]

    def _taken(self, found: list[Passed], facts: dict[str, int]) -> tuple[Passed, Facts]:
        """The one whose conditions hold; its accesses to registers happen."""
        taken = []
        shared = Facts(dict(facts))
        for passed in found:
            plain = not (passed.store.sums or passed.store.accesses)  # then its symbols mean what they mean in others
            known = shared if plain else Facts(dict(facts), passed.store.sums)
            touched = {}
            for access in passed.store.accesses:
                touched |= self._access(access, known)
            if all(known.of(c) for c in reversed(passed.conditions)):
                taken.append((passed, known, touched))
        assert len(taken) == 1, [str(p.path) for p, _, _ in taken]
        passed, known, touched = taken[0]
        self.registers |= touched
        self.taken.append(passed)
        return passed, known

    def _access(self, access: Access, known: Facts) -> dict[tuple[str, int, str], int]:
        index = known.of(access.index)
        for name, symbol in access.old.items():
            known.values[str(symbol)] = self.registers.get((access.register, index, name), 0)
        return {(access.register, index, name): known.of(value) for name, value in access.new.items()}

    def _leave(
        self, passed: Passed, window: Window, given: dict[tuple[str, ...], object], port: int, known: Facts, now: int
    ) -> list[str]:
        if passed.out("bypass_egress") and window is passed.leaves:
            return [f"out {port} {now} {self._bytes(window, known).hex()}"]
        name = "egress:"
        facts = {name + "eg_intr_md.egress_port": port, name + "prsr.global_tstamp": now, **known.values}
        key = (id(passed), str(window.frame.length))
        if key not in self.after:
            onward = Onward(self.program, self.program.egress, self.around)
            found = paths(self.program, self.program.egress, window, name=name, given=given)
            self.after[key] = [w for p in found for w in onward.of(p)]
            for w in self.after[key]:
                w.store.sums |= passed.store.sums
        after, known = self._taken(self.after[key], facts)
        return [] if after.lost else [f"out {port} {now} {self._bytes(after.leaves, known).hex()}"]

    def _bytes(self, window: Window, known: Facts) -> bytes:
        head = bytes(known.of(byte) for byte in window.prefix)
        size = known.of(window.frame.length)
        return head + bytes(known.of(window.frame.byte(k)) for k in range(window.first, size))


def _frame(frame: bytes) -> dict[str, int]:
    return {str(FRAME.length): len(frame), **{str(FRAME.byte(k)): byte for k, byte in enumerate(frame)}}
