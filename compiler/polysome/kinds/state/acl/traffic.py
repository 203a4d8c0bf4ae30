"""The rows of `config acl` in tests."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.kinds.state.acl import AclRow, Range, components
from polysome.kinds.values import Prefix
from polysome.testing.counterexample.simpler_config import smaller
from polysome.testing.traffic.choices import Choices
from polysome.testing.traffic.values import ROWS, Exchange, Simpler, TableTraffic, prefix, value


class AclTraffic(TableTraffic):
    def table(self, program: ir.Program, c: Choices, type: t.Table) -> tuple[AclRow, ...]:
        rules = [self.row(program, c, type) for _ in range(c.pick(ROWS))]
        if rules and c.chance(0.6):  # another rule for packets that one of these already matches
            wider = tuple(None if c.chance(0.5) else m for m in c.pick(rules).matchers)
            rules.append(AclRow(wider, value(program, c, type.value), c.pick((0, 1, 10))))
        return tuple(rules)

    def row(self, program: ir.Program, c: Choices, type: t.Table) -> AclRow:
        matchers = tuple(_matcher(program, c, part) for part in components(type.key))
        return AclRow(matchers, value(program, c, type.value), c.early((0, 1, 2, 10)))

    def changed(self, program: ir.Program, c: Choices, type: t.Table, old: Any) -> AclRow:
        return self.row(program, c, type)

    def keys(self, type: t.Table, row: AclRow, part: int | None) -> Iterator[tuple[t.Type, Any]]:
        for n, (member, matcher) in enumerate(zip(components(type.key), row.matchers, strict=True)):
            if matcher is not None and part in (None, n):
                for one in matcher if isinstance(matcher, Range) else (matcher,):
                    yield (t.PREFIX if isinstance(one, Prefix) else member), one

    def simpler(self, row: AclRow, type: t.Table, simpler: Simpler) -> Iterator[AclRow]:
        yield from super().simpler(row, type, simpler)
        for i, matcher in enumerate(row.matchers):
            if matcher is not None:
                yield replace(row, matchers=(*row.matchers[:i], None, *row.matchers[i + 1 :]))
        yield from (replace(row, priority=p) for p in smaller(row.priority))

    def exchanged(self, row: AclRow, type: t.Table, inside: Exchange) -> AclRow:
        """Exact matchers only: what a range or prefix covers has no new name."""
        pairs = zip(row.matchers, components(type.key), strict=True)
        matchers = tuple(m if m is None or isinstance(m, (Prefix, Range)) else inside(m, of) for m, of in pairs)
        return replace(row, matchers=matchers, value=inside(row.value, type.value))


def _matcher(program: ir.Program, c: Choices, type: t.Type) -> Any:
    """Anything, one value, a range or a prefix."""
    kind = c.below(4)
    if kind == 0:
        return None
    if kind == 1 and isinstance(type, t.Address) and type.width != 48:
        return prefix(program, c, type)
    one = value(program, c, type)
    if kind == 2 and isinstance(type, (t.Bits, t.Address, t.Quantity)):
        other = value(program, c, type)
        return Range(min(one, other), max(one, other))
    return one


TRAFFIC = AclTraffic()
