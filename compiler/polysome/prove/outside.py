"""Which conditions are about the packet, and which about what a program meets besides: registers, meters, tables."""

from __future__ import annotations

from dataclasses import dataclass, field

from polysome.prove.window import Frame, Term


@dataclass
class Outside:
    """Tells them apart for one frame; each term is looked through once."""

    frame: Frame
    _known: dict[int, tuple[Term, bool]] = field(default_factory=dict)  # terms are kept: their numbers are used again

    def of_packet(self, term: Term) -> bool:
        """Does a term depend on the frame's bytes or its length?"""
        found = self._known.get(term.get_id())
        if found is None:
            if term.num_args():
                depends = any(self.of_packet(child) for child in term.children())
            else:
                depends = self._named(term.name)
            found = self._known[term.get_id()] = (term, depends)
        return found[1]

    def _named(self, symbol: str) -> bool:
        return symbol == f"{self.frame.name}.length" or symbol.startswith(f"{self.frame.name}[")
