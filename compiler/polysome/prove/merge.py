"""What leaves when a parked packet comes back from memory is what the reference `apply` makes of it (DESIGN 14).

A response holds the packet whose edits wait, behind each pad that its WRITE may have. The switch parses it in
another branch than the packet that came; whatever it finds there, it must write the words of the slot where the layout
of the packet's class says. Ones' complement sums are compared as integers modulo 65535, with the zero that stands for
class 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product

from polysome import smt
from polysome.analysis.layout import ClassLayout
from polysome.p4.limits import ChipLimits
from polysome.prove.answers import EDITS, Waiting, edited, reads
from polysome.prove.literals import contradict, literals
from polysome.prove.ones import again
from polysome.prove.outside import Outside
from polysome.prove.p4.sums import as_word
from polysome.prove.park import LONGEST, written
from polysome.prove.places import is_at
from polysome.prove.responses import RESPONSE, Merged, Pad, Response, responses
from polysome.prove.result import NOTHING, Facts, Result, Status, answered
from polysome.prove.spec.apply import Left, leaves
from polysome.prove.spec.packet import PLACE, Parsed
from polysome.prove.spec.parse import TooManySizes
from polysome.prove.traffic import Parked, Traffic
from polysome.prove.verdicts import by_verdict
from polysome.prove.window import LENGTH, Term
from polysome.prove.wire import SEQ, SEQ_SIZE
from polysome_protocol import MOST_SUFFIX, REQUESTS

HELD = smt.ZeroExt(PLACE - LENGTH, smt.BitVec("held.length", LENGTH))
SLOT_OF = smt.Concat(*(EDITS.byte(SEQ + k) for k in range(SEQ_SIZE)))


def merge(seen: Traffic) -> Iterator[Result]:
    """One result for each path through the switch's parser that parks packets."""
    pads = {id(path): {w.pad for _, w in written(seen).of(of) if w.pad is not None} for path, of in seen.by_path}
    distinct = sorted(set().union(*pads.values()))
    states = reads(seen).waiting
    # What stands before a packet has nothing to do with what waits for it: the first state meets every pad.
    met = [(state, distinct if not n else distinct[:1]) for n, state in enumerate(states)]
    parsed = {pad: Response.of(seen.case, pad) for pad in distinct}
    back = [(state, one) for state, some in met for pad in some for one in responses(seen, state, parsed[pad])]
    sizes = _Sizes(seen)
    for n, (path, of) in enumerate(seen.by_path):
        subject = str(path)
        try:
            outcomes = seen.outcomes(path)
        except TooManySizes as error:
            yield Result("merge", subject, Status.undecided, str(error))
        else:
            own = sorted(pads[id(path)])
            # What stands before and behind a packet has nothing to do with it: it is enough that each has its turn.
            if n:
                turn: list[Turn] = [(states[0], pad, None) for pad in (own[n % len(own) :][:1] if own else [])]
            else:
                turn = [(states[0], pad, odd) for pad in own for odd in _odd(pad)]
                turn += [(state, pad, None) for state in states[1:] for pad in distinct[:1] if pad in own]
            yield _Merge(seen, of[0], outcomes, sizes).result(turn, [(s, b) for s, b in back if b.pad in own])


class _Sizes:
    """Does a response that leaves hold all of its packet, and as much more as the protocol allows?

    That follows from what the switch compares of the response itself, and is the same for most packets.
    """

    def __init__(self, seen: Traffic) -> None:
        self.about_it = Outside(RESPONSE)
        self.proved: set[tuple[int, ...]] = set()
        self._known: dict[int, tuple[Term, list[Term]]] = {}  # with the condition: its number is its own while it lives

    def _about_it(self, condition: Term) -> list[Term]:
        """What a condition says of the response itself."""
        number = condition.get_id()
        if number not in self._known:
            parts = [c for c in conjuncts([condition]) if self.about_it.of_packet(c)]
            self._known[number] = (condition, parts)
        return self._known[number][1]

    def wanted(self, parsed: Parsed) -> tuple[Term, ...]:
        if parsed.claimed is None:
            return (smt.BoolVal(False),)
        return smt.UGE(HELD, parsed.claimed + REQUESTS.icrc), smt.ULE(HELD, parsed.claimed + MOST_SUFFIX)

    def proves(self, back: Merged, parsed: Parsed) -> bool:
        """False: not without what else is known of the packet."""
        if parsed.claimed is None:
            return False
        few = [c for condition in back.conditions for c in self._about_it(condition)]
        key = (parsed.claimed.get_id(), *(c.get_id() for c in few))
        if key not in self.proved:
            bounds = (smt.ULE(smt.BitVec("held.length", LENGTH), LONGEST), smt.ULE(parsed.claimed, LONGEST))
            if not NOTHING.prove((*few, *bounds), *self.wanted(parsed)):
                return False
            self.proved.add(key)
        return True


