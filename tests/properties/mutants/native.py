"""Mutants of the native NF: of the C++ runtime, and of the generator that writes C++."""

from __future__ import annotations

import dataclasses

from tests.properties.mutants.kinds import Kind, NativeMutant


def of(file: str, *mutants: tuple[str, Kind, str, str, str]) -> tuple[NativeMutant, ...]:
    part = file.rpartition("/")[2].partition(".")[0]
    return tuple(
        NativeMutant(f"native {part}: {name}", kind, file, old, new, example)
        for name, kind, example, old, new in mutants
    )


FLOW_MAP = of(
    "runtime/nf/flow_map.hpp",
    ("a use refreshes nothing", Kind.refresh, "load_balancer", "if constexpr (Traits::keeps_used) {\n            hot_[n].used.ns = clock_.now;\n", "if constexpr (Traits::keeps_used) {\n"),
    ("room for one more", Kind.when_full, "nat", "if (n == absent && size_ >= capacity_) [[unlikely]] {", "if (n == absent && size_ > capacity_) [[unlikely]] {"),
    ("a full map says nothing", Kind.when_full, "nat", "return {Put::full};\n            if", "return {Put::passed};\n            if"),
    ("what an ended entry owned stays taken", Kind.leak, "nat", "        release(value);\n        if constexpr (Spec::has_on_end) {", "        if constexpr (Spec::has_on_end) {"),
    ("an ended entry keeps its place in the indexes", Kind.stale, "nat", "        end_key(n);\n        leave_indexes(n);\n", "        end_key(n);\n"),
    ("idle and age exchanged", Kind.swapped, "telemetry", "idle ? End::idle : End::age", "idle ? End::age : End::idle"),
    ("entries outlive their row", Kind.stale, "load_balancer", "        if constexpr (Spec::has_alive) return spec_.alive(hot_[n].value);\n", ""),
    ("a write of the same value is no use", Kind.refresh, "firewall", "                    start_anew(n);\n                    return {Put::stored};", "                    return {Put::stored};"),
    ("a due time that sinks is not noticed", Kind.time, "telemetry", "            if (now_due >= before) return;\n", "            if (now_due >= before || before != 0) return;\n"),
    ("age from the first write", Kind.timeout, "bridge", "if constexpr (Traits::keeps_written) hot_[n].written.ns = clock_.now;", "if constexpr (Traits::keeps_written) if (seq(n) == inserted_) hot_[n].written.ns = clock_.now;"),
    ("an overwritten value stays taken", Kind.leak, "nat", "        reschedule(n, before);\n        release(old);", "        reschedule(n, before);"),
)  # fmt: skip

BELOW_FLOW_MAP = (
    *of(
        "runtime/nf/flow_map/entry.hpp",
        ("one ns too late", Kind.timeout, "load_balancer", "NEVER : time + span; }", "NEVER : time + span + 1; }"),
    ),
    *of(
        "runtime/nf/flow_map/key.hpp",
        ("IPv6 keys are cut to 32 bits", Kind.lookup, "firewall", "if (!fits) [[unlikely]] {", "if (!fits && words[0] == words[2]) {"),
    ),
    *of(
        "runtime/nf/flow_map/table.hpp",
        ("only the first bucket is searched", Kind.lookup, "bridge", "if (line.passed == 0 || further == 0) [[likely]]\n                return none;", "return none;"),
        ("an erased entry stays", Kind.stale, "bridge", "        buckets_[place.bucket].tags[place.at] = 0;\n", ""),
    ),
    *of(
        "runtime/nf/flow_map/wheel.hpp",
        ("an earlier due time is not noticed", Kind.time, "telemetry", "        quiet_ = std::min(quiet_, rank);\n", ""),
        ("slots are forgotten once the heap was looked at", Kind.time, "bridge", "quiet_ = std::min(top, start);", "quiet_ = top;"),
        ("the heap is not exact", Kind.time, "nat", "            if (rank == top.rank) return;\n", "            return;\n"),
        ("those of a slot in any order", Kind.order, "telemetry", "        run_.sort();\n", ""),
    ),
    *of(
        "runtime/nf/flow_map/heap.hpp",
        ("among equals the last first", Kind.order, "telemetry", "a.rank < b.rank : a.seq < b.seq", "a.rank < b.rank : a.seq > b.seq"),
        ("the oldest by its first use", Kind.when_full, "telemetry", "if (rank == item.rank) return item.entry;", "return item.entry;"),
    ),
)  # fmt: skip

