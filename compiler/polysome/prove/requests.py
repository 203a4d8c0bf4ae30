"""What goes to a memory server is a request as PROTOCOL.md describes it, of the queue pair that the packet's tag names.

Where it lies and how long it is, `park` proves. Here it is who asks whom: every byte of the headers is a constant of
the protocol, one of the switch's addresses, a number of the queue pair's own register, or what the controller has put
into a table for this port or queue pair, by the names that it has there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from polysome import smt
from polysome.p4.types import Bits
from polysome.prove.answers import EDITS, Answer, reads
from polysome.prove.ones import added, in_bits
from polysome.prove.p4.expressions import Value, as_term
from polysome.prove.p4.pipe import Passed
from polysome.prove.p4.sums import as_word
from polysome.prove.park import LONGEST, written
from polysome.prove.places import Places, is_at
from polysome.prove.result import Result, Status, answered
from polysome.prove.traffic import Parked, Traffic
from polysome.prove.window import LENGTH, Term, same
from polysome.prove.wire import (
    LENGTH_AT,
    LINK,
    NUMBER,
    PAIR,
    PSN,
    REQUEST,
    SAID,
    SAID_PAIR,
    SAID_SEQ,
    TYPE,
    at,
)
from polysome_protocol import BTH, IPV4, REQUESTS, RETH, ROCE, UDP
from polysome_protocol.headers import Header


def _between(first: str, end: str, header: Header, **values: int) -> bytes:
    """The header's bytes from a field on, up to another one."""
    return header.pack(**values)[header[first].at : header[end].at]


# Bytes of all requests (PROTOCOL.md, "Frames between switch and RDMA servers"): RoCEv2 over IPv4 without options, and
# without a UDP checksum.
CONSTANT = {
    TYPE: bytes.fromhex("08004500"),
    at(IPV4, "fragment"): _between("fragment", "checksum", IPV4, fragment=ROCE.fragment, ttl=ROCE.ttl, protocol=17),
    at(UDP, "dport"): _between("dport", "length", UDP, dport=ROCE.port),
    at(UDP, "checksum"): bytes(UDP["checksum"].size),
    at(BTH, "flags"): _between("flags", "queue_pair", BTH, flags=ROCE.flags, partition=ROCE.partition),
}
WORDS = range(LINK, LINK + IPV4.size, 2)
CHECKSUM, ACK = at(IPV4, "checksum"), at(BTH, "ack_request")
# What the controller says of a server, by its port, and of a queue pair: parameters of actions, and bytes they fill.
SERVER = {"mac": (0, 6), "ip": (at(IPV4, "dst"), 4), "key": (at(RETH, "key"), 4)}
REMOTE = {"number": (NUMBER, 3)}
# Of a bucket: two queue pairs, each with the port of its server.
PORTS = {"primary": "primary_port", "backup": "backup_port"}


def requests(seen: Traffic) -> Iterator[Result]:
    """One result for each path that parks packets, one for each pass of an edits frame that becomes a READ."""
    prover = _Requests(seen)
    for path, passes in seen.by_path:
        asked = [(one.out, smt.Concat(*of.tag[SAID_PAIR])) for of, one in written(seen).of(passes)]
        result = prover.result(str(path), asked)
        yield result if result.status != Status.proved else prover.sent(str(path), passes)
    pair = smt.Concat(*(EDITS.byte(k) for k in SAID[SAID_PAIR]))
    for answer in reads(seen).answers:
        result = prover.result(str(answer.passed.path), [(answer.read, pair)])
        result = result if result.status != Status.proved else prover.asked(answer, pair)
        result = result if result.status != Status.proved else prover.at_its_place(answer, pair)
        result = result if result.status != Status.proved else prover.of_one_cell(answer)
        result = result if result.status != Status.proved else prover.alone(answer)
        yield replace(result, packet=None)  # it would be the NF's
    if seen.parked and not prover.whole:
        why = "no request has all that the controller says of its server and its queue pair"
        yield Result("requests", "all of them", Status.refuted, why)


