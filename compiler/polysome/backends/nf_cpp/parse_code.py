"""The parse graph to one C++ function with a label per node (LANGUAGE.md section 4; as `interp/parse_code.py`).

The graph of the typed program is unrolled: a node for each way to it. What comes behind a node is all that matters
here, so nodes that extract the same instance and go on alike are one.
"""

from __future__ import annotations

from itertools import count
from typing import Any

from polysome.backends.nf_cpp.expression_code import Shared
from polysome.backends.nf_cpp.names import identifier, unique
from polysome.backends.nf_cpp.reads import field_load, found_place
from polysome.backends.nf_cpp.same_text import canonical_text
from polysome.backends.nf_cpp.state_expressions import Expressions
from polysome.backends.nf_cpp.types_code import Unsupported
from polysome.ir import program as ir
from polysome.ir import types as t

_LOCALS = ("h", "at", "have", "size", "start", "end")  # of the functions that parse


class ParseExpressions(Expressions):
    """Expressions over a packet that is being parsed: `h` is the Parsed, `at` the header that is being extracted."""

    def __init__(self, shared: Shared) -> None:
        super().__init__(shared, self._trap, arrival=True)
        self.own = -1

    def _trap(self, reason: str) -> str:
        raise Unsupported("a parser with an operation that may fail")

    def leaf(self, e: ir.Expr) -> str:
        raise Unsupported(f"{type(e).__name__} in a parser")

    def code(self, e: ir.Expr) -> str:
        parser = self.program.parser
        match e:
            case ir.HeaderField(instance=i, field=n):
                at = "at" if i == self.own else f"(h.data + h.offset[{self.instance(i)}])"
                if i == self.own and parser.instances[i].cut is not None:
                    f = parser.instances[i].header.fields[n]
                    value = f"read_bits(at, {f.offset}, {f.width}, {parser.instances[i].header.fixed})"
                    return f"({value} != 0)" if isinstance(f.type, t.Bool) else f"static_cast<uint64_t>({value})"
                return field_load(parser.instances[i], n, found_place(parser, i, at))
            case ir.Valid(instance=i):
                return f"h.has({self.instance(i)})"
            case ir.PacketLen():
                return "h.length()"
            case ir.InPort():
                return "h.in_port"
            case ir.Peek(bits=bits):
                return f"static_cast<uint64_t>(read_bits(h.data, h.pos * 8, {bits}, h.room))"
            case _:
                return super().code(e)


def parse_function(shared: Shared) -> list[str]:
    """`static void find_headers(Headers& h)`, for a Parsed that has begun."""
    return _Graph(shared).function()