def conjuncts(conditions: Iterable[Term]) -> Iterator[Term]:
    """What the conditions say, each taken apart as far as all of its parts hold."""
    for condition in conditions:
        opposite = smt.is_not(condition)
        inner = condition.arg(0) if opposite else condition
        if smt.is_or(inner) if opposite else smt.is_and(inner):
            yield from conjuncts(smt.Not(part) if opposite else part for part in inner.children())
        elif opposite and smt.is_not(inner):
            yield from conjuncts([inner.arg(0)])
        else:
            yield condition


# A state, a pad, and how many bytes of a trailer (None: any): of a response that must leave.
Turn = tuple[Waiting, Pad, int | None]


def _odd(pad: Pad) -> list[int]:
    """How many bytes of its trailer a packet behind such a pad may bring, the least and the most: a READ counts on the
    pad that a frame without a trailer has, and that of the WRITE is so much shorter."""
    most = min(MOST_SUFFIX - REQUESTS.icrc, REQUESTS.most_pad - len(pad))
    return sorted({max(0, REQUESTS.most_pad - 3 - len(pad)), most})


class _Merge:
    """The obligations of one path that parks packets."""

    def __init__(self, seen: Traffic, parked: Parked, parsed: Sequence[Parsed], sizes: _Sizes) -> None:
        self.sizes = sizes
        self.case, self.port, self.path = seen.case, seen.port, parked.passed.path
        self.layout = self.case.layout(parked.number or 0)
        self.facts = Facts(*self.path.conditions)
        edits = self._edits(self.layout) if self.layout is not None else {}
        self.parsed = [(p, list(leaves(p, edits))) for p in parsed]
        self.same: set[tuple[object, ...]] = set()  # headers that are known to be what the reference says

    def result(self, turn: list[Turn], found: list[tuple[Waiting, Merged]]) -> Result:
        subject, said = str(self.path), literals(self.path.conditions)
        if self.layout is None:
            return Result("merge", subject, Status.refuted, "its frame to the NF names no class that the NF knows")
        possible = [(state, back) for state, back in found if not contradict(back.said, said)]
        for state, back in possible:
            for result in self._compared(state, back):
                if result.status != Status.proved:
                    return result
        for state, pad, odd in turn:
            there = [(*a.conditions, *b.conditions) for a, b in possible if a is state and b.pad == pad]
            some = there if odd is None else self._with_trailer(there, odd)
            if not any(isinstance(self.facts.against(conditions), smt.Model) for conditions in some):
                behind = "" if odd is None else f" and {odd} B of a trailer"
                why = f"no response with a pad of {len(pad)} B{behind} leaves"
                return Result("merge", subject, Status.refuted, why, self._witness())
        return Result("merge", subject, Status.proved)

    def _with_trailer(self, there: list[tuple[Term, ...]], odd: int) -> Iterator[tuple[Term, ...]]:
        """The conditions of responses that hold the packet, and so many bytes of its trailer."""
        for conditions, (parsed, _) in product(there, self.parsed):
            if parsed.claimed is not None:
                yield (*conditions, *parsed.conditions, parsed.claimed + (REQUESTS.icrc + odd) == HELD)

    def _witness(self) -> bytes | None:
        model = self.facts.against(())
        return self.case.frame.content(model) if isinstance(model, smt.Model) else None

    def _compared(self, state: Waiting, back: Merged) -> Iterator[Result]:
        window, known = back.left, (*state.conditions, *back.conditions)
        if not smt.is_true(where := by_verdict(back.passed)):
            yield self._answer(back, "it does not leave where its verdict says", known, where)
        if (stray := self._stray(state, back)) is not None:
            yield self._answer(back, f"{stray} takes what no frame of edits put there", known, smt.BoolVal(False))
        straight = window.frame.name == self.case.frame.name and window.first == len(window.prefix)
        for parsed, lefts in self.parsed:
            if not (straight and self.sizes.proves(back, parsed)):
                wanted = (smt.BoolVal(straight), *self.sizes.wanted(parsed))
                yield self._answer(back, "what leaves has another length", (*known, *parsed.conditions), *wanted)
            for left in lefts if straight else ():
                yield from self._headers(back, left, (*known, *parsed.conditions, *left.conditions))

    def _stray(self, state: Waiting, back: Merged) -> str | None:
        """A register action that takes something from the packet's slot that the edits did not put there."""
        for access in back.passed.store.accesses:
            if is_at(access.index, SLOT_OF) and state.elements.of(access.register, access.index) is None:
                return access.action
        return None

    def _headers(self, back: Merged, left: Left, known: tuple[Term, ...]) -> Iterator[Result]:
        """Responses differ in what is before the packet, and in what waited: what has the same headers, once."""
        key = (id(left), *headers_key(back))
        few = (*left.parsed.conditions, *left.conditions)
        # Sums are hard for the solver, and many cases of a checksum cannot be on this path.
        if key in self.same or self.facts.prove(few):
            return
        wanted = [eased(w) for w in differences(back, left, self.case.chip) if not smt.is_true(w)]
        if not all(self.facts.prove(few, one) for one in wanted):
            for one in wanted:
                yield self._answer(back, "what leaves is not what the spec makes of the packet", known, one)
        else:
            self.same.add(key)

    def _answer(self, back: Merged, why: str, known: tuple[Term, ...], *wanted: Term) -> Result:
        subject = f"{self.path}, {len(back.pad)} bytes of pad"
        return answered("merge", subject, why, self.case.frame, known, *wanted, port=self.port, facts=self.facts)

    def _edits(self, layout: ClassLayout) -> dict[tuple[int, int], Term]:
        parser = self.case.program.parser
        return {
            (e.instance, e.field): edited(e.offset, e.length, parser.instances[e.instance].header.fields[e.field].width)
            for e in layout.edits
        }


