"""Packets of one order class take one queue pair (PROTOCOL.md, rule 9): the switch hashes nothing that may differ.

And it hashes all that the plan says they have in common, and parks them by that: the plan counts on it that packets of
different order classes are spread over all servers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import combinations_with_replacement, product
from typing import Any

from polysome import smt
from polysome.ir import types as t
from polysome.prove.case import Case
from polysome.prove.p4.parser import Path
from polysome.prove.probes import asked_of, buckets
from polysome.prove.result import NOTHING, Facts, Result, Status, answered
from polysome.prove.spec.packet import Parsed
from polysome.prove.traffic import Parked, Traffic
from polysome.prove.window import Frame, Term
from polysome.symbolic.values import FALSE, conj, equal

DEEPEST = 512  # bytes of a frame that any path looks at


@dataclass
class _Alike:
    """Packets with the same fields hashed and the same order class, as terms; `condition`: which packets they are."""

    algorithm: str
    hashed: tuple[Term, ...]
    order_class: Any
    subject: str
    condition: Term


def order(seen: Traffic) -> Iterator[Result]:
    """One result for each two kinds of packets that are parked, each with itself too."""
    yield from _not_spread(seen)
    kinds = list(_kinds(seen))
    for one, other in combinations_with_replacement(kinds, 2):
        yield _same_bucket(seen.case, one, other)


def _kinds(seen: Traffic) -> Iterator[_Alike]:
    found: dict[tuple[object, ...], _Alike] = {}
    for path, passes in seen.by_path:
        for (over, algorithm, some), outcome in product(_hashed(path, passes), seen.outcomes(path)):
            order_class = _simplified(outcome.value(seen.case.program.schedule.cls))
            condition = smt.And(*path.conditions, *some, *outcome.conditions, *_not_mapped(outcome))
            key = (algorithm, *(b.get_id() for b in over), *_ids(order_class))
            if key in found:
                found[key].condition = smt.Or(found[key].condition, condition)
            else:
                found[key] = _Alike(algorithm, over, order_class, seen.case.headers(outcome.path), condition)
    yield from found.values()


def _hashed(path: Path, passes: tuple[Parked, ...]) -> list[tuple[tuple[Term, ...], str, tuple[Term, ...]]]:
    """What is hashed of packets that take a path, how, and in which passes, if not all of them hash the same."""
    found: dict[tuple[object, ...], tuple[tuple[Term, ...], str, list[Term]]] = {}
    for parked in passes:
        hashed = parked.passed.store.hashed
        over = tuple(byte for h in hashed for byte in h.over)
        algorithm = ",".join(h.algorithm for h in hashed)
        same = found.setdefault((algorithm, *(b.get_id() for b in over)), (over, algorithm, []))
        same[2].append(smt.And(*parked.passed.conditions[len(path.conditions) :]))
    alone = len(found) == 1
    return [(over, algorithm, () if alone else (smt.Or(*some),)) for over, algorithm, some in found.values()]


def _not_mapped(outcome: Parsed) -> list[Term]:
    """No IPv6 address of the packet is an IPv4-mapped one: such a packet is of the same order class as an IPv4 one."""
    parser = outcome.program.parser
    return [
        smt.Extract(127, 32, outcome.field(i, f)) != 0xFFFF
        for i in outcome.path
        for f, field in enumerate(parser.instances[i].header.fields)
        if field.type == t.IPV6
    ]


def _simplified(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(_simplified(item) for item in value)
    return smt.simplify(value) if isinstance(value, smt.Term) else value


def _ids(value: Any) -> Iterator[object]:
    if isinstance(value, tuple):
        for item in value:
            yield from _ids(item)
    else:
        yield value.get_id() if isinstance(value, smt.Term) else id(value)


def _same_bucket(case: Case, one: _Alike, other: _Alike) -> Result:
    subject = f"{one.subject}, {other.subject}"
    mine, theirs = case.frame, Frame("other")
    second = _of_another(mine, theirs)
    alike = (one.algorithm, len(one.hashed)) == (other.algorithm, len(other.hashed))
    same = conj(*(a == second(b) for a, b in zip(one.hashed, other.hashed, strict=True))) if alike else FALSE
    facts = Facts(one.condition, second(other.condition), equal(one.order_class, second(other.order_class)))
    model = facts.against((), same)
    if model is None:
        return Result("order", subject, Status.proved)
    if isinstance(model, bool):
        return Result("order", subject, Status.undecided, "no answer in time")
    why = f"it and the packet {theirs.content(model).hex()} are of one order class, and may take two queue pairs"
    return Result("order", subject, Status.refuted, why, mine.content(model))


def _of_another(mine: Frame, theirs: Frame) -> Callable[[Any], Any]:
    """What makes of a value of one packet the other's."""
    renamed = [(mine.byte(k), theirs.byte(k)) for k in range(DEEPEST)] + [(mine.length, theirs.length)]

    def second(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(second(item) for item in value)
        return smt.substitute(value, *renamed) if isinstance(value, smt.Term) else value

    return second


# ---------------------------------------------------------------- all queue pairs are used


def _not_spread(seen: Traffic) -> Iterator[Result]:
    """One result for each path whose packets are not spread as the plan says."""
    ways, tables = {way.parse_class: way.hashed for way in seen.case.ways}, buckets(seen.case.p4)
    decided = _Decided(seen.case.frame)
    for path, passes in seen.by_path:
        wanted = [found.field(*key) for found in seen.outcomes(path) for key in ways.get(found.number, ())]
        for over, values, keys in _looked_up(passes, tables):
            if keys != values or not all(decided.by(over, value) for value in wanted):
                why = "its bucket is not the hash of all that the plan hashes of its way"
                known, port = path.conditions, seen.port
                yield answered("order", str(path), why, seen.case.frame, known, smt.BoolVal(False), port=port)
                break


@dataclass
class _Decided:
    """What bytes of a packet follow from what is hashed of it: two packets that hash the same have them in common."""

    frame: Frame
    _known: dict[tuple[int, ...], tuple[Term, bool]] = field(
        default_factory=dict
    )  # by numbers of terms, which are kept

    def by(self, over: tuple[Term, ...], wanted: Term) -> bool:
        key = (wanted.get_id(), *(byte.get_id() for byte in over))
        if key not in self._known:
            second = _of_another(self.frame, Frame("other"))
            right = NOTHING.prove([byte == second(byte) for byte in over], wanted == second(wanted))
            self._known[key] = (wanted, right)
        return self._known[key][1]


def _looked_up(passes: Iterable[Parked], tables: set[str]) -> Iterator[tuple[tuple[Term, ...], list[str], list[str]]]:
    """What is hashed, to what, and what of the packet the tables are asked by that say where it is parked."""
    for passed in (parked.passed for parked in passes):
        over = tuple(byte for hashed in passed.store.hashed for byte in hashed.over)
        keys = [key.name for ran in asked_of(passed, tables) for key in ran.keys if isinstance(key, smt.Term)]
        yield over, [hashed.value.name for hashed in passed.store.hashed], keys