class _Graph:
    def __init__(self, shared: Shared) -> None:
        self.shared = shared
        self.parser = shared.program.parser
        self.e = ParseExpressions(shared)
        self.labels: dict[int, str] = {}  # of nodes
        self.known: dict[Any, str] = {}
        self.blocks: list[list[str]] = []

    def function(self) -> list[str]:
        self._label(0)
        lines = ["static void find_headers(Headers& h) {"]
        # Nodes refer to later ones in the graph only, so the start gets its label last, and nothing goes there.
        self.blocks[-1][0] = self.blocks[-1][0].split(": ", 1)[1]
        for block in reversed(self.blocks):
            lines += block
        lines += ["accept:", "    h.payload = h.pos;", "}"]
        return lines

    def _label(self, node: int) -> str:
        """The label of a node, its block written."""
        if node in self.labels:
            return self.labels[node]
        n = self.parser.nodes[node]
        hooks = tuple((c, self._target(target)) for c, target in n.hooks)
        cases = tuple((case.matches, self._target(case.target)) for case in n.cases)
        key = (
            n.instance,
            tuple(canonical_text(k, {}) for k in n.keys),
            tuple((None if c is None else canonical_text(c, {}), target) for c, target in hooks),
            cases,
        )
        if key not in self.known:
            self.known[key] = self._name(n)
            self.blocks.append(self._block(self.known[key], n, hooks, cases))
        self.labels[node] = self.known[key]
        return self.labels[node]

    def _name(self, n: ir.ParseNode) -> str:
        """A label that no other block has: its header's name, `_2` behind it for the second one."""
        plain = identifier(self.parser.instances[n.instance].name if n.instance is not None else n.name)
        used = {"accept", *self.known.values()}
        return next(label for k in count(1) if (label := plain if k == 1 else f"{plain}_{k}") not in used)

    def _target(self, node: int) -> str:
        return "accept" if node < 0 else self._label(node)

    def _block(self, label: str, n: ir.ParseNode, hooks: Any, cases: Any) -> list[str]:
        lines = [f"{label}: {{"]
        if n.instance is not None:
            instance = self.parser.instances[n.instance]
            lines = [f"{label}: {{  // {self.shared.program.place(instance.header.span)}: {instance.name}"]
            self.e.own = n.instance
            lines += self._extract(n.instance)
        for condition, target in hooks:
            test = "true" if condition is None else self.e.code(condition)
            lines.append(f"    if ({test}) goto {target};")
        lines += self._select(n, cases)
        lines.append("    goto accept;")
        return [*lines, "}"]

    def _extract(self, i: int) -> list[str]:
        instance, name = self.parser.instances[i], self.e.instance(i)
        header = instance.header
        cut = instance.cut is not None
        lines = [
            "    [[maybe_unused]] const uint8_t* const at = h.data + h.pos;",
            "    [[maybe_unused]] const uint32_t have = h.room - h.pos;",
        ]
        least = header.fixed if instance.cut is None else min(instance.cut, header.fixed)
        if least > 0:
            lines.append(f"    if (have < {least}) goto accept;")
        if cut and least < header.fixed:
            lines += [f"    if (have < {header.fixed}) {{", f"        h.take_cut({name});"]
            lines += ["        goto accept;", "    }"]
        if header.valid is not None:
            lines.append(f"    if (!({self.e.code(header.valid)})) goto accept;")
        size = str(header.fixed)
        if header.size is not None:
            lines.append(f"    const uint64_t size = {self.e.code(header.size)};")
            size = "size"
        if header.end is not None:
            lines.append("    const uint32_t start = h.pos;")
            lines.append(f"    const uint64_t end = {self.e.code(header.end)};")
            lines.append(f"    if (end < {size}) goto accept;")
        if header.size is not None:
            lines.append(f"    if (size < {header.fixed}) goto accept;")
            if cut:
                lines += ["    if (size > have) {", f"        h.take_cut({name});", "        goto accept;", "    }"]
            else:
                lines.append("    if (size > have) goto accept;")
        lines.append(f"    h.take({name}, {size});")
        if header.end is not None:
            lines.append("    h.narrow(start + static_cast<uint32_t>(std::min<uint64_t>(end, INT32_MAX)));")
        lines.append(f"    h.limit[{name}] = h.room;")
        return lines

    def _select(self, n: ir.ParseNode, cases: Any) -> list[str]:
        if not cases:
            return []
        names = key_names(self.parser, n)
        lines = [
            f"    [[maybe_unused]] const auto {name} = {self.e.code(key)};"
            for name, key in zip(names, n.keys, strict=True)
        ]
        for matches, target in cases:
            tests = [match_test(m, names) for m in matches]
            if "" in tests:
                return [*lines, f"    goto {target};"]
            lines.append(f"    if ({' || '.join(tests)}) goto {target};")
        return lines


def key_names(parser: ir.Parser, n: ir.ParseNode) -> list[str]:
    """What the values are called that a node selects by: as the field, or `key`."""
    plain = [
        parser.instances[e.instance].header.fields[e.field].name if isinstance(e, ir.HeaderField) else "key"
        for e in n.keys
    ]
    return unique(plain, _LOCALS)


def match_test(m: ir.Match, names: list[str]) -> str:
    """The test of one alternative; "" if it matches anything."""
    parts = []
    for name, bounds in zip(names, m.ranges, strict=True):
        if bounds is not None:
            low, high = bounds
            if low == high:
                parts.append(f"{name} == {low}u")
            else:
                parts.append(f"{name} <= {high}u" if low == 0 else f"{low}u <= {name} && {name} <= {high}u")
    return ("(" + " && ".join(parts) + ")" if len(parts) > 1 else "".join(parts)) if parts else ""