PACKETS = (
    *of(
        "runtime/nf/checksum.hpp",
        ("ffff for 0", Kind.checksum, "writing", "+ difference - 1);\n    const auto change = static_cast<uint32_t>(positive % 0xffff + 1);", "+ difference);\n    const auto change = static_cast<uint32_t>(positive % 0xffff);"),
        ("odd pieces begin a word", Kind.checksum, "telemetry", "        odd_ ^= piece.size() & 1;\n", ""),
    ),
    *of(
        "runtime/nf/apply.hpp",
        ("UDP's 0 stays 0", Kind.checksum, "writing", "    if (shape.never_zero && value == 0) value = 0xffff;\n", ""),
        ("UDP's none is updated", Kind.checksum, "writing", "    if (shape.zero_is_none && old == 0) return;\n", ""),
        ("no pseudo header", Kind.checksum, "nat", "    if (shape.pseudo) add_pseudo(protocols, p, position, changes, difference);\n", ""),
        ("low bytes count as high ones", Kind.checksum, "slim_dpi", "c.difference << ((c.begin - low) & 1) * 8;", "c.difference;"),
        ("MAC addresses with their middle twice", Kind.rebuilding, "forwarder", "store(out + at + 2, static_cast<uint32_t>(value));", "store(out + at + 2, static_cast<uint32_t>(value >> 16));"),
        ("outermost first", Kind.checksum, "nat", "for (size_t position = p.depth; position-- > 0;) {", "for (size_t position = 0; position < p.depth; ++position) {"),
        ("checksums beyond the cut", Kind.checksum, "nat", "    if (at + 2 > p.header_end[i]) return;  // a quote that was cut before its checksum\n", ""),
    ),
    *of(
        "runtime/nf/edit.hpp",
        ("UDP's 0 stays 0", Kind.checksum, "writing", "    if (never_zero && value == 0) value = 0xffff;\n", ""),
        ("UDP's none is updated", Kind.checksum, "nat", "    if (zero_is_none && old == 0) return {};\n", ""),
        ("bytes at odd places are not exchanged", Kind.checksum, "writing", "difference += change.difference * 256;", "difference += change.difference;"),
        ("what stays the same counts as changed", Kind.checksum, "writing", "    if (!change.any) return {};\n", ""),
        ("bits beside a field are lost", Kind.rebuilding, "writing", "static_cast<T>((before & ~mask) | (static_cast<T>(value << shift) & mask))", "static_cast<T>(static_cast<T>(value << shift) & mask)"),
    ),
    *of(
        "runtime/nf/rebuild.hpp",
        ("checksums stay", Kind.checksum, "vxlan_gateway", "    detail::set_checksums(leaving, arrived);\n", ""),
        ("a new header's payload ends with the packet", Kind.rebuilding, "vxlan_gateway", "        if (kept.fresh()) kept.room = room;\n", ""),
        ("fields are written after the copy", Kind.order, "vxlan_gateway", "    detail::apply_edits(protocols, p, edits, frame);\n", ""),
    ),
    *of(
        "runtime/nf/chain.hpp",
        ("no protocol in the pseudo header", Kind.checksum, "router6", "put(said == nullptr ? 0 : chain.get(ahead, *said), 16);", "put(0, 16);"),
        ("a length of one too many", Kind.rebuilding, "router6", "const u128 actual = f.length(segment.size, rest);", "const u128 actual = f.length(segment.size, rest) + 1;"),
        ("initial values are forgotten", Kind.rebuilding, "vxlan_gateway", "        if (f.initial != 0) chain.set(s, f, f.initial);\n", ""),
    ),
    *of(
        "runtime/nf/packet.hpp",
        ("padding leaves", Kind.rebuilding, "nat", "end = where < size ? where : size;", "end = size;"),
        ("padding is parsed", Kind.parsing, "slim_dpi", "        if (where < room) room = where;\n", ""),
        ("whole packets are short", Kind.boundary, "policer", "claimed + 1 > size + 1; }", "claimed + 1 >= size + 1; }"),
        ("payload beyond its end", Kind.parsing, "slim_dpi", "    for (uint32_t i = start + low; i < start + high; ++i) value = value << 8 | (i < end ? data[i] : 0);", "    for (uint32_t i = start + low; i < start + high; ++i) value = value << 8 | (i <= end ? data[i] : 0);"),
    ),
)  # fmt: skip

