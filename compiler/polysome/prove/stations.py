"""What comes from memory servers and other stations: answers to the switch's requests, and frames to pass on (rule 8).

Only what is addressed to the switch, and to a queue pair number that the controller says is in use on that port, may
touch what the switch remembers. All else goes on unchanged to where the controller says, or nowhere: to one station by
its address, or to a group of them by the port where it came in. Never what says that the switch sent it, or is a frame
between the switch and an NF: whether it is tagged, twice at most, or not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, lru_cache

from polysome import smt
from polysome.p4.types import Bits
from polysome.prove.case import PLAIN, SERVER, Addresses, Case
from polysome.prove.frames import STATION, any_frame
from polysome.prove.p4.pipe import Passed, bridged
from polysome.prove.places import Places
from polysome.prove.result import NOTHING, Result, Status, answered
from polysome.prove.traffic import Traffic, unchanged
from polysome.prove.window import Term, Window, same
from polysome.prove.wire import ANSWER, NUMBER, SEQ_SIZE, TYPE, at
from polysome_protocol import ETHERNET, FRAMES, IPV4, ROCE, UDP

DST, SOURCE, TARGET = ETHERNET["dst"].at, at(IPV4, "src"), at(IPV4, "dst")
INGRESS_PORT = ("ig_intr_md", "ingress_port")

TAG, TAGS, MOST_TAGS = 4, (0x8100, 0x88A8), 2  # bytes, EtherTypes, and how many are looked behind
EARLY = 16  # conditions of a path: what says whose frame it is comes first


def stations(seen: Traffic) -> Iterator[Result]:
    """One result for each pass through the switch of frames from servers' ports, and from other ones."""
    for role in (SERVER, PLAIN):
        proved: dict[tuple[int, ...], Term] = {}
        places, wanted = Places(), dict[object, tuple[Term, object]]()
        passes = [_Pass(seen, role, passed, proved, places, wanted) for passed in any_frame(seen, role)]
        for one in passes:
            yield one.result()
        if not any(one.goes_on for one in passes):
            yield Result("stations", f"role {role}", Status.refuted, "no frame goes on")
        if not any(one.goes_on and one.passed.port is None for one in passes):
            yield Result("stations", f"role {role}", Status.refuted, "no frame goes on to a group")
        if seen.parked and role == SERVER and not any(one.remembered for one in passes):
            yield Result("stations", f"role {role}", Status.refuted, "no answer is taken")


