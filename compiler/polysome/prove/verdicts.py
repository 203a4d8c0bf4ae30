"""Where a packet goes when it leaves: where the controller says for the NF's verdict."""

from __future__ import annotations

from collections.abc import Iterable

from polysome import smt
from polysome.prove.answers import EDITS
from polysome.prove.p4.pipe import Passed
from polysome.prove.p4.store import Ran
from polysome.prove.window import Term, same
from polysome.prove.wire import PORT


def by_verdict(passed: Passed) -> Term:
    """Is its port, or its multicast group, what a table says that was asked for the verdict?"""
    ways = [way for way in (passed.port, passed.out("mcast_grp_a")) if isinstance(way, smt.Term)]
    said = [ran for ran in passed.store.ran for arg in ran.args if len(ways) == 1 and same(arg, ways[0])]
    return _asked(said)


def asked_for(passed: Passed) -> Term:
    """Was any table asked for the verdict? The controller has no port for some."""
    return _asked(passed.store.ran)


def _asked(tables: Iterable[Ran]) -> Term:
    verdict = smt.Concat(EDITS.byte(PORT), EDITS.byte(PORT + 1))
    keys = [ran.keys[0] for ran in tables if len(ran.keys) == 1]
    sixteen = [key for key in keys if isinstance(key, smt.Term) and key.size() == 16]
    return smt.simplify(smt.Or(*(key == verdict for key in sixteen)))
