"""Names and what they stand for, while a file is read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from polysome.p4 import ast
from polysome.p4 import program as pr
from polysome.p4.architecture import Architecture
from polysome.p4.types import Composite, Extern, Type
from polysome.syntax.diagnostics import Report, one_of
from polysome.syntax.spans import Span


@dataclass(frozen=True)
class Object:
    """An instance of an extern; `name` is the full one."""

    name: str
    type: Extern
    args: tuple[object, ...] = ()


@dataclass(frozen=True)
class ControlInstance:
    name: str
    control: ast.Control


@dataclass(frozen=True)
class ActionName:
    """An action where it is declared: its text and what it sees."""

    name: str
    action: ast.Action
    scope: Scope


@dataclass(frozen=True)
class TableName:
    name: str


Meaning = pr.Const | pr.Place | Object | ControlInstance | ActionName | TableName


class Scope:
    """What is visible somewhere: own names before those around."""

    def __init__(self, parent: Scope | None = None) -> None:
        self.parent = parent
        self.names: dict[str, tuple[Meaning, Span | None]] = {}

    def find(self, name: str) -> Meaning | None:
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name][0]
            scope = scope.parent
        return None

    def visible(self) -> Iterator[str]:
        scope: Scope | None = self
        while scope is not None:
            yield from scope.names
            scope = scope.parent


@dataclass
class World:
    """What one run of the front end collects: the file's types and blocks, and the program's objects so far."""

    report: Report
    arch: Architecture
    types: dict[str, Type]
    scope: Scope
    parsers: dict[str, ast.Parser] = field(default_factory=dict)
    controls: dict[str, ast.Control] = field(default_factory=dict)
    actions: dict[str, pr.Action] = field(default_factory=dict)
    tables: dict[str, pr.Table] = field(default_factory=dict)
    registers: dict[str, pr.Register] = field(default_factory=dict)
    register_actions: dict[str, pr.RegisterAction] = field(default_factory=dict)
    counters: dict[str, pr.Counter] = field(default_factory=dict)
    meters: dict[str, pr.Meter] = field(default_factory=dict)
    variables: list[pr.Place] = field(default_factory=list)
    _fresh: dict[str, int] = field(default_factory=dict)

    def declare(self, scope: Scope, name: ast.Ident, meaning: Meaning) -> None:
        """Gives a name its meaning, unless it has one in this very scope."""
        if name.text in scope.names:
            before = scope.names[name.text][1]
            self.report.add(
                "E1211",
                f"`{name.text}` is declared twice",
                name.span,
                also=[(before, "declared here first")] if before is not None else [],
                why="Every reference to it could mean either.",
                mend="Give one of them another name.",
            )
            return
        scope.names[name.text] = (meaning, name.span)

    def variable(self, name: str, of: Type, span: Span) -> pr.Place:
        """New storage for a variable that the text calls `name`."""
        count = self._fresh[name] = self._fresh.get(name, -1) + 1
        place = pr.Place(f"${name}" if count == 0 else f"${name}.{count}", (), of, span)
        self.variables.append(place)
        return place

    # ------------------------------------------------------------ errors that many need

    def unknown(self, what: str, name: str, span: Span, known: Sequence[str]) -> None:
        self.report.add(
            "E1203",
            f"there is no {what} `{name}` here",
            span,
            why="A name must be declared before it is used.",
            mend=one_of(name, known),
        )

    def outside(self, message: str, span: Span, mend: str) -> None:
        self.report.add(
            "E1202",
            f"outside the subset: {message}",
            span,
            why="The subset is what the emitted programs need; each part of it is checked and runs in the soft switch.",
            mend=mend,
        )

    def wrong_type(self, message: str, span: Span, mend: str, why: str = "") -> None:
        self.report.add(
            "E1204",
            message,
            span,
            why=why or "P4 has no implicit conversions: both sides of an operation or assignment have one type.",
            mend=mend,
        )


def composites(of: Composite) -> Iterator[Composite]:
    """A composite and all in it."""
    yield of
    for _, kind in of.fields:
        if isinstance(kind, Composite):
            yield from composites(kind)
