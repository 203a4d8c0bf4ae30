"""Several captures as one trace."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from operator import itemgetter
from pathlib import Path
from types import TracebackType

from .errors import Damaged
from .read import Capture, open_capture
from .window import Captured


class Merged(Iterator[tuple[str | None, Captured]]):
    """What `merge` returns: the trace, its `size` and `position` in bytes for a progress bar, and `close`."""

    def __init__(self, inputs: Sequence[tuple[str | None, Path]]) -> None:
        self._damage: list[Damaged] = []
        with ExitStack() as opening:
            self._captures = [(port, opening.enter_context(open_capture(path))) for port, path in inputs]
            self._open_files = opening.pop_all()
        self._trace = self._merged()

    @property
    def size(self) -> int:
        """Bytes on disk of all captures; 0 if one of them is a pipe."""
        sizes = [capture.size for _, capture in self._captures]
        return sum(sizes) if all(sizes) else 0

    @property
    def position(self) -> int:
        """Bytes read, against `size`; captures are read one packet ahead."""
        return sum(capture.position for _, capture in self._captures)

    def __iter__(self) -> Iterator[tuple[str | None, Captured]]:
        return self._trace  # saves a call per packet

    def __next__(self) -> tuple[str | None, Captured]:
        return next(self._trace)

    def close(self) -> None:
        """Closes the captures; done by itself at the end of the trace. May be called more than once."""
        self._open_files.close()

    def __enter__(self) -> Merged:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _merged(self) -> Iterator[tuple[str | None, Captured]]:
        with self._open_files:
            # heapq.merge takes equal keys from the earlier capture first, which is command-line order.
            keyed = [self._keyed(port, capture) for port, capture in self._captures]
            for _, entry in heapq.merge(*keyed, key=itemgetter(0)):
                yield entry
        if self._damage:
            first, *others = self._damage
            for other in others:
                first.add_note(str(other))
            raise first

    def _keyed(self, port: str | None, capture: Capture) -> Iterator[tuple[int, tuple[str | None, Captured]]]:
        latest = 0
        try:
            for packet in capture:
                if packet.time > latest:
                    latest = packet.time
                yield latest, (port, packet)
        except Damaged as error:
            self._damage.append(error)


def merge(inputs: Sequence[tuple[str | None, Path]]) -> Merged:
    """Merges captures by time into one trace of (port, packet), the port being the one given with its capture.

    At equal times the captures come in the order of `inputs`. Each capture's own packets always stay in file
    order, even where its timestamps run backwards: what is compared is the latest time a capture has reached so
    far, the time at which the packet arrives for an NF, whose clock never runs back. Packets keep the timestamps of
    the file. Nothing is held but one packet and one buffer per capture.

    All captures are opened, and errors in opening raised, here. A capture that turns out Damaged or Truncated ends
    there and the others go on; the error is raised at the end of the trace, that of further captures being notes of
    the first. WrongLinkType is raised where it is met: that input is of no use.
    """
    return Merged(inputs)