@dataclass
class _Requests:
    seen: Traffic
    places: Places = field(default_factory=Places)
    whole: bool = False  # was one met for which the controller's tables had all that it needs?
    _proved: dict[tuple[object, ...], tuple[Passed, Term]] = field(default_factory=dict)  # with the terms of the key

    def result(self, subject: str, asked: list[tuple[Passed, Term]]) -> Result:
        for out, pair in asked:
            said = self._said(out)
            if said.keys() != {*SERVER, *REMOTE}:
                continue  # a table has no entry: the controller brings a queue pair up when all of them have
            self.whole = True
            key = self._key(out, pair)
            if key in self._proved:
                continue
            for why, wanted in self._wanted(out, pair, said):
                found = self._answered(subject, why, out.conditions, wanted)
                if found.status != Status.proved:
                    return found
            self._proved[key] = (out, pair)
        return Result("requests", subject, Status.proved)

    def sent(self, subject: str, passes: tuple[Parked, ...]) -> Result:
        """Do WRITEs go to the port of their queue pair, as the bucket says?"""
        for parked in passes:
            pair = smt.simplify(parked.copy.leaves.number(PAIR, 2))
            why = "it is parked on a queue pair that may be down"
            result = self._answered(subject, why, parked.conditions, _up(parked, pair))
            if result.status != Status.proved:
                return result
            given = self._parameters(parked.passed)
            if given.keys() >= PORTS.keys():
                both = [(given[name], given[port]) for name, port in PORTS.items()]
                if not any(same(one, pair) and same(port, parked.passed.port) for one, port in both):
                    why = "a WRITE goes to another port than that of its queue pair"
                    result = self._answered(subject, why, parked.conditions, smt.BoolVal(False))
                    if result.status != Status.proved:
                        return result
        return Result("requests", subject, Status.proved)

    def asked(self, answer: Answer, pair: Term) -> Result:
        """Does a READ go to the port of its queue pair, as a table says?"""
        said = [
            ran.keys[0] == pair
            for ran in answer.passed.store.ran
            if len(ran.keys) == 1
            and _size(ran.keys[0]) == _size(pair)
            and any(same(a, answer.passed.port) for a in ran.args)
        ]
        why = "a READ goes to another port than that of its queue pair"
        return self._answered(str(answer.passed.path), why, answer.conditions, smt.Or(*said))

    def alone(self, answer: Answer) -> Result:
        """Does its frame end with it, where its ICRC is appended?"""
        left = answer.read.leaves
        ends = smt.UGE(smt.BitVecVal(left.first, LENGTH), left.frame.length)
        wanted = smt.And(smt.BoolVal(len(left.prefix) == REQUEST), ends)
        why = "something of the NF's frame is left behind a READ"
        known = (*answer.conditions, smt.ULE(left.frame.length, LONGEST))
        return self._answered(str(answer.passed.path), why, known, wanted)

    def at_its_place(self, answer: Answer, pair: Term) -> Result:
        """Does it touch only elements of its queue pair, its slot, and what there is once?"""
        seq = smt.Concat(*(EDITS.byte(k) for k in SAID[SAID_SEQ]))
        for access in (*answer.accesses, *answer.read.store.accesses):
            if not self.places.fits(access, pair, seq):
                why = f"{access.action} is not at its queue pair's place, or its slot's"
                return self._answered(str(answer.passed.path), why, answer.conditions, smt.BoolVal(False))
        return Result("requests", str(answer.passed.path), Status.proved)

    def of_one_cell(self, answer: Answer) -> Result:
        """Whatever length the NF says: a longer one than any packet's would be answered by more than one response."""
        asked = smt.ULE(answer.read.leaves.number(LENGTH_AT, 4), self.seen.case.cell)
        why = "a READ may ask for more than a cell"
        return self._answered(str(answer.passed.path), why, answer.conditions, asked)

    def _answered(self, subject: str, why: str, known: tuple[Term, ...], wanted: Term) -> Result:
        return answered("requests", subject, why, self.seen.case.frame, known, smt.simplify(wanted))

    def _parameters(self, passed: Passed) -> dict[str, Value]:
        """What tables gave, by the names of the actions' parameters."""
        actions = self.seen.case.p4.actions
        return {
            place.path[0]: arg
            for ran in passed.store.ran
            for place, arg in zip(actions[ran.action].params, ran.args, strict=True)
        }

    def _said(self, out: Passed) -> dict[str, tuple[Value, Value]]:
        """What tables of the controller gave, by parameter, each with what it was looked up by."""
        actions = self.seen.case.p4.actions
        return {
            place.path[0]: (arg, ran.keys[0])
            for ran in out.store.ran
            if len(ran.keys) == 1
            for place, arg in zip(actions[ran.action].params, ran.args, strict=True)
            if place.path[0] in (SERVER | REMOTE)
        }

    def _key(self, out: Passed, pair: Term) -> tuple[object, ...]:
        """Equal for requests of which all is equal that is looked at, but for conditions."""
        keys = [key for _, key in self._said(out).values()]
        accesses = [v for a in out.store.accesses for v in (a.index, *a.old.values(), *a.new.values())]
        sums = [w for name in sorted(out.store.sums) for w in out.store.sums[name].words]
        terms = [*out.leaves.prefix[:REQUEST], pair, *keys, *accesses, *sums]
        return tuple(t.get_id() if isinstance(t, smt.Term) else t for t in terms)

    def _wanted(self, out: Passed, pair: Term, said: dict[str, tuple[Value, Value]]) -> Iterator[tuple[str, Term]]:
        case, left = self.seen.case, out.leaves
        for first, octets in CONSTANT.items():
            there = [left.byte(first + k) == octet for k, octet in enumerate(octets)]
            yield f"a request's bytes from {first} on are not {octets.hex()}", smt.And(*there)
        asks = smt.If(
            left.number(PSN, 3) & (REQUESTS.ack_every - 1) == 0, smt.BitVecVal(ROCE.ack_request, 8), smt.BitVecVal(0, 8)
        )
        yield "a request asks for an acknowledgement, or does not, against its PSN", left.byte(ACK) == asks
        yield "a request is not from the switch's MAC", left.number(6, 6) == case.addresses.mac
        yield "a request is not from the switch's IP", left.number(at(IPV4, "src"), 4) == case.addresses.ip
        for name, (first, size) in (SERVER | REMOTE).items():
            wanted = left.number(first, size) == as_term(said[name][0], Bits(8 * size))
            yield f"a request's bytes from {first} on are not the controller's `{name}`", wanted
        port = out.store.read(("eg_intr_md", "egress_port"), Bits(9))
        for name in SERVER:
            yield "a request has what the controller says of another port", _equal(said[name][1], port)
        for name in REMOTE:
            yield "a request has what the controller says of another queue pair", _equal(said[name][1], pair)
        yield "a request's PSN is not the next of its queue pair", self._next(out, pair)
        over = [smt.Concat(left.byte(k), left.byte(k + 1)) for k in WORDS if k != CHECKSUM]
        checksum = as_word(left.byte(CHECKSUM), left.byte(CHECKSUM + 1), out.store.sums, case.chip)
        yield "a request's IPv4 checksum is wrong", in_bits(checksum.equals(~added(over)))

    def _next(self, out: Passed, pair: Term) -> Term:
        """Its last bits come from an element of the queue pair's, which one is added to."""
        psn = out.leaves.number(PSN, 3)
        for access in out.store.accesses:
            old, new, index = access.old.get(""), access.new.get(""), access.index
            if isinstance(old, smt.Term) and isinstance(index, smt.Term) and old.size() >= psn.size():
                fits = index.size() <= pair.size()
                own = index == smt.Extract(index.size() - 1, 0, pair) if fits else smt.BoolVal(False)
                counts = as_term(new, Bits(old.size())) == old + 1
                return smt.And(psn == smt.Extract(psn.size() - 1, 0, old), counts, own)
        return smt.BoolVal(False)


def _up(parked: Parked, pair: Term) -> Term:
    """Is an element of the queue pair's not 0?"""
    said = [
        access.old[""] != 0
        for access in parked.passed.store.accesses
        if isinstance(access.old.get(""), smt.Term) and is_at(access.index, pair)
    ]
    return smt.Or(*said)


def _size(value: Value) -> int:
    return int(value.size()) if isinstance(value, smt.Term) else 0


def _equal(one: Value, other: Value) -> Term:
    if isinstance(one, int) and isinstance(other, int):
        return smt.BoolVal(one == other)
    return one == other