MACHINE = (
    *of(
        "runtime/nf/machine.hpp",
        ("short frames leave", Kind.missing_check, "policer", "        if (packet.headers.is_short()) [[unlikely]]\n            return drop(order, reason_short_frame);\n", ""),
        ("timers one period late", Kind.time, "telemetry", "static_cast<u128>(fired_[i] + 1)", "static_cast<u128>(fired_[i] + 2)"),
        ("timers before expiry", Kind.order, "telemetry", "if (planned_ < best) {", "if (planned_ <= best) {"),
        ("emitted by nobody", Kind.accounting, "router6", "bytes, cause_);", "bytes, no_packet);"),
        ("a nanosecond is no time", Kind.time, "writing", "&& time <= nf_.clock.now && settled_; }", "&& time <= nf_.clock.now + 1 && settled_; }"),
        ("a batch happens when its first packet does", Kind.time, "writing", "settled = stays_settled(last);", "settled = true;"),
        ("a change of config waits for the batch", Kind.time, "policer", "if (changes_due(batch)) {", "if (changes_due(batch) && batch.size() == 1) {"),
        ("rows are those before the change", Kind.stale, "policer", "                    until_arrival(batch[i].time);  // first, as rows are looked up before a packet is answered\n", ""),
    ),
    *of(
        "runtime/nf/on_the_way.hpp",
        ("what is held is not copied", Kind.stale, "reframer", "        packet.data = buffers_.copy(packet.data, packet.size);\n        packet.kept = true;\n", ""),
    ),
    *of(
        "runtime/nf/policy/shape.hpp",
        ("among equals the last first", Kind.order, "shaping", "a.number > b.number", "a.number < b.number"),
        ("reasons exchanged", Kind.swapped, "shaper", "n > burst ? refused_burst : refused_rate", "n > burst ? refused_rate : refused_burst"),
        ("what has left still counts", Kind.leak, "shaping", "            buffered_ -= item.size;\n", ""),
    ),
    *of(
        "runtime/nf/policy/classes.hpp",
        ("one ns longer idle", Kind.boundary, "shaper", "+ idle_ <= now", "+ idle_ < now"),
        ("room for one more", Kind.when_full, "shaper", "index_.size() >= limit_", "index_.size() > limit_"),
    ),
    *of(
        "runtime/nf/policy/reframe.hpp",
        ("one more is held", Kind.boundary, "reframer", "if (items_.size() == limit_)", "if (items_.size() > limit_)"),
        ("the window starts with every packet", Kind.time, "reframer", "if (items_.empty()) due_ =", "due_ ="),
    ),
    *of(
        "runtime/nf/sharded.hpp",
        ("time stands still on other cores", Kind.time, "load_balancer", "            machine->advance(now);\n", ""),
    ),
)  # fmt: skip