def headers_key(back: Merged) -> tuple[object, ...]:
    """Equal for responses whose bytes in front of the packet's own are the same terms, sums too."""
    sums = back.passed.store.sums
    of = ((name, *(w.get_id() for w in meaning.words)) for name, meaning in sums.items())
    return (tuple(byte.get_id() for byte in back.left.prefix), *of)


def differences(back: Merged, left: Left, chip: ChipLimits) -> Iterator[Term]:
    """What must hold for all bytes of the headers to be what the reference says; the rest is the packet's own."""
    window, sums = back.left, back.passed.store.sums
    touched = {*left.octets, *left.words, *(k + 1 for k in left.words)}
    k, end = 0, max(len(window.prefix), max(touched, default=-1) + 1)
    while k < end:
        if k in left.words:
            yield smt.simplify(as_word(window.byte(k), window.byte(k + 1), sums, chip).equals(left.words[k]))
            k += 2
        else:
            yield smt.simplify(window.byte(k) == left.byte(k))
            k += 1


def eased(wanted: Term) -> Term:
    """The same condition, where symbols that are not equal make it true with each replaced by the other.

    The solver does not see that sums over equal bytes are equal.
    """
    if not smt.is_or(wanted):
        return wanted
    apart, left = [], list(wanted.children())
    while left:
        part = next((p for p in left if _differ(p)), None)
        if part is None:
            break
        one, other = part.arg(0).children()
        apart.append(part)
        left = [smt.simplify(smt.substitute(p, (one, other))) for p in left if p is not part]
    return smt.Or(*apart, *(again(p) for p in left))


def _differ(e: Term) -> bool:
    """Does it say that a symbol is not equal to another?"""
    return smt.is_not(e) and smt.is_eq(e.arg(0)) and all(_is_symbol(part) for part in e.arg(0).children())


def _is_symbol(e: Term) -> bool:
    return smt.is_bv(e) and smt.is_symbol(e)
