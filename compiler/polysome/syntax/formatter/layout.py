"""Where lines end, and in which column each token and comment then stands."""

from __future__ import annotations

from dataclasses import dataclass

from polysome.syntax.formatter.atoms import Atom
from polysome.syntax.formatter.gaps import Anchor, Gap, Group, Origin, Rules

WIDTH = 120


@dataclass(frozen=True, slots=True)
class Line:
    """The atoms `start` to `end` (excluded); `code_end` is the column behind the last that is no comment at its end."""

    start: int
    end: int
    code_end: int


class Layout:
    """A file's line ends; `breaks[i]` counts those before atom i: 0, 1, or 2 for an empty line."""

    def __init__(self, atoms: list[Atom], rules: Rules) -> None:
        self.atoms, self.rules = atoms, rules
        self.padding: dict[int, int] = {}
        self.columns = [0] * len(atoms)
        self.lines: list[Line] = []
        self._of_token: dict[int, int] = {}
        self._in_gap: list[list[int]] = [[] for _ in rules.gaps]
        for i, atom in enumerate(atoms):
            self._in_gap[atom.token].append(i)
            if not atom.comment:
                self._of_token[atom.token] = i
        self.breaks = [self._kept(i) for i in range(len(atoms))]

    def gap(self, atom: int) -> Gap:
        """The gap in which an atom stands, or which stands before it."""
        return self.rules.gaps[self.atoms[atom].token]

    def atom_of(self, token: int) -> int:
        """The number of a token's atom."""
        return self._of_token[token]

    def _kept(self, i: int) -> int:
        """The line ends that stay where they are in the source."""
        atom, gap = self.atoms[i], self.gap(i)
        if i == 0:
            return 0
        forced = self.atoms[i - 1].to_line_end or (atom.comment and atom.newlines > 0)
        if atom.newlines > 0 and (gap.cost is not None or gap.must):
            forced = True
        return int(forced or atom.text == "")

    def settle(self) -> None:
        """Decide on all line ends: those that must be, that follow from others, that lines of 120 columns need."""
        for token, gap in enumerate(self.rules.gaps):
            if gap.must and token > 0:
                self._break(token)
        while True:
            self._follow()
            self.place()
            chosen = [self._best(line) for line in self.lines if line.code_end > WIDTH]
            if not any(token is not None for token in chosen):
                break
            for choice in chosen:
                if choice is not None:
                    self._break_by_choice(choice)
        self._keep_empty_lines()

    def is_broken(self, token: int) -> bool:
        """Does a line end stand in the gap before the token?"""
        return any(self.breaks[i] for i in self._in_gap[token])

    def _break(self, token: int) -> None:
        if not self.is_broken(token):
            self.breaks[self._of_token[token]] = 1

    def _break_by_choice(self, token: int) -> None:
        gap = self.rules.gaps[token]
        for also in (token, *gap.together, *(gap.group.filled if gap.group else ())):
            self._break(also)

    def _follow(self) -> None:
        """Groups with a line end have all of theirs, until nothing changes; then `unless`."""
        waiting = [g for g in self.rules.groups if g.gaps]
        while True:
            total = self._running()
            broken = [g for g in waiting if self._has_break(g, total)]
            if not broken:
                break
            for group in broken:
                for token in group.gaps:
                    self._break(token)
            waiting = [g for g in waiting if g not in broken]
        for token, gap in enumerate(self.rules.gaps):
            if gap.unless is not None and gap.unless.gaps and self.is_broken(gap.unless.gaps[0]):
                self._join(token)

    def _running(self) -> list[int]:
        total = [0]
        for token in range(len(self.rules.gaps)):
            total.append(total[-1] + self.is_broken(token))
        return total

    def _has_break(self, group: Group, total: list[int]) -> bool:
        return any(total[high + 1] > total[low] for low, high in group.spans) or any(map(self.is_broken, group.gaps))

    def _join(self, token: int) -> None:
        i = self._of_token[token]
        if not self.atoms[i - 1].comment:
            self.breaks[i] = 0

    def _keep_empty_lines(self) -> None:
        for i, atom in enumerate(self.atoms):
            gap = self.gap(i)
            opens = self.atoms[i - 1].text in ("{", "") if i else True
            ends = atom.text in ("}", "")
            if self.breaks[i] and atom.newlines > 1 and not opens and not ends:
                below_comment = gap.comment_anchor is not None and atom.comment
                self.breaks[i] = 2 if gap.blank or below_comment else 1

    # ------------------------------------------------------------ lines that are too long

    def _best(self, line: Line) -> int | None:
        """The gap at which to break a line: the cheapest, of these the last that fits, or else the first.

        A line without such a gap moves to the left if the line above breaks before the token that it stands below.
        """
        found: list[tuple[int, int, int]] = []
        for i in range(line.start + 1, line.end):
            gap = self.gap(i)
            token = self.atoms[i].token
            if self.atoms[i].comment or gap.cost is None or self.is_broken(token) or self._is_shut(gap):
                continue
            found.append((gap.cost, -i if self._end(i - 1) <= WIDTH else i, token))
        if found:
            return min(found)[2]
        anchor = self.gap(line.start).anchor
        if anchor is None or anchor.origin is not Origin.COLUMN:
            return None
        below = self._of_token[anchor.token]
        above = next(other for other in self.lines if below < other.end)
        return self._best(Line(above.start, below + 1, above.code_end))

    def _is_shut(self, gap: Gap) -> bool:
        return gap.unless is not None and bool(gap.unless.gaps) and self.is_broken(gap.unless.gaps[0])

    # ------------------------------------------------------------ columns

    def place(self) -> None:
        """Compute `columns` and `lines` from `breaks` and `padding`."""
        self.lines = []
        start, indents = 0, [0] * len(self.atoms)
        for i in range(len(self.atoms)):
            if i and self.breaks[i]:
                self.lines.append(self._line(start, i))
                start = i
            if i == start:
                gap, atom = self.gap(i), self.atoms[i]
                anchor = gap.comment_anchor if atom.comment and gap.comment_anchor else gap.anchor
                self.columns[i] = self._column(anchor, indents)
            else:
                self.columns[i] = self._end(i - 1) + self.space(i)
            indents[i] = self.columns[start]
        self.lines.append(self._line(start, len(self.atoms)))

    def _end(self, i: int) -> int:
        text = self.atoms[i].text
        newline = text.rfind("\n")
        return self.columns[i] + len(text) if newline < 0 else len(text) - newline - 1

    def _line(self, start: int, end: int) -> Line:
        code = end - 1
        while code > start and self.atoms[code].comment:
            code -= 1
        return Line(start, end, self._end(code))

    def space(self, i: int) -> int:
        """The blanks before an atom that does not begin a line."""
        atom, before, gap = self.atoms[i], self.atoms[i - 1], self.gap(i)
        if atom.text == "":
            return 0
        if atom.comment:
            return 0 if before.text in ("(", "[") else 1
        if before.comment:
            return gap.space if atom.text in (")", "]", ",", ";", "}") else 1
        if gap.wide is not None and self.is_broken(gap.wide[1].gaps[0]):
            return gap.wide[0]
        return gap.space + self.padding.get(atom.token, 0)

    def _column(self, anchor: Anchor | None, indents: list[int]) -> int:
        if anchor is None:
            return 0
        atom = self._of_token[anchor.token]
        if anchor.origin is Origin.COLUMN:
            return self.columns[atom] + anchor.offset
        if anchor.origin is Origin.LINE:
            return indents[atom] + anchor.offset
        if atom == 0 or self.breaks[atom]:
            return self.columns[atom] + anchor.offset
        return self._column(anchor.otherwise, indents)