STATE = (
    *of(
        "runtime/nf/token_bucket.hpp",
        ("a refused take pays", Kind.rate, "policer", "if (enough) bucket =", "bucket ="),
        ("no burst", Kind.rate, "policer", "    tokens = std::min(most, tokens);\n", ""),
    ),
    *of(
        "runtime/nf/pool.hpp",
        ("the last freed first", Kind.order, "nat", "            free.push_back(static_cast<uint32_t>(std::min(cell, far)));", "            free.push_front(static_cast<uint32_t>(std::min(cell, far)));"),
        ("a change of its values is ignored", Kind.stale, "nat", "        if (*changed == *axes_) return;\n", "        if (axes_ != nullptr) return;\n"),
        ("what nobody stored stays taken", Kind.leak, "nat", "            if (loose.held)\n", "            if (loose.held && false)\n"),
        ("the first holder to go frees it", Kind.leak, "held", "if (--*holders == 1) give_back", "if (--*holders >= 1) give_back"),
    ),
    *of(
        "runtime/nf/list_table.hpp",
        ("rows never go", Kind.stale, "load_balancer", "        for (const auto& [value, row] : present_) rows_.mark(row, false);\n", ""),
    ),
    *of(
        "runtime/nf/lpm.hpp",
        ("the shortest of equal beginnings", Kind.lookup, "router6", "                found.back().second = row;\n", "                (void)row;\n"),
        ("nothing behind a longer prefix", Kind.lookup, "router6", "open.empty() ? none : open.back().second", "none"),
    ),
    *of(
        "runtime/nf/acl.hpp",
        ("the least priority first", Kind.lookup, "acl", "a.priority > b.priority", "a.priority < b.priority"),
    ),
    *of(
        "runtime/nf/acl/matcher.hpp",
        ("ranges without their end", Kind.boundary, "acl", "            case Kind::range:\n                break;\n            case Kind::prefix: {", "            case Kind::range:\n                if (range.high != 0) --range.high;\n                break;\n            case Kind::prefix: {"),
        ("prefixes match the other family", Kind.lookup, "acl", "                if (prefix.bits != width) break;\n", ""),
    ),
    *of(
        "runtime/nf/acl/component.hpp",
        ("classes of the row before", Kind.lookup, "acl", "if (~range.high != 0) changes.emplace_back(range.high + 1, row);", "if (~range.high != 0) changes.emplace_back(range.high, row);"),
    ),
    *of(
        "runtime/nf/acl/group.hpp",
        ("a component is left out", Kind.lookup, "acl", "for (size_t c = 1; c < Components; ++c)", "for (size_t c = 2; c < Components; ++c)"),
    ),
    *of(
        "runtime/nf/siphash.hpp",
        ("another end", Kind.constant, "load_balancer", "v2 ^= 0xff;", "v2 ^= 0xfe;"),
        ("the first lane's hash for all", Kind.key, "telemetry", "message(lane).hash = lanes[lane];", "message(lane).hash = lanes[0];"),
    ),
    *of(
        "runtime/nf/top_k.hpp",
        ("a new key starts at 0", Kind.estimate, "store", "number({sum(rank(least).count, n), inserted_++})", "number({n, inserted_++})"),
        ("among equals the last first", Kind.order, "telemetry", "left.count > right.count : left.inserted < right.inserted", "left.count > right.count : left.inserted > right.inserted"),
    ),
    *of(
        "runtime/nf/count_min.hpp",
        ("counts once", Kind.estimate, "telemetry", "add_overflow(counter, n, &sum)", "add_overflow(counter, n != 0, &sum)"),
        ("the highest row", Kind.estimate, "telemetry", "uint64_t least = std::numeric_limits<uint64_t>::max();", "uint64_t least = 0;"),
    ),
    *of(
        "runtime/nf/bloom.hpp",
        ("the last bit decides", Kind.estimate, "telemetry", "missing |= bit & ~word;", "missing = bit & ~word;"),
        ("clear does nothing", Kind.missing_update, "telemetry", "std::fill_n(words_.data(), words_.size(), 0);", ""),
    ),
    *of(
        "runtime/nf/hyperloglog.hpp",
        ("ranks of one less", Kind.estimate, "held", "std::countl_zero(rest) + 1);", "std::max(1, std::countl_zero(rest)));"),
    ),
)  # fmt: skip

_GENERATOR = "compiler/polysome/backends/nf_cpp/"

