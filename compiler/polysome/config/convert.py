"""Items to values of the declared types: what is the same in TOML, JSON and CSV, and for every kind of config."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from functools import partial
from typing import Any, NoReturn

from polysome.config import shapes
from polysome.config.items import Item, Rejected, Style, collect, describe
from polysome.config.scalars import Wrong, WrongShape, prefix, scalar
from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.kinds.values import Prefix
from polysome.syntax.diagnostics import Report, did_you_mean
from polysome.syntax.spans import Span

_NOT_IN_A_CELL = "A CSV cell holds one value: a struct takes a column for each member, and a list needs TOML."


class Members(dict[str, Item]):
    """A table's members by name. Looking up one that is missing raises Rejected: that was reported."""

    def __missing__(self, name: str) -> NoReturn:
        raise Rejected


class Converter:
    """Converts the value of one config item, given in `style`.

    Methods return values as `ir.types` represents them. They report everything that is wrong, and raise Rejected if
    that leaves no value to go on with.
    """

    def __init__(self, program: ir.Program, decl: ir.ConfigDecl, style: Style, report: Report) -> None:
        self.program, self.decl, self.style, self.report = program, decl, style, report

    def value(self, item: Item, type: t.Type) -> Any:
        """A value that is not a table with a lookup."""
        match type:
            case t.Struct():
                return self.struct(self.members(item, shapes.fields_of(type), (), type), type)
            case t.Tuple():
                return self._tuple(item, type)
            case t.ListOf(inner):
                return tuple(collect(partial(self.element, row, inner) for row in self.rows(item, type)))
            case t.SetOf(inner):
                return frozenset(self._distinct(self.rows(item, type), inner))
            case _:
                return self._scalar(item, type)

    def rows(self, item: Item, type: t.Type, expected: str = "an array") -> list[Item]:
        """The members of an array."""
        if not isinstance(item.value, list):
            self.wrong_shape(item, type, f"{expected} for {type}")
        return item.value

    def element(self, row: Item, type: t.Type) -> Any:
        """A member of a list or set. In CSV, one that is no struct or tuple stands in the column `value`."""
        if row.header is not None and not isinstance(type, (t.Struct, t.Tuple)):
            row = self.members(row, ("value",), (), type)["value"]
        return self.value(row, type)

    def struct(self, members: Members, type: t.Type) -> Any:
        """A struct of `members`, which may hold others too."""
        assert isinstance(type, t.Struct)
        return tuple(collect(partial(self._member, members, name, member) for name, member in type.fields))

    def _member(self, members: Members, name: str, type: t.Type) -> Any:
        return self.value(members[name], type)

    def members(self, item: Item, required: Sequence[str], optional: Sequence[str], type: t.Type) -> Members:
        """The members of a table or row: all of `required`, any of `optional`, no others. `type`: whose they are."""
        if not isinstance(item.value, dict):
            self.wrong_shape(item, type, f"a table with {_listed(required)}" if required else "a table")
        known = (*required, *optional)
        unknown = [name for name in item.value if name not in known]
        for name in unknown:
            self.report.add(
                "E1007",
                f"there is no `{name}` here",
                item.value[name].name,
                also=self.declared(),
                why=f"{self._whole(type)} has {_listed(known)}.",
                mend=did_you_mean(name, [k for k in known if k not in item.value]) or "Remove it.",
            )
        present = Members((name, member) for name, member in item.value.items() if not member.empty)
        # What was misspelt is not also reported as missing.
        meant = {close for name in unknown for close in get_close_matches(name, required, 1)}
        missing = [name for name in required if name not in present and name not in meant]
        if missing:
            self._missing(item, missing, type)
        return present

    def _missing(self, item: Item, missing: list[str], type: t.Type) -> None:
        place, what = item.span, ""
        no_column = [name for name in missing if name not in item.value]
        if item.header is not None and no_column:
            place, what, missing = item.header, "the column ", no_column
        elif item.header is not None:
            place, what = item.value[missing[0]].span, "a value for "
        self.report.add(
            "E1008",
            f"{what}{_listed(missing)} {'is' if len(missing) == 1 else 'are'} missing",
            place,
            also=self.declared(),
            why=f"{self._whole(type)} has no defaults: all of its members must be given.",
            mend=f"Write for example {self.example(type)}",
        )

    def _tuple(self, item: Item, type: t.Tuple) -> Any:
        return tuple(collect(map(partial, [self.value] * len(type.items), self.positions(item, type), type.items)))

    def positions(self, item: Item, type: t.Tuple) -> list[Item]:
        """The members of an array for a tuple; in CSV the columns 0, 1, …"""
        count = len(type.items)
        if item.header is not None:
            numbers = [str(i) for i in range(count)]
            members = self.members(item, numbers, (), type)
            return [members[number] for number in numbers]
        if not isinstance(item.value, list) or len(item.value) != count:
            self.wrong_shape(item, type, f"an array of {count} values for {type}")
        return item.value

    def _distinct(self, rows: list[Item], type: t.Type) -> list[Any]:
        elements = collect(partial(self.element, row, type) for row in rows)
        self.no_twice(zip(elements, rows, strict=True), "value")
        return elements

    def no_twice(self, keys: Iterable[tuple[Any, Item]], what: str) -> None:
        """Reports E1013 for every key that an earlier row has. Rows count from 1."""
        first: dict[Any, tuple[int, Item]] = {}
        for number, (key, item) in enumerate(keys, 1):
            earlier, place = first.setdefault(key, (number, item))
            if place is item:
                continue
            self.report.add(
                "E1013",
                f"rows {earlier} and {number} of `{self.decl.name}` have the same {what}",
                item.span,
                label=f"row {number}",
                also=[(place.span, f"row {earlier}")],
                why="A set has each value once." if what == "value" else "It would not be clear which of them counts.",
                mend="Remove one of the rows.",
            )

    def prefix(self, item: Item, type: t.Type) -> Prefix:
        """A key's prefix, of the family of addresses of `type`."""
        if not isinstance(item.value, str):
            self.wrong_shape(item, self.decl.type, "a prefix in quotes")
        try:
            return prefix(item.value, type.width if isinstance(type, t.Address) else None)
        except Wrong as wrong:
            mend = wrong.mend or f"Write for example {self.example(self.decl.type)}"
            self.reject(wrong.code, wrong.message, item.span, wrong.why, mend)

    # ------------------------------------------------------------ messages

    def _scalar(self, item: Item, type: t.Type) -> Any:
        try:
            return scalar(item, type, self.program.ports)
        except Wrong as wrong:
            mend = wrong.mend or f"Write for example {self.example(type)}"
            self.reject(wrong.code, wrong.message, item.span, wrong.why, mend)
        except WrongShape as wrong:
            self.wrong_shape(item, type, wrong.expected)

    def wrong_shape(self, item: Item, type: t.Type, expected: str, example: str = "") -> NoReturn:
        """E1006, with an example of `type`."""
        self.report.add(
            "E1006",
            f"expected {expected}, found {describe(item)}",
            item.span,
            also=self.declared(),
            why=_NOT_IN_A_CELL if item.cell and self.style == "csv" else f"`{self.decl.name}` holds {self.decl.type}.",
            mend=f"Write for example {example or self.example(type)}",
        )
        raise Rejected

    def reject(self, code: str, message: str, span: Span, why: str, mend: str) -> NoReturn:
        """Reports, and raises Rejected."""
        self.report.add(code, message, span, why=why, mend=mend)
        raise Rejected

    def declared(self) -> list[tuple[Span, str]]:
        """The second place of a message: the declaration."""
        return [(self.decl.span, "declared here")]

    def _whole(self, type: t.Type) -> str:
        """What members belong to."""
        if isinstance(type, t.Table):
            return f"A row of `{self.decl.name}`"
        return f"`{self.decl.name}`" if type == self.decl.type else f"`{type}`"

    def example(self, type: t.Type) -> str:
        """How to write a value of `type`; if that is the type of the whole item, with its name."""
        if type == self.decl.type or (isinstance(self.decl.type, (t.ListOf, t.Table)) and self.style == "csv"):
            return f"`{shapes.item_sample(self.decl.name, self.decl.type, self.program.ports, self.style)}`."
        return f"`{shapes.written(shapes.sample(type, self.program.ports), self.style)}`."


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
