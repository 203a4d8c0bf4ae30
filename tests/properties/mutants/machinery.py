"""Mutants of the interpreter, the kinds of state and the schedule policies."""

from __future__ import annotations

from tests.properties.mutants.kinds import EngineMutant, Kind


def of(module: str, *mutants: tuple[str, Kind, str, str, str]) -> tuple[EngineMutant, ...]:
    part = module.rpartition(".")[2]
    return tuple(
        EngineMutant(f"{part}: {name}", kind, f"polysome.{module}", old, new, example)
        for name, kind, example, old, new in mutants
    )


FLOW_MAP = of(
    "kinds.state.flow_map",
    ("a lookup refreshes nothing", Kind.refresh, "load_balancer", "        self._use(entry)\n        return entry.value\n", "        return entry.value\n"),
    ("a lookup by an index refreshes nothing", Kind.refresh, "nat", "        self._use(entry)\n        return entry.key, entry.value", "        return entry.key, entry.value"),
    ("a peek refreshes", Kind.refresh, "nat", "return (entry.key, entry.value) if entry is not None and self._reads(entry) else None", "return self.find(index, index_key)"),
    ("one ns too late", Kind.timeout, "load_balancer", "return min(self.used + self.idle, self.written + self.age)", "return min(self.used + self.idle, self.written + self.age) + 1"),
    ("one ns too early", Kind.timeout, "nat", "return min(self.used + self.idle, self.written + self.age)", "return min(self.used + self.idle, self.written + self.age) - 1"),
    ("age from the first write", Kind.timeout, "bridge", "        entry.used = entry.written = self._now()", "        entry.used = self._now()\n        entry.written = entry.written or self._now()"),
    ("room for one more", Kind.when_full, "nat", "return len(self._entries) >= self.capacity and", "return len(self._entries) > self.capacity and"),
    ("the youngest is evicted", Kind.when_full, "load_balancer", "oldest = self._by_use.first()", "oldest = next(reversed(self._entries.values()))"),
    ("the first inserted is evicted", Kind.when_full, "load_balancer", "oldest = self._by_use.first()", "oldest = next(iter(self._entries.values()))"),
    ("values are not given back at the end", Kind.leak, "nat", "        if self._release is not None:\n            self._release(entry.value)\n        if self._on_end is None:", "        if self._on_end is None:"),
    ("an index keeps what ended", Kind.stale, "nat", "        entry.ended = True\n        self._drop_index_keys(entry)", "        entry.ended = True"),
    ("rows that are gone still read", Kind.stale, "load_balancer", "        if entry is None or (self._alive is not None and not self._alive(entry.value)):", "        if entry is None:"),
    ("`on end` is not told", Kind.missing_update, "telemetry", "        if self._on_end is None:\n            return", "        if True:\n            return"),
    ("an overwritten entry is not rescheduled", Kind.timeout, "firewall", "        if entry.due() < due:\n            self._by_due.push", "        if False:\n            self._by_due.push"),
)  # fmt: skip

POOL = of(
    "kinds.state.pool",
    ("a value twice", Kind.leak, "nat", "        if cell not in self.skip and _inside(cell, self.axes):  # `axes` may have shrunk since\n                return cell\n        return None", "        if cell not in self.skip and _inside(cell, self.axes):\n                self._cells = _product(self.axes, self.without)\n                return cell\n        return None"),
    ("the one freed last comes first", Kind.order, "nat", "            part.free.append(cell)", "            part.free.appendleft(cell)"),
    ("loose values are lost", Kind.leak, "nat", "        loose, self._loose = self._loose, {}\n        for taken in loose:", "        loose, self._loose = {}, {}\n        for taken in loose:"),
    ("one partition for all", Kind.key, "nat", "            part = self._partitions[partition] = _Partition(", "            part = self._partitions[partition] = self._partitions[None] = _Partition("),
)  # fmt: skip

