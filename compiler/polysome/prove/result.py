"""What a proof found: nothing against it, a packet that breaks it, or that it ran out of time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import TypeVar

from polysome import smt
from polysome.prove.questions import Questions
from polysome.prove.window import Frame, Term

T = TypeVar("T")

PATIENCE = 20_000  # ms that one question may take


class Status(StrEnum):
    proved = "proved"
    refuted = "refuted"
    undecided = "undecided"


@dataclass(frozen=True)
class Result:
    """`obligation`: what was to be proved; `subject`: of which path or way. `why`: in words, unless it was proved.

    `packet`: one that breaks it, as it arrives at port `port` of the spec; of a proof, one that it is about, if there
    is a use for that.
    """

    obligation: str
    subject: str
    status: Status
    why: str = ""
    packet: bytes | None = None
    port: int = 0


class Facts:
    """What is assumed, for many questions."""

    def __init__(self, *assumed: Term) -> None:
        # A solver for questions that differ little: faster than one for bit vectors alone.
        self._questions = Questions(*assumed, patience=PATIENCE)

    def prove(self, more: Iterable[Term], *wanted: Term) -> bool:
        """Does all of `wanted` follow from what is assumed, and more? No, if time ran out."""
        return self._asked(more, wanted, lambda asked: asked.check() == smt.unsat)

    def against(self, more: Iterable[Term], *wanted: Term) -> smt.Model | bool | None:
        """A model of what is assumed, and more, in which not all of `wanted` hold.

        None if there is none; False if time ran out.
        """

        def model(asked: Questions) -> smt.Model | bool | None:
            return None if asked.check() == smt.unsat else asked.model() or False

        return self._asked(more, wanted, model)

    def _asked(self, more: Iterable[Term], wanted: tuple[Term, ...], answer: Callable[[Questions], T]) -> T:
        self._questions.push()
        try:
            self._questions.add(*more)
            if wanted:
                self._questions.add(smt.Not(smt.And(*wanted)))
            return answer(self._questions)
        finally:
            self._questions.pop()


NOTHING = Facts()


def follows_at_sight(known: Iterable[Term], wanted: Term) -> bool:
    """Does one of the conditions say so, or one of them each part of it? Most questions need no solver."""
    parts = _parts(wanted)
    return parts is _TRUE or (parts is not _FALSE and parts.in_all({c.get_id() for c in known}))


@dataclass(frozen=True)
class _Parts:
    """What follows if a condition of this number is known, or if any, or else all, of its parts follow."""

    term: Term  # kept, so that its number remains its own
    any_of: tuple[_Parts, ...] = ()
    all_of: tuple[_Parts, ...] = ()

    @cached_property
    def number(self) -> int:
        return int(self.term.get_id())

    def in_all(self, known: set[int]) -> bool:
        if self.number in known or any(part.in_all(known) for part in self.any_of):
            return True
        return bool(self.all_of) and all(part.in_all(known) for part in self.all_of)


_TRUE, _FALSE = _Parts(smt.BoolVal(True)), _Parts(smt.BoolVal(False))
_PARTS: dict[int, _Parts] = {part.number: part for part in (_TRUE, _FALSE)}


def _parts(term: Term) -> _Parts:
    number = term.get_id()
    if number not in _PARTS:
        opposite = smt.is_not(term)
        inner = term.arg(0) if opposite else term
        both = smt.is_or(inner) or smt.is_and(inner)
        parts = tuple(_parts(smt.Not(t) if opposite else t) for t in inner.children()) if both else ()
        of_any = both and smt.is_or(inner) != opposite
        _PARTS[number] = _Parts(term, parts if of_any else (), () if of_any else parts)
    return _PARTS[number]


def answered(
    obligation: str,
    subject: str,
    why: str,
    frame: Frame,
    assumed: Iterable[Term],
    *wanted: Term,
    port: Term | None = None,
    facts: Facts = NOTHING,
) -> Result:
    """Whether all of `wanted` follow from the facts and what is assumed; `why`: what it means if they do not."""
    known = tuple(assumed)
    model = None if all(follows_at_sight(known, one) for one in wanted) else facts.against(known, *wanted)
    if model is None:
        return Result(obligation, subject, Status.proved)
    if isinstance(model, bool):
        return Result(obligation, subject, Status.undecided, "no answer in time")
    number = 0 if port is None else model.eval(port, model_completion=True).as_long()
    return Result(obligation, subject, Status.refuted, why, frame.content(model), number)
