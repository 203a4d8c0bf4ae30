"""What may stand between two tokens: blanks or a line end, and where the next line then begins."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, auto


class Origin(Enum):
    """What the column of a line's beginning is counted from."""

    LINE = auto()  # the indentation of the line on which a token stands
    COLUMN = auto()  # the token's own column
    BEGINNING = auto()  # the token's own column if its line begins with it, else what `otherwise` says


@dataclass(frozen=True, slots=True)
class Anchor:
    """Where a line begins: `offset` columns to the right of what `origin` says about the token."""

    origin: Origin
    token: int
    offset: int = 0
    otherwise: Anchor | None = None


@dataclass(eq=False, slots=True)
class Group:
    """Gaps that are all line ends or none, such as those behind `{` and before `}`.

    A line end in one of `spans` (first and last gap) makes line ends of them all. `filled` are gaps that may stay as
    they are if the others are broken, but are broken too when the formatter itself breaks the group.
    """

    gaps: list[int] = field(default_factory=list)
    spans: list[tuple[int, int]] = field(default_factory=list)
    filled: list[int] = field(default_factory=list)


@dataclass(slots=True)
class Gap:
    """Before a token.

    `cost`: how dear a line end is, the lowest first; without one there is none, and one in the source is taken out.
    `must`: there always is one. `blank`: an empty line may stand here. `unless`: no line end if that group has them.
    `wide`: blanks if that group has line ends and this gap has not. `together`: gaps that the formatter breaks with it.
    """

    space: int = 1
    cost: int | None = None
    must: bool = False
    blank: bool = False
    anchor: Anchor | None = None
    comment_anchor: Anchor | None = None
    group: Group | None = None
    unless: Group | None = None
    wide: tuple[int, Group] | None = None
    together: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """A declaration that may stand in a table with its neighbours of the same kind: its first token and its cells.

    A cell is the gap before a part that begins in the same column in all rows, or None where the row has no such part.
    """

    kind: str
    token: int
    last: int
    cells: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Rules:
    """All that the grammar says about a file's form: the gap before each token, the groups, the rows."""

    gaps: list[Gap]
    groups: list[Group]
    rows: list[Row]