GENERATOR = (
    *of(
        _GENERATOR + "expression_code.py",
        ("a mask of one bit less", Kind.boundary, "bridge", "(1 << (h - low + 1)) - 1", "(1 << (h - low)) - 1"),
        ("fields as they arrived", Kind.stale, "writing", "if self.arrival or (i, n) not in self.shared.written:", "if self.arrival or n >= 0:"),
        ("sets without their right side", Kind.inverted, "bridge", "({a} & ~{self._as_set(e.right, b)})", "({a} & {self._as_set(e.right, b)})"),
        ("hashes miss a byte", Kind.key, "vxlan_gateway", "siphash(SEED, {buffer}, {writer}.size()); }})", "siphash(SEED, {buffer}, {writer}.size() - 1); }})"),
        ("subtractions are not reduced", Kind.arithmetic, "router6", 'return self._reduced(f"{a} {op} {b}", e.type)', 'return f"({b} {op} {a})"'),
    ),
    *of(
        _GENERATOR + "reads.py",
        ("fields with what is above them", Kind.parsing, "nat", "if (last - first) * 8 - shift != width:", "if width < 0:"),
    ),
    *of(
        _GENERATOR + "statement_code.py",
        ("lookups refresh nothing", Kind.refresh, "load_balancer", 'sets = [f"{state}.use({at});"] if s.refresh else []', "sets: list[str] = []"),
        ("peeks refresh", Kind.refresh, "conn_limiter", 'sets = [f"{state}.use({at});"] if s.refresh else []', 'sets = [f"{state}.use({at});"]'),
        ("writes are not noted", Kind.missing_write, "forwarder", '                self.put_line(f"e.has_{name} = true;")\n', ""),
        ("conditions mean their opposite", Kind.inverted, "bridge", 'self._branch(f"if ({self.condition(s.condition)}) {{", s.then,', 'self._branch(f"if (!({self.condition(s.condition)})) {{", s.then,'),
    ),
    *of(
        _GENERATOR + "state_expressions.py",
        ("reasons exchanged", Kind.swapped, "nat", "{{{', '.join(reasons)}}}", "{{{', '.join(reasons[1::-1] + reasons[2:])}}}"),
        ("has takes, take has", Kind.inverted, "policer", '"bucket_take" if e.take else "bucket_has"', '"bucket_has" if e.take else "bucket_take"'),
        ("a bucket's entry is not stored", Kind.missing_update, "policer", " {self.store(place.state, whole, e, at)} }} {taken};", " }} {taken};"),
        ("the scale of packets for bytes", Kind.arithmetic, "policer", "10**9 if e.rate.type == t.PACKETRATE else 8 * 10**9", "10**9"),
    ),
    *of(
        _GENERATOR + "ahead.py",
        ("locals keep the value they had", Kind.stale, "nat", "                        self.known.pop(slot, None)\n", "                        pass\n"),
    ),
    *of(
        _GENERATOR + "packet_code.py",
        ("edits of the packet before", Kind.stale, "nat", 'lines.append(f"        {cleared}false;")', "pass"),
        ("lengths of the frame", Kind.parsing, "telemetry", "f.len = h.length();", "f.len = h.size;"),
    ),
    *of(
        _GENERATOR + "parse_code.py",
        ("lengths are not looked at", Kind.parsing, "policer", 'lines.append(f"    if (end < {size}) goto accept;")', "pass"),
        ("options beyond the end", Kind.parsing, "nat", 'lines.append("    if (size > have) goto accept;")', "pass"),
        ("headers one byte short", Kind.boundary, "forwarder", 'lines.append(f"    if (have < {least}) goto accept;")', 'lines.append(f"    if (have + 1 < {least}) goto accept;")'),
    ),
    *of(
        _GENERATOR + "shapes.py",
        ("headers begin one too early", Kind.parsing, "nat", "sum(sizes[:n]) for n in", "sum(sizes[: max(n - 1, 1)]) for n in"),
    ),
    *of(
        _GENERATOR + "shape_code.py",
        ("TCP is taken for UDP", Kind.inverted, "firewall", "for i in last[:-1]))}) == 0", "for i in last[:-1]))}) != 0"),
        ("options are payload", Kind.parsing, "slim_dpi", "if sized else str(pos)", "if sized and pos < 0 else str(pos)"),
        ("options in the middle are not noticed", Kind.parsing, "nat", 'lines.append(f"if (size != {header.fixed}) return 0;")', "pass"),
        ("headers one byte short", Kind.boundary, "forwarder", 'f"if (h.room < {pos + header.fixed}) return 0;"', 'f"if (h.room + 1 < {pos + header.fixed}) return 0;"'),
        ("padding leaves", Kind.rebuilding, "nat", 'lines.append(f"h.narrow({pos} + static_cast<uint32_t>(std::min<uint64_t>(end, INT32_MAX)));")', "pass"),
    ),
    *of(
        _GENERATOR + "edit_code.py",
        ("no pseudo header", Kind.checksum, "nat", 'if "pseudo" in checksum.parts:', 'if "pseudo" in checksum.parts and here < 0:'),
        ("odd and even exchanged", Kind.checksum, "nat", "{'add_odd' if (self._byte(place) - start) % 2 else 'add'}", "{'add' if (self._byte(place) - start) % 2 else 'add_odd'}"),
        ("outer checksums do not cover inner headers", Kind.checksum, "writing", '(there > here and "rest" in checksum.parts)', '(there > here and "rest" not in checksum.parts)'),
        ("outermost first", Kind.checksum, "writing", "for i in (*shape.last, *reversed(shape.path))", "for i in (*shape.path, *shape.last)"),
    ),
    *of(
        _GENERATOR + "handler_code.py",
        ("keys where there is no need of them", Kind.inverted, "store", 'tests = [e.condition(c) if yes else', 'tests = [e.condition(c) if not yes else'),
    ),
    *of(
        _GENERATOR + "state_code.py",
        ("rows are not asked for", Kind.stale, "load_balancer", '"has_alive": bool(rows),', '"has_alive": False,'),
        ("nothing is released", Kind.leak, "nat", "{{ {releases} }}", "{{ (void)value; }}"),
        ("no end handler", Kind.missing_update, "conn_limiter", '"has_on_end": decl.name in shared.program.end_handlers,', '"has_on_end": False,'),
    ),
    *of(
        _GENERATOR + "config_code.py",
        ("pools do not follow the config", Kind.stale, "nat", 'lines += ["    reload_pools();", "    return true;", "}"]', 'lines += ["    return true;", "}"]'),
    ),
    *of(
        _GENERATOR + "generate.py",
        ("what was taken is not given back", Kind.leak, "nat", '            "        const Verdict verdict = handle(f, e, p.ahead);",\n            "        settle();",\n', '            "        const Verdict verdict = handle(f, e, p.ahead);",\n'),
        ("the last map first", Kind.order, "firewall", "next_due(by); due < best)", "next_due(by); due <= best)"),
    ),
    *of(
        _GENERATOR + "schedule_code.py",
        ("arguments exchanged", Kind.swapped, "shaper", 'args[{number}] = {args.code(arg)};', 'args[{len(schedule.args) - 1 - number}] = {args.code(arg)};'),
    ),
    *of(
        _GENERATOR + "shard_code.py",
        ("no key is hashed", Kind.key, "load_balancer", 'siphash(SEED, bytes, writer.size()) % cores);', 'siphash(SEED, bytes, 0) % cores);'),
    ),
)  # fmt: skip

EQUIVALENT = {
    "native matcher: prefixes match the other family": "the config has for a component prefixes of its own family only",
    "native ahead: locals keep the value they had": "handlers take what was computed ahead only for locals that are "
    "set once; of others, a wrong key is prefetched",
}

NATIVE_MUTANTS = tuple(
    dataclasses.replace(mutant, equivalent=EQUIVALENT.get(mutant.name))
    for mutant in (*FLOW_MAP, *BELOW_FLOW_MAP, *PACKETS, *MACHINE, *STATE, *GENERATOR)
)
