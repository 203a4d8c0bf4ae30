"""The toy kind's own tests: its meaning, and that its terms say the same."""

from __future__ import annotations

import random

from tests.kinds.state.ring import Ring
from tests.kinds.state.ring.model import RingModel

from polysome import smt
from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.symbolic.values import FALSE, TRUE, bits
from polysome.syntax.spans import Span

ROOM = 3


def declared() -> ir.KindDecl:
    return ir.KindDecl("recent", Span("", 0, 0), False, "ring", (t.Bits(8),), {"room": ROOM})


def test_it_keeps_the_last_values() -> None:
    ring = Ring(ROOM)
    for value in range(5):
        ring.push(value)
    assert [value in ring for value in range(6)] == [False, False, True, True, True, False] and ring.held() == ROOM
    ring.clear()
    assert 4 not in ring and ring.held() == 0


def test_its_terms_say_the_same() -> None:
    chance = random.Random(0)
    for _ in range(50):
        ring = Ring(ROOM)
        for _ in range(chance.randrange(4)):
            ring.push(chance.randrange(4))
        model = RingModel(declared(), ring)
        for _ in range(6):
            method = chance.choice(["push", "push", "push", "clear"])
            args = [chance.randrange(4)] if method == "push" else []
            model.call(FALSE, method, [bits(0, 8) for _ in args])  # not done
            model.call(TRUE, method, [bits(value, 8) for value in args])
            getattr(ring, method)(*args)
        assert smt.simplify(model.call(TRUE, "held", [])).as_long() == ring.held()
        found = [smt.simplify(model.contains(bits(value, 8))) for value in range(4)]
        assert [bool(smt.is_true(each)) for each in found] == [value in ring for value in range(4)]
