"""Parsers in C++: a block of code for each state, `goto` for transitions, a pointer that moves over the frame."""

from __future__ import annotations

from collections.abc import Iterator

from polysome.p4 import program as pr
from polysome.p4.points import ENDS, NO_MATCH
from polysome.p4.translate.layout import load_fields
from polysome.p4.translate.names import literal
from polysome.p4.translate.statements import STEP, Statements
from polysome.p4.types import Bits, Composite, width

ERROR_NO_MATCH, ERROR_PARTIAL = 1, 2  # PARSER_ERROR_NO_MATCH, PARSER_ERROR_PARTIAL_HDR


class ParserCode:
    """The code of one parser. It ends at the label `accepted`, with `error` set if it stopped before."""

    def __init__(self, code: Statements, parser: pr.Parser) -> None:
        self.code, self.parser = code, parser
        self.deposits = [
            (s.name, i, d) for s in parser.states for i, d in enumerate(s.body) if isinstance(d, pr.ChecksumDeposit)
        ]
        self.after = self._after()

    def _after(self) -> set[str]:
        """States in which a residual may have been deposited already."""
        todo = [name for name, _, _ in self.deposits]
        found: set[str] = set()
        while todo:
            for case in self.parser.state(todo.pop()).cases:
                if case.state not in found and case.state not in ("accept", "reject"):
                    found.add(case.state)
                    todo.append(case.state)
        return found

    def lines(self) -> Iterator[str]:
        yield "const std::uint8_t* p = in.data;"
        yield "[[maybe_unused]] const std::uint8_t* const end = in.data + in.size;"
        yield "std::uint16_t error = 0;"
        for unit in self.parser.units:
            yield f"[[maybe_unused]] Residual {self.code.names.of(unit)};"
        for i in range(len(self.deposits)):
            yield f"bool deposited_{i} = false;"
        targets = {c.state for s in self.parser.states for c in s.cases}
        first = next(s for s in self.parser.states if s.name == "start")
        for state in (first, *(s for s in self.parser.states if s is not first)):
            if state is first or state.name in targets:
                yield from self._state(state, labelled=state.name in targets)
        yield "accepted:"
        for i, (_, _, d) in enumerate(self.deposits):
            yield f"if (deposited_{i}) {self.code.place(d.target)} = {self.code.names.of(d.unit)}.get();"
        yield "out.front.consumed = static_cast<std::uint32_t>(p - in.data);"

    def _state(self, s: pr.State, labelled: bool) -> Iterator[str]:
        yield f"state_{s.name}: {{" if labelled else "{"
        after = s.name in self.after
        for i, statement in enumerate(s.body):
            for line in self._statement(s, i, statement, after):
                yield STEP + line
            after = after or isinstance(statement, pr.ChecksumDeposit)
        for line in self._transition(s):
            yield STEP + line
        yield "}"

    def _statement(self, state: pr.State, i: int, s: pr.Stmt, after: bool) -> Iterator[str]:
        code = self.code
        for e in pr.reads(s):
            yield from self._checks(state, e)
        match s:
            case pr.Extract():
                kind = s.header.type
                assert isinstance(kind, Composite)
                size, header = kind.width // 8, code.place(s.header)
                yield self._need(state, size)
                yield from code.load_header(header, kind)
                yield f"{header}.valid = true;"
                if after:
                    for unit in dict.fromkeys(d.unit for _, _, d in self.deposits):
                        name = code.names.of(unit)
                        yield f"if ({name}.subtract_all) {name}.subtract(packet_words(p, {size}), {(size + 1) // 2});"
                yield f"p += {size};"
            case pr.Advance():
                yield self._need(state, s.bits // 8)
                yield f"p += {s.bits // 8};"
            case pr.PortMetadata():
                if s.target is not None and isinstance(s.target.type, Composite):
                    target = code.place(s.target)
                    yield from load_fields(s.target.type.fields, lambda name: f"{target}.{name}", "in.port_metadata")
            case pr.ExtractIntrinsic():
                pass
            case pr.ChecksumSubtract():
                total = sum(width(item.type) for item in s.items)
                yield f"{code.names.of(s.unit)}.subtract({code.words(s.items, total)}, {total // 16});"
            case pr.ChecksumDeposit():
                which = next(k for k, (name, j, _) in enumerate(self.deposits) if (name, j) == (state.name, i))
                yield f"deposited_{which} = {code.names.of(s.unit)}.subtract_all = true;"
            case _:
                yield from code.statement(s, 0)

    def _need(self, state: pr.State, size: int) -> str:
        return f"if (end - p < {size}) {{ {self._other(state, ENDS)}error = {ERROR_PARTIAL}; goto accepted; }}"

    def _checks(self, state: pr.State, e: pr.Expr) -> Iterator[str]:
        """Is there what a lookahead sees?"""
        for part in pr.subexpressions(e):
            if isinstance(part, pr.Lookahead):
                yield self._need(state, (width(part.type) + 7) // 8)

    # ------------------------------------------------------------ transitions

    def _transition(self, s: pr.State) -> Iterator[str]:
        if not s.values:
            yield self._goto(s, 0)
            return
        for value in s.values:
            yield from self._checks(s, value)
        full = tuple((1 << width(v.type)) - 1 for v in s.values)
        if len(s.values) == 1 and self._switchable(s, full[0]):
            yield from self._switch(s, full[0])
            return
        for i, value in enumerate(s.values):
            yield f"[[maybe_unused]] const auto k{i} = {self.code.of(value)};"
        for n, case in enumerate(s.cases):
            tests = [self._test(i, v, m, full[i], s.values[i]) for i, (v, m) in enumerate(case.keys) if m]
            yield f"if ({' && '.join(tests)}) {self._goto(s, n)}" if tests else self._goto(s, n)
            if not tests:
                return
        yield self._no_match(s)

    def _switchable(self, s: pr.State, full: int) -> bool:
        keys = [case.keys[0] for case in s.cases]
        exact = [v for v, m in keys if m == full]
        return (
            width(s.values[0].type) <= 64
            and all(m in (0, full) for _, m in keys)
            and all(m for _, m in keys[:-1])
            and len(set(exact)) == len(exact)
        )

    def _switch(self, s: pr.State, full: int) -> Iterator[str]:
        kind = s.values[0].type
        yield f"switch ({self.code.of(s.values[0])}) {{"
        for n, case in enumerate(s.cases):
            value, mask = case.keys[0]
            label = f"case {literal(value, Bits(width(kind)))}" if mask else "default"
            yield f"{STEP}{label}: {self._goto(s, n)}"
        if s.cases[-1].keys[0][1]:
            yield f"{STEP}default: {self._no_match(s)}"
        yield "}"

    def _test(self, i: int, value: int, mask: int, full: int, e: pr.Expr) -> str:
        kind = Bits(width(e.type))
        if mask == full:
            return f"k{i} == {literal(value, kind)}"
        return f"(k{i} & {literal(mask, kind)}) == {literal(value, kind)}"

    def _goto(self, s: pr.State, case: int) -> str:
        state, points = s.cases[case].state, self.code.points
        reached = "" if points is None else self.code.reached(points.transition(s, case))
        if state == "reject":
            return f"{{ {reached}error = error_rejected; goto accepted; }}"
        leave = f"goto {'accepted' if state == 'accept' else f'state_{state}'};"
        return f"{{ {reached}{leave} }}" if reached else leave

    def _no_match(self, s: pr.State) -> str:
        return f"{{ {self._other(s, NO_MATCH)}error = {ERROR_NO_MATCH}; goto accepted; }}"

    def _other(self, s: pr.State, outcome: str) -> str:
        points = self.code.points
        return "" if points is None else self.code.reached(points.other(s, outcome))