TOKEN_BUCKET = of(
    "kinds.state.token_bucket",
    ("a refill rounds down", Kind.rate, "policer", "min(MOST, tokens + (now - last) * rate)", "min(MOST, tokens + (now - last) // 10**6 * 10**6 * rate)"),
    ("a refused take starts anew", Kind.rate, "policer", "        return False, bucket", "        return False, (0, now)"),
    ("a refused take pays", Kind.rate, "policer", "        return False, bucket", "        return False, (max(0, tokens - n * scale), now)"),
    ("the burst is no limit", Kind.rate, "policer", "    return min(burst * scale, min(MOST, tokens + (now - last) * rate)), now", "    return min(MOST, tokens + (now - last) * rate), now"),
    ("a burst and one more byte", Kind.boundary, "policer", "    if tokens < n * scale:", "    if tokens + scale < n * scale:"),
    ("an equal amount is too much", Kind.boundary, "policer", "    if tokens < n * scale:", "    if tokens <= n * scale:"),
    ("time is not noted", Kind.rate, "policer", "    return True, (tokens - n * scale, now)", "    return True, (tokens - n * scale, bucket[1])"),
    ("double the rate", Kind.rate, "policer", "(now - last) * rate", "2 * (now - last) * rate"),
)  # fmt: skip

SKETCHES = (
    *of("kinds.state.count_min", ("one row is forgotten", Kind.estimate, "telemetry", "            row[i] = min(row[i] + n, MASK64)", "            row[i] = min(row[i] + (n if row is not self._rows[0] else 0), MASK64)"), ("it adds one", Kind.estimate, "telemetry", "min(row[i] + n, MASK64)", "min(row[i] + 1, MASK64)")),
    *of("kinds.state.bloom", ("one bit is not set", Kind.estimate, "telemetry", "                changed[at] |= 1 << (i & 7)", "                changed[at] = 1 << (i & 7)")),
    *of("kinds.state.top_k", ("newcomers start at their own count", Kind.estimate, "telemetry", "            n += least.count\n", ""), ("the lowest first", Kind.estimate, "telemetry", "key=lambda counter: (-counter.count,", "key=lambda counter: (counter.count,")),
    *of("kinds.state.hyperloglog", ("every key is the same", Kind.estimate, "telemetry", "lambda key: ctx.hash64(ctx.encode(key))", "lambda key: 1")),
)  # fmt: skip

TABLES = (
    *of("kinds.state.lpm", ("the shortest prefix wins", Kind.lookup, "router6", "sorted(self._by_length, reverse=True)", "sorted(self._by_length)"), ("prefixes of the other family", Kind.lookup, "router6", "            if family == bits:", "            if family == bits and length < bits:")),
    *of("kinds.state.acl", ("the last match wins", Kind.lookup, "acl", "sorted(rows, key=lambda row: -row.priority)", "sorted(rows, key=lambda row: -row.priority)[::-1]"), ("priorities upside down", Kind.lookup, "acl", "key=lambda row: -row.priority", "key=lambda row: row.priority"), ("ranges without their end", Kind.boundary, "acl", "            return low <= component <= high", "            return low <= component < high")),
    *of("config.tables", ("rows of an old table live on", Kind.stale, "load_balancer", "                row.live = id(row) in staying", "                row.live = True"), ("equal rows are new ones", Kind.stale, "load_balancer", "rows.setdefault(value, present.get(value) or Row(value))", "rows.setdefault(value, Row(value))")),
)  # fmt: skip

