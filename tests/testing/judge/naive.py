"""Properties judged in the simplest way: nested loops over the typed tree, every value computed anew.

LANGUAGE.md section 12 read literally, to compare the query planner with. Undefined is None.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from tests.testing.judge.naive_values import COMPARE, arithmetic, by_class, mask, multiset

from polysome.engines.options import RunOptions, Unsupported
from polysome.interp.packet import Packet, read_bits
from polysome.ir import program as ir
from polysome.ir import properties as pr
from polysome.ir import types as t
from polysome.ir.fold import zero
from polysome.kinds.base import Trap
from polysome.kinds.hashing import encoder, key_of_seed, siphash
from polysome.kinds.state import token_bucket
from polysome.kinds.values import ABSENT, plain
from polysome.testing.execution import Execution
from polysome.testing.judge import checksums
from polysome.testing.judge.parsing import parse

Env = dict[int, Any]


class Naive:
    """Evaluates the properties of one program on one run."""

    def __init__(self, program: ir.Program, execution: Execution) -> None:
        self.program, self.execution, self.record = program, execution, execution.record
        self.packet: Packet | None = None
        self.skipped: str | None = None
        self._parses: dict[tuple[bool, int, str], Packet | None] = {}
        self._memo: dict[tuple[int, str, bool], Any] = {}  # values of packets, which are slow to compute

    # ------------------------------------------------------------ items

    def judge(self, property: pr.Property) -> tuple[int, tuple[pr.Expect, Env] | None]:
        """How many times an `expect` was evaluated, and the first that failed with its names."""
        self.cases = 0
        failed = self._items(property.items, {})
        return self.cases, failed

    def _items(self, items: tuple[pr.Item, ...], env: Env) -> tuple[pr.Expect, Env] | None:
        for item in items:
            match item:
                case pr.Let(slot=slot, value=value):
                    env = env | {slot: self.value(value, env)}
                case pr.Expect(condition=condition):
                    self.cases += 1
                    try:
                        held = self.value(condition, env) is True
                    except Unsupported as lacking:
                        held, self.skipped = True, self.skipped or str(lacking)
                    if not held:
                        return item, env
                case pr.ForAll():
                    for inner in self._all(item, env):
                        if item.where is None or self.value(item.where, inner) is True:
                            failed = self._items(item.body, inner)
                            if failed is not None:
                                return failed
        return None

    def _all(self, item: pr.ForAll, env: Env) -> Iterator[Env]:
        elements = self._domain(item.domain, env)
        if item.domain.source is None:
            for chosen in itertools.combinations(elements, len(item.slots)):
                yield env | dict(zip(item.slots, chosen, strict=True))
        elif len(item.slots) == 2:
            for pair in elements:
                yield env | dict(zip(item.slots, pair, strict=True))
        else:
            for element in elements:
                yield env | {item.slots[0]: element}

    def _domain(self, domain: pr.Domain, env: Env) -> list[Any]:
        if domain.kind == "trace":
            return list(range(len(self.record.fates)))
        if domain.kind == "emitted":
            return list(range(len(self.record.emitted)))
        assert domain.source is not None
        found = self.value(domain.source, env)
        return list(found.items()) if isinstance(found, dict) else list(found or ())

    # ------------------------------------------------------------ expressions

    def values(self, items: tuple[ir.Expr, ...], env: Env) -> list[Any] | None:
        found = [self.value(i, env) for i in items]
        return None if any(f is None for f in found) else found

    def value(self, e: ir.Expr, env: Env) -> Any:
        match e:
            case ir.Const(value=v):
                return v
            case ir.Local(slot=slot):
                return env[slot]
            case ir.Unary(op="not", operand=x):
                return self.value(x, env) is not True
            case ir.Unary(operand=x):
                v = self.value(x, env)
                return None if v is None else v ^ mask(e.type)
            case ir.Binary(op="and", left=a, right=b):
                return self.value(a, env) is True and self.value(b, env) is True
            case ir.Binary(op="or", left=a, right=b):
                return self.value(a, env) is True or self.value(b, env) is True
            case ir.Binary(op=op, left=a, right=b) if isinstance(a.type, pr.Outputs):
                one, two = self.value(a, env), self.value(b, env)
                if op == "<=":
                    return not multiset(one) - multiset(two)
                return (by_class(one) == by_class(two)) == (op == "==")
            case ir.Binary(op=op, left=a, right=b) if op in COMPARE:
                found = self.values((a, b), env)
                return False if found is None else bool(COMPARE[op](*found))
            case ir.Binary(op=op, left=a, right=b):
                found = self.values((a, b), env)
                return None if found is None else arithmetic(op, *found, e.type)
            case ir.Ratio(amount=a, duration=d):
                found = self.values((a, d), env)
                scale = 8 * 10**9 if isinstance(e.type, t.Ratio) and e.type.rate == "bitrate" else 10**9
                return None if found is None or found[1] == 0 else Fraction(found[0] * scale, found[1])
            case ir.Choose(condition=c, then=a, orelse=b):
                return self.value(a if self.value(c, env) is True else b, env)
            case ir.LetIn(slot=slot, value=v, body=b):
                return self.value(b, env | {slot: self.value(v, env)})
            case ir.Deref(value=v):
                return self.value(v, env)
            case pr.Quantified(kind=kind, slot=slot, domain=domain, condition=condition):
                each = (self.value(condition, env | {slot: x}) is True for x in self._domain(domain, env))
                return any(each) if kind == "exists" else all(each)
            case pr.Aggregate():
                return self._aggregate(e, env)
            case _:
                return self._simple(e, env)

    def _simple(self, e: ir.Expr, env: Env) -> Any:
        match e:
            case ir.Make(items=items):
                found = self.values(items, env)
                if found is None:
                    return None
                return frozenset(found) if isinstance(e.type, t.SetOf) else tuple(found)
            case ir.Get(value=v, index=i):
                whole = self.value(v, env)
                return None if whole is None else whole[i]
            case ir.Cast(value=v, mapped=mapped):
                inner = self.value(v, env)
                if inner is None:
                    return None
                return inner | 0xFFFF00000000 if mapped else int(inner) & mask(e.type)
            case ir.BitSlice(value=v, high=high, low=low):
                inner = self.value(v, env)
                return None if inner is None else inner >> low & (1 << (high - low + 1)) - 1
            case ir.Concat(left=a, right=b):
                found = self.values((a, b), env)
                return None if found is None else found[0] << (t.width(b.type) or 0) | found[1]
            case ir.MinMax(op=op, left=a, right=b):
                found = self.values((a, b), env)
                return None if found is None else (min if op == "min" else max)(found)
            case ir.Hash(args=args):
                found = self.values(args, env)
                seed = key_of_seed(self.program.params["seed"][1])
                encode = encoder(t.Tuple(tuple(a.type for a in args)))
                return None if found is None else siphash(seed, encode(tuple(found)))
            case ir.FnCall(fn=fn, args=args):
                found = self.values(args, env)
                decl = self.program.fns[fn]
                return None if found is None else self.value(decl.body, dict(zip(decl.slots, found, strict=True)))
            case ir.InPrefix(address=a, prefix=p):
                found = self.values((a, p), env)
                return found is not None and found[1].contains(found[0], t.width(a.type))
            case ir.InSet(item=x, set=s):
                found = self.values((x, s), env)
                return found is not None and found[0] in found[1]
            case ir.ListIndex(table=table, index=index):
                found = self.values((table, index), env)
                if found is None:
                    return None
                if isinstance(table.type, t.Table):
                    return _quietly(found[0].lookup, found[1])
                return found[0][found[1]] if found[1] < len(found[0]) else None
            case ir.Length(table=table):
                whole = self.value(table, env)
                return None if whole is None else len(whole) & mask(e.type)
            case _:
                return self._of_packets(e, env)

    def _aggregate(self, e: pr.Aggregate, env: Env) -> Any:
        inner = [env | {e.slot: x} for x in self._domain(e.domain, env)]
        inner = [i for i in inner if e.where is None or self.value(e.where, i) is True]
        if e.value is None:
            return len(inner)
        found = [v for i in inner if (v := self.value(e.value, i)) is not None]
        match e.op:
            case "sum":
                return sum(found) & mask(e.type)
            case "distinct":
                return len(set(found))
            case _:
                return (min if e.op == "min" else max)(found, default=None)

    # ------------------------------------------------------------ packets

    def _of_packets(self, e: ir.Expr, env: Env) -> Any:
        match e:
            case pr.Attribute(packet=packet, name=name):
                n = self.value(packet, env)
                if n is None:
                    return None
                return self._made(n, name) if packet.type == pr.EMITTED else self._attribute(n, name)
            case pr.Seen(packet=packet, side=side, value=value):
                n = self.value(packet, env)
                parsed = None if n is None else self._parsed(packet.type == pr.EMITTED, n, side)
                if parsed is None:
                    return None
                before, self.packet = self.packet, parsed
                found = self.value(value, {})
                self.packet = before
                return found
            case pr.Snapshot(packet=packet, when=when, read=read):
                n = self.value(packet, env)
                return None if n is None else self._read(n, 2 * n + (when == "after"), read, env)
            case ir.Config(name=name):
                return self._config(0)[name]
            case pr.Lookup():
                return self._table(e, self._config(0), env)
            case pr.Undefined():
                return None
            case pr.Written(packet=packet, header=header, field=field):
                return self._written(self.value(packet, env), header, field)
            case pr.ChecksumsValid(packet=packet, side=side):  # which ones are right: test_checksums.py
                n, emitted = self.value(packet, env), packet.type == pr.EMITTED
                if n is None:
                    return None
                parsed = self._parsed(emitted, n, side)
                return parsed is not None and checksums.right(self.program, parsed.data, parsed)
            case pr.Passed() | pr.NoGap() | pr.Ended() | pr.Full() | pr.Run():
                return self._whole(e, env)
            case _:
                return self._wire(e)

    def _attribute(self, n: int, name: str) -> Any:
        fate = self.record.fates[n]
        ports = frozenset(c.port for c in fate.copies)
        return {
            "number": n,
            "at": fate.at,
            "sent": fate.sent,
            "dropped": fate.dropped,
            "held": fate.held,
            "reason": fate.reason,
            "left": fate.copies[0].time if fate.copies else None,
            "place": fate.copies[0].place if fate.copies else None,
            "ports": ports,
            "out_port": min(ports) if len(ports) == 1 else None,
            "class": fate.order_class,
            "changes": sum(c.time <= fate.at for c in self.record.trace.changes),
        }[name]

    def _made(self, n: int, name: str) -> Any:
        made = self.record.emitted[n]
        return {"at": made.time, "port": made.port, "cause": made.cause}[name]

    def _parsed(self, emitted: bool, n: int, side: str) -> Packet | None:
        key = (emitted, n, side)
        if key not in self._parses:
            self._parses[key] = self._parse(emitted, n, side)
        return self._parses[key]

    def _parse(self, emitted: bool, n: int, side: str) -> Packet | None:
        if emitted:
            return parse(self.program, self.record.emitted[n].port, self.record.emitted[n].data)
        fate = self.record.fates[n]
        if side == "in":
            return parse(self.program, fate.arrival.port, fate.arrival.data)
        return parse(self.program, fate.arrival.port, fate.copies[0].data) if fate.copies else None

    def _written(self, n: int, header: str, field: int | None) -> Any:
        made = self.record.emitted[n]
        names = [name for name, _ in made.headers or ()]
        if field is None:
            return header in names
        if header not in names:
            return None
        at = sum(self.program.headers[name].fixed for name in names[: names.index(header)])
        f = self.program.headers[header].fields[field]
        return read_bits(made.data, at * 8 + f.offset, f.width, len(made.data))

    def _wire(self, e: ir.Expr) -> Any:
        p = self.packet
        assert p is not None, type(e)
        match e:
            case ir.HeaderField(instance=i, field=index):
                f = self.program.parser.instances[i].header.fields[index]
                if p.offset[i] < 0:
                    return None
                found = read_bits(p.data, p.offset[i] * 8 + f.offset, f.width, p.header_end[i])
                return found != 0 if isinstance(f.type, t.Bool) else found
            case ir.Valid(instance=i):
                return p.offset[i] >= 0
            case ir.PacketValue(name=name, for_class=for_class):
                return self._packet_value(p, name, for_class)
            case ir.PacketLen():
                return p.length
            case ir.InPort():
                return p.in_port
            case ir.PayloadLen():
                return p.end - p.payload
            case pr.Frame():
                return p.data[: p.end]
            case ir.PayloadBytes(low=low, high=high):
                found = p.data[p.payload : p.end][low:high]
                return found if isinstance(e.type, t.ByteString) else int.from_bytes(found.ljust(high - low, b"\0"))
            case ir.RestBytes(instance=i, low=low, high=high):
                if p.offset[i] < 0:
                    return None
                rest = p.data[p.offset[i] + self.program.parser.instances[i].header.fixed : p.header_end[i]]
                if isinstance(e.type, t.ByteString):
                    return rest[low:high]
                return len(rest) if low is None else int.from_bytes(rest[low:high].ljust(high - low, b"\0"))
            case _:
                raise AssertionError(type(e))

    def _packet_value(self, p: Packet, name: str, for_class: bool) -> Any:
        key = (id(p), name, for_class)
        if key not in self._memo:
            decl = self.program.parser.values[name]
            self._memo[key] = self.value(decl.for_class if for_class else decl.value, {})
        return self._memo[key]

    # ------------------------------------------------------------ state, config, the trace as a whole

    def _config(self, stamp: int) -> dict[str, Any]:
        assert self.record.history is not None
        found = dict(self.record.history.config(stamp))
        for name, value in found.items():
            if isinstance(value, tuple):
                found[name] = tuple(map(plain, value))
            if isinstance(value, dict):
                found[name] = {k: plain(v) for k, v in value.items()}
        return found

    def _table(self, e: pr.Lookup, config: dict[str, Any], env: Env) -> Any:
        key = self.value(e.key, env)
        if key is None:
            return None
        table, type = config[e.source], self.program.config[e.source].type
        assert isinstance(type, t.Table)
        if type.kind == "lpm":
            return plain(table.get(key, t.width(e.key.type)))
        if type.kind == "acl":
            items = e.key.type.items if isinstance(e.key.type, t.Tuple) else (e.key.type,)
            return plain(table.get(key if isinstance(key, tuple) else (key,), tuple(map(t.width, items))))
        return table.get(key)

    def _read(self, n: int, stamp: int, read: ir.Expr, env: Env) -> Any:
        history = self.record.history
        assert history is not None
        match read:
            case ir.Config(name=name):
                return self._config(stamp)[name]
            case pr.Lookup(kind="table"):
                return self._table(read, self._config(stamp), env)
            case pr.Lookup(source=source, key=key, index=index):
                found = history.read(stamp, source, index or "", self.value(key, env))
                return None if found is ABSENT else plain(found if index else found[1])
            case ir.Contains(state=state, key=key, index=index):
                k = self.value(key, env)
                if isinstance(self.program.state[state], ir.MapDecl):
                    return history.read(stamp, state, index or "", k) is not ABSENT
                return k is not None and k in history.read(stamp, state, "", None)
            case pr.Entries(state=state):
                decl = self.program.state[state]
                if not isinstance(decl, ir.MapDecl):
                    return list(history.read(stamp, state, "", None))
                entries = history.entries(stamp, state)
                return [k if decl.value is None else (k, plain(v)) for k, v in entries]
            case ir.StateLen(state=state):
                return self._length(n, stamp, state) & mask(read.type)
            case ir.StateRead(state=state):
                return plain(history.read(stamp, state, "", None))
            case ir.ArrayRead(state=state, index=index):
                decl, i = self.program.state[state], self.value(index, env)
                if i is None or i >= decl.size:
                    return None
                found = history.read(stamp, state, "", i)
                return decl.initial if found is ABSENT else plain(found)
            case ir.MethodCall(state=state, method=method, args=args):
                found = self.values(args, env)
                return None if found is None else getattr(history.read(stamp, state, "", None), method)(*found)
            case ir.BucketOp():
                return self._bucket(n, stamp, read, env)
            case _:
                raise AssertionError(type(read))

    def _length(self, n: int, stamp: int, state: str) -> int:
        history, decl = self.record.history, self.program.state[state]
        assert history is not None
        if not isinstance(decl, ir.PoolDecl):
            found = history.read(stamp, state, "len", None)
            return 0 if found is ABSENT else found
        self.packet = self._parsed(False, n, "in")
        found = history.read(stamp, state, "len", None if decl.per is None else self.value(decl.per, {}))
        return history.read(stamp, state, "len", ...) if found is ABSENT else found

    def _bucket(self, n: int, stamp: int, e: ir.BucketOp, env: Env) -> Any:
        history, decl = self.record.history, self.program.state[e.place.state]
        assert history is not None
        key = None if e.place.key is None else self.value(e.place.key, env)
        found = history.read(stamp, e.place.state, "", key)
        if isinstance(decl, ir.MapDecl):
            assert decl.value is not None
            found = zero(decl.value) if found is ABSENT else found[1]
        for i in e.place.path:
            found = found[i]
        scale = token_bucket.SCALE["packets" if e.rate.type == t.PACKETRATE else "bytes"]
        amounts = self.values((e.amount, e.rate, e.burst), env)
        return None if amounts is None else token_bucket.has(found, self.record.fates[n].at, *amounts, scale)

    def _whole(self, e: ir.Expr, env: Env) -> Any:
        match e:
            case pr.Run(options=options):
                values = {n: frozenset(v) if n == "faults" else v for n, v in options if n != "engine"}
                return self.execution.rerun(RunOptions(**values), dict(options).get("engine"))
            case pr.Passed(unit=unit, by=by, key=key, window=window):
                found = self.values((key, window.low, window.high), env)
                if found is None:
                    return None
                k, low, high = found
                mine = [
                    f.copies[0]
                    for f in self.record.fates
                    if f.copies and low <= f.copies[0].time < high and self._key(by, f.number) == k
                ]
                return len(mine) if unit == "packets" else sum(len(c.data) for c in mine)
            case pr.NoGap(flow=flow, longest=longest, window=window):
                found = self.values((flow, longest), env)
                bounds = () if window is None else self.values((window.low, window.high), env)
                if found is None or bounds is None:
                    return None
                times = [f.at for f in self.record.fates if self._key("flow", f.number) == found[0]]
                if bounds:
                    low, high = bounds
                    if low >= high:
                        return True
                    times = [low, *(x for x in times if low <= x < high), high]
                return all(b - a < found[1] for a, b in itertools.pairwise(times))
            case pr.Ended(maps=maps, key=key, why=why, window=window):
                k = None if key is None else self.value(key, env)
                bounds = (0, 1 << 64) if window is None else self.values((window.low, window.high), env)
                if (key is not None and k is None) or bounds is None:
                    return None
                return any(
                    x.map in maps
                    and (key is None or x.key == k)
                    and (why is None or x.why == why)
                    and bounds[0] <= x.time < bounds[1]
                    for x in self.record.ends
                )
            case pr.Full(window=window):
                bounds = (0, 1 << 64) if window is None else self.values((window.low, window.high), env)
                refused = [
                    o.time
                    for o in self.record.history.operations  # type: ignore[union-attr]
                    if (o.op == "put" and (o.result is False or o.result == f"{o.state} full"))
                    or (o.op == "take" and o.result is None)
                ]
                refused += [x.time for x in self.record.ends if x.why == t.END.number("evicted")]
                return None if bounds is None else any(bounds[0] <= x < bounds[1] for x in refused)
            case _:
                raise AssertionError(type(e))

    def _key(self, by: str, n: int) -> Any:
        if by == "class":
            return self.record.fates[n].order_class
        self.packet = self._parsed(False, n, "in")
        assert self.packet is not None
        return self._packet_value(self.packet, "flow", False)


def _quietly(function: Any, argument: Any) -> Any:
    try:
        return plain(function(argument))
    except Trap:
        return None
