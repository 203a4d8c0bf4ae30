"""Who does the shares of a campaign: this process, several of this machine, or a Ray cluster."""

from __future__ import annotations

import signal
from multiprocessing import Pipe, Process
from multiprocessing.connection import Connection, wait
from typing import Protocol

from polysome.engines.options import Unsupported
from polysome.testing.campaign.results import Result
from polysome.testing.campaign.share import Share, perform
from polysome.testing.orphans import end_with_parent
from polysome.testing.spec import Spec

TRIES = 3  # of a share whose worker ends


class Crew(Protocol):
    """Takes shares and gives their results, in the order in which they are done."""

    @property
    def size(self) -> int:
        """So many shares at a time."""

    def submit(self, share: Share) -> None:
        """To a worker that has none."""

    def next(self) -> tuple[Share, Result]:
        """Waits for the next one that is done. Raises what `perform` does, and Unsupported if its worker ends each
        time it is tried.
        """

    def close(self) -> None:
        """Ends the workers, whatever they do."""


class Here:
    """This process."""

    size = 1

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        self._share: Share | None = None

    def submit(self, share: Share) -> None:
        self._share = share

    def next(self) -> tuple[Share, Result]:
        assert self._share is not None
        return self._share, perform(self._spec, self._share)

    def close(self) -> None:
        self._share = None


class Processes:
    """`size` processes of this machine. One that ends (a crash, too little memory) is replaced."""

    def __init__(self, spec: Spec, size: int) -> None:
        self.size, self._spec = size, spec
        self._idle = [_Worker(spec) for _ in range(size)]
        self._busy: dict[Connection, tuple[_Worker, Share, int]] = {}

    def submit(self, share: Share) -> None:
        self._give(self._idle.pop(), share, 1)

    def _give(self, worker: _Worker, share: Share, tries: int) -> None:
        self._busy[worker.connection] = worker, share, tries
        worker.connection.send(share)

    def next(self) -> tuple[Share, Result]:
        while True:
            connection = wait(list(self._busy))[0]
            assert isinstance(connection, Connection)
            worker, share, tries = self._busy.pop(connection)
            try:
                result = connection.recv()
            except (EOFError, ConnectionError):
                worker.end()
                if tries == TRIES:
                    raise Unsupported(_ends(share)) from None
                self._give(_Worker(self._spec), share, tries + 1)
                continue
            self._idle.append(worker)
            if isinstance(result, BaseException):
                raise result
            return share, result

    def close(self) -> None:
        for worker in (*self._idle, *(worker for worker, *_ in self._busy.values())):
            worker.end()
        self._idle.clear()
        self._busy.clear()


def _ends(share: Share) -> str:
    return f"a worker ended {TRIES} times on share {share.number} of seed {share.plan.seed}: is there memory for it?"


class _Worker:
    """A process that does one share at a time."""

    def __init__(self, spec: Spec) -> None:
        self.connection, theirs = Pipe()
        self.process = Process(target=_serve, args=(theirs, spec), daemon=True)
        self.process.start()
        theirs.close()

    def end(self) -> None:
        self.process.kill()
        self.process.join()
        self.connection.close()


def _serve(connection: Connection, spec: Spec) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever ends the campaign ends this process too
    end_with_parent()
    while True:
        share = connection.recv()
        try:
            result: Result | Exception = perform(spec, share)
        except Exception as error:  # the campaign raises it, whatever it is
            result = error
        connection.send(result)