@dataclass(frozen=True)
class _Pass:
    seen: Traffic
    role: int
    passed: Passed
    proved: dict[tuple[int, ...], Term]  # what follows from which conditions, by numbers of terms
    places: Places
    answers: dict[object, tuple[Term, object]]  # what is wanted of those that end here, with what the key is of

    @property
    def case(self) -> Case:
        return self.seen.case

    @property
    def remembered(self) -> bool:
        """Does it change what the switch remembers?"""
        return any(access.changes for access in self.passed.store.accesses)

    @property
    def goes_on(self) -> bool:
        return not self.passed.lost and not self.remembered

    def result(self) -> Result:
        why, wanted = self._wanted()
        return self._answered(why, self.passed.conditions, wanted) if self.passed.lost else self._out(why, wanted)

    def _wanted(self) -> tuple[str, Term]:
        if self.remembered:
            return "it passes for an answer, and is none", self._answer()
        refused = smt.Or(_forged(self.case.addresses), _tagged(MOST_TAGS + 1))
        if self.passed.lost:
            mine = smt.And(_is(DST, self.case.addresses.mac, 6), _is(TYPE, 0x0800, 2))
            asked = (asked for asked, _ in (*self._stations(), *self._floods()))
            return "it is dropped, and no table was asked for its station", smt.Or(mine, refused, *asked)
        right = smt.And(self._as_said(), smt.Not(refused))
        return "it goes on, and not as a table says for its station, or in the switch's name", right

    def _answer(self) -> Term:
        """That it is one. Of a frame that ends here that is about the port, the accesses and the tables alone."""
        if not self.passed.lost:
            return self._is_one()
        store = self.passed.store
        port = store.term(INGRESS_PORT, Bits(9))
        key = (port.get_id(), tuple(map(id, store.accesses)), tuple(map(id, store.ran)))
        if key not in self.answers:
            self.answers[key] = (self._is_one(), (self.passed, port))
        return self.answers[key][0]

    def _is_one(self) -> Term:
        server = smt.BoolVal(self.role == SERVER and self._at_their_places())
        return smt.And(server, _ours(self.case.addresses), self._in_use())

    def _out(self, why: str, wanted: Term) -> Result:
        """Of a frame that goes on: what leaves is the frame."""
        result = self._answered(why, self.passed.conditions, wanted)
        if result.status != Status.proved or self.remembered:
            return result
        for out in self.seen.egress.passes(*bridged(self.passed, STATION, self.case.chip)):
            if out.lost or not unchanged(out.leaves, 0, STATION):
                known = (*self.passed.conditions, *out.conditions)
                result = self._answered("it goes on, changed, or is lost in egress", known, smt.BoolVal(False))
                if result.status != Status.proved:
                    return result
        return result

    def _answered(self, why: str, known: tuple[Term, ...], wanted: Term) -> Result:
        wanted, subject = smt.simplify(wanted), str(self.passed.path)
        early = known[:EARLY]
        key = (wanted.get_id(), *(c.get_id() for c in early))
        if key in self.proved:
            return Result("stations", subject, Status.proved)
        if NOTHING.prove(early, wanted):
            self.proved[key] = wanted
            return Result("stations", subject, Status.proved)
        return replace(answered("stations", subject, why, STATION, known, wanted), packet=None)  # no port of the spec's

    # ------------------------------------------------------------ what frames are

    def _at_their_places(self) -> bool:
        """Are all registers touched at the place of the queue pair that the table named, or at the slot of the cell?"""
        given = [ran.args[0] for ran in self.passed.store.ran if len(ran.keys) == 2 and len(ran.args) == 1]
        accesses = [*self.passed.store.accesses]
        if not self.passed.lost:
            for out in self.seen.egress.passes(*bridged(self.passed, STATION, self.case.chip)):
                accesses += out.store.accesses
        seq = _number(ANSWER, SEQ_SIZE)
        return all(isinstance(pair, smt.Term) and self.places.fits(a, pair, seq) for pair in given for a in accesses)

    def _in_use(self) -> Term:
        """Did a table say so that was asked for the port and the number?"""
        port = self.passed.store.read(INGRESS_PORT, Bits(9))
        return smt.Or(
            *(
                smt.And(ran.keys[0] == port, ran.keys[1] == _number(NUMBER, 3))
                for ran in self.passed.store.ran
                if len(ran.keys) == 2 and ran.args and isinstance(ran.keys[1], smt.Term) and ran.keys[1].size() == 24
            )
        )

    def _as_said(self) -> Term:
        """Does it go to one port, or to one group of them, that a table gave for it? Never to both."""
        port, group, other = self.passed.port, self.passed.out("mcast_grp_a"), self.passed.out("mcast_grp_b")
        if other is not None or (port is None) == (group is None):
            return smt.BoolVal(False)
        found, to = (self._floods(), group) if port is None else (self._stations(), port)
        return smt.Or(*(asked for asked, args in found if any(same(arg, to) for arg in args)))

    def _stations(self) -> Iterator[tuple[Term, tuple[object, ...]]]:
        """Tables that were asked for a station: whether for the frame's, which is one, and what they gave."""
        for key, args in self._asked(48):
            yield smt.And(key == _number(DST, 6), smt.Not(_to_a_group())), args

    def _floods(self) -> Iterator[tuple[Term, tuple[object, ...]]]:
        """Tables that were asked for a group: whether for the port of a frame to one, and what they gave."""
        port = self.passed.store.read(INGRESS_PORT, Bits(9))
        for key, args in self._asked(9):
            yield smt.And(key == port, _to_a_group()), args

    def _asked(self, width: int) -> Iterator[tuple[Term, tuple[object, ...]]]:
        """By one key of so many bits."""
        for ran in self.passed.store.ran:
            if len(ran.keys) == 1 and isinstance(ran.keys[0], smt.Term) and ran.keys[0].size() == width:
                yield ran.keys[0], ran.args


@cache
def _number(first: int, count: int) -> Term:
    return Window(STATION).number(first, count)


@cache
def _is(first: int, value: int, count: int) -> Term:
    return _number(first, count) == value


@cache
def _to_a_group() -> Term:
    """The first bit of its destination on the wire."""
    return smt.Extract(0, 0, Window(STATION).byte(DST)) == 1


@cache
def _tagged(tags: int) -> Term:
    """With so many, or more."""
    kinds = (smt.Or(*(_is(TYPE + TAG * k, kind, 2) for kind in TAGS)) for k in range(tags))
    return smt.And(smt.BoolVal(True), *kinds)


@lru_cache(maxsize=1)
def _forged(addresses: Addresses) -> Term:
    """Does it say that the switch sent it, or is it a frame between the switch and an NF?"""
    found = []
    for tags in range(MOST_TAGS + 1):
        more = TAG * tags
        from_the_switch = smt.And(_is(TYPE + more, 0x0800, 2), _is(SOURCE + more, addresses.ip, 4))
        found.append(smt.And(_tagged(tags), smt.Or(from_the_switch, _is(TYPE + more, FRAMES.ether_type, 2))))
    return smt.Or(*found)


@lru_cache(maxsize=1)
def _ours(addresses: Addresses) -> Term:
    """RoCE over IPv4, to the switch."""
    return smt.And(
        _is(DST, addresses.mac, 6),
        _is(TYPE, 0x0800, 2),
        _is(at(IPV4, "version_ihl"), 0x45, 1),
        _is(at(IPV4, "protocol"), 17, 1),
        _is(TARGET, addresses.ip, 4),
        _is(at(UDP, "dport"), ROCE.port, 2),
    )