CHECKSUMS = (
    *of("interp.apply", ("checksums are forgotten", Kind.checksum, "load_balancer", "        _update_checksums(program.parser, p, data, buffer, changed)", "        pass"), ("the pseudo header is forgotten", Kind.checksum, "nat", '    if "pseudo" in checksum.parts:\n        for j', '    if False:\n        for j'), ("UDP without a checksum gets one", Kind.checksum, "nat", "            if field.checksum.zero_is_none and value == 0:\n                continue\n            value = updated", "            value = updated"), ("an edit is forgotten", Kind.rebuilding, "nat", "    for key, value in p.edits.items():", "    for key, value in list(p.edits.items())[:-1] or p.edits.items():"), ("the trailer is sent on", Kind.rebuilding, "forwarder", "data = p.data if p.end == len(p.data) else p.data[: p.end]", "data = p.data")),
    *of("ir.checksum", ("the carry is lost", Kind.checksum, "nat", "((0xFFFF - old + difference) % 0xFFFF)", "((0xFFFF - old + difference) % 0x10000)"), ("the difference has the wrong sign", Kind.checksum, "nat", "0xFFFF - old + difference", "0xFFFF - old - difference"), ("odd lengths are padded in front", Kind.checksum, "router6", '        chunk += b"\\0"', '        chunk = b"\\0" + chunk')),
    *of("interp.rebuild", ("lengths stay", Kind.rebuilding, "vxlan_gateway", "    _lengths(new, old, before)\n    _checksums(new, old, before)", "    _checksums(new, old, before)"), ("next fields stay", Kind.rebuilding, "vxlan_gateway", "    _next_fields(new, old, before)\n    _lengths(new, old, before)\n    _checksums", "    _lengths(new, old, before)\n    _checksums"), ("pushed behind", Kind.order, "vxlan_gateway", "place = len(chain) if before is None else chain.index(anchors[before])", "place = len(chain) if before is None else chain.index(anchors[before]) + 1")),
)  # fmt: skip

MACHINE = of(
    "interp.machine",
    ("time runs back", Kind.time, "load_balancer", "now = max(self.clock.now, time)\n        if", "now = time\n        if"),
    ("what is due at the packet's time is late", Kind.time, "load_balancer", "best, kind, index = by + 1, -1, 0", "best, kind, index = by, -1, 0"),
    ("config changes before expiries", Kind.time, "load_balancer", "self._changes[0][0] < best:", "self._changes[0][0] <= best:"),
    ("timers fire once", Kind.time, "telemetry", "at = self.started + (self._fired[i] + 1) * timer.period", "at = self.started + (self._fired[i] * 10**9 + 1) * timer.period"),
    ("taken values stay out", Kind.leak, "nat", "        finally:\n            self.states.settle()\n\n    def _drop", "        finally:\n            pass\n\n    def _drop"),
    ("short frames are sent", Kind.accounting, "forwarder", "        elif p.short:", "        elif False:"),
    ("a set of ports loses its last", Kind.accounting, "bridge", "(verdict,) if isinstance(verdict, int) else sorted(verdict)", "(verdict,) if isinstance(verdict, int) else sorted(verdict)[:-1] or sorted(verdict)"),
    ("drops are not counted", Kind.accounting, "shaper", "        if copies.waiting == 0 and not copies.sent:", "        if False:"),
)  # fmt: skip

POLICIES = (
    *of("kinds.policy.reframe", ("first in, last out", Kind.order, "reframer", "            for item in group:", "            for item in reversed(group):"), ("the window starts anew with each packet", Kind.time, "reframer", "        if self.due is None:\n            self.due = now + self.window", "        self.due = now + self.window"), ("the window is doubled", Kind.time, "reframer", "self.due = now + self.window", "self.due = now + 2 * self.window"), ("groups fall apart", Kind.order, "reframer", "self.groups.setdefault(item.cls, []).append(item)", "self.groups.setdefault((item.cls, self.count % 2), []).append(item)")),
)  # fmt: skip

PARSING = (
    *of("interp.parse_code", ("a header that does not fit is taken", Kind.parsing, "nat", 'c.put("if size > have:")', 'c.put("if size > have + 4:")'), ("options are not skipped", Kind.parsing, "nat", 'c.put(f"p.pos = p.header_end[{i}] = pos + size; p.path.append({i})")', 'c.put(f"p.pos = p.header_end[{i}] = pos + {header.fixed}; p.path.append({i})")')),
    *of("interp.statement_code", ("nothing is removed", Kind.missing_update, "dns_guard", 'self.put(f"STATE[{m!r}].remove({self.code(k)})")', 'self.put("pass")')),
)  # fmt: skip

ENGINE_MUTANTS: tuple[EngineMutant, ...] = (
    *FLOW_MAP, *POOL, *TOKEN_BUCKET, *SKETCHES, *TABLES, *CHECKSUMS, *MACHINE, *POLICIES, *PARSING,
)  # fmt: skip
