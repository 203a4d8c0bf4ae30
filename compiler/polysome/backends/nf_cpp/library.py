"""Native NFs in this process: the C ABI of runtime/host/library.hpp."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from enum import IntEnum
from functools import cache
from pathlib import Path
from struct import Struct
from typing import Any, NamedTuple, Self

BATCH = 64  # packets that are handled together at most, if nobody says otherwise
_ERROR = 1024  # bytes of a message
_RECORD = Struct("<BxHIQQ")
_NONE32, _NONE64 = 2**32 - 1, 2**64 - 1


class Failed(Exception):
    """The library reports an error: a fault of the engine, not of the spec."""


class Kind(IntEnum):
    """What a record says."""

    left = 0
    emitted = 1
    dropped = 2
    decided = 3


class Happened(NamedTuple):
    """One thing that happened, at `time`.

    `number`: that of the port, or if something was dropped, of the reason. `order`: the packet's number from 0; of an
    emitted packet that whose handler made it, None for a timer or an end. `data`: of left and emitted the packet, of
    decided the canonical bytes of its order class, None if it has none.
    """

    kind: Kind
    number: int
    time: int
    order: int | None
    data: bytes | None


class Arrival(ctypes.Structure):
    """A frame that arrives, as the library takes it."""

    _fields_ = (
        ("time", ctypes.c_uint64),
        ("data", ctypes.c_char_p),
        ("size", ctypes.c_uint32),
        ("port", ctypes.c_uint16),
        ("pad", ctypes.c_uint16),
    )


def arrivals(packets: Sequence[tuple[int, int, bytes]]) -> ctypes.Array[Arrival]:
    """Packets as (port, time, frame); the frames must live as long as what is returned."""
    batch = (Arrival * len(packets))()
    for place, (port, time, data) in zip(batch, packets, strict=True):
        place.time, place.data, place.size, place.port = time, data, len(data), port
    return batch


class Library:
    """The shared library of an NF."""

    def __init__(self, path: Path) -> None:
        """OSError if it cannot be loaded."""
        self._dll = ctypes.CDLL(str(path))
        handle, size, status = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
        words = ctypes.POINTER(ctypes.c_uint64)
        arguments = [ctypes.c_char_p, size, words, size, *[ctypes.c_uint32] * 3, ctypes.c_char_p, size]
        self.create = self._function("create", handle, *arguments)
        self.arrive = self._function("arrive", status, handle, ctypes.POINTER(Arrival), size)
        self.advance = self._function("advance", status, handle, ctypes.c_uint64)
        self.change_at = self._function("change_at", status, handle, ctypes.c_uint64, ctypes.c_char_p, size)
        self.restart = self._function("restart", status, handle, ctypes.c_char_p, size)
        self.finish = self._function("finish", status, handle)
        self.records = self._function("records", size, handle, ctypes.POINTER(handle))
        self.destroy = self._function("destroy", None, handle)
        self.error = self._function("error", ctypes.c_char_p, handle)
        self._reason = self._function("reason", ctypes.c_char_p, ctypes.c_uint16)
        self._reasons: dict[int, str] = {}

    def _function(self, name: str, result: object, *arguments: object) -> ctypes._NamedFuncPointer:
        try:
            found = self._dll[f"polysome_{name}"]
        except AttributeError as error:
            raise OSError(f"this is no library of an NF: {error}") from error
        found.restype, found.argtypes = result, arguments  # type: ignore[assignment]
        return found

    def reason(self, number: int) -> str:
        """The reason of a drop."""
        if number not in self._reasons:
            self._reasons[number] = (self._reason(number) or b"").decode()
        return self._reasons[number]


class Handle:
    """An object of a library with a C ABI as that of runtime/host/library.hpp. Calls raise Failed.

    `create` is given a buffer for a message and its size, and returns the object's handle, or none.
    """

    def __init__(self, library: Any, create: Callable[[Any, int], Any]) -> None:
        self.library = library
        error = ctypes.create_string_buffer(_ERROR)
        self._handle = create(error, _ERROR)
        if not self._handle:
            raise Failed(error.value.decode(errors="replace") or "it cannot be created, and does not say why")

    def change_at(self, time: int, config: bytes) -> None:
        """Some config items change at `time`; given in order of time, before packets that arrive then."""
        self._check(self.library.change_at(self._handle, time, config, len(config)))

    def _taken(self) -> bytes:
        """The records since the last call."""
        start = ctypes.c_void_p()
        size = self.library.records(self._handle, ctypes.byref(start))
        return ctypes.string_at(start, size) if size else b""

    def close(self) -> None:
        """Gives its memory back; nothing is called after this."""
        if self._handle:
            self.library.destroy(self._handle)
            self._handle = None

    def _check(self, status: int) -> None:
        if status != 0:
            said = self.library.error(self._handle)
            raise Failed((said or b"").decode(errors="replace") or f"the library returns {status}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Running(Handle):
    """One NF at work. Calls raise Failed; then it is of no more use, but `records` still has what happened before."""

    def __init__(
        self,
        library: Library,
        config: bytes,
        sizes: Sequence[int],
        *,
        cores: int = 1,
        batch: int = BATCH,
        collide: bool = False,
    ) -> None:
        """`config` from `config_blob.encode`, with all items; `sizes` from `sizes.sizes`."""
        numbers = (ctypes.c_uint64 * len(sizes))(*sizes)
        given = (config, len(config), numbers, len(sizes), cores, batch, int(collide))
        super().__init__(library, lambda *error: library.create(*given, *error))

    def hand_over(self, batch: ctypes.Array[Arrival]) -> None:
        """Packets in order of time, as `arrivals` makes them; everything due at or before each is done first."""
        self._check(self.library.arrive(self._handle, batch, len(batch)))

    def arrive(self, packets: Sequence[tuple[int, int, bytes]]) -> None:
        """Packets as (port, time, frame), in order of arrival; first of each, everything due at or before its time."""
        self.hand_over(arrivals(packets))

    def finish(self) -> None:
        """The end of the trace: what is still due is done."""
        self._check(self.library.finish(self._handle))

    def advance(self, time: int) -> None:
        """Time moves on to `time`, if that is later."""
        self._check(self.library.advance(self._handle, time))

    def restart(self, config: bytes) -> None:
        """It goes on as a process does that took this one's state over, with `config`, of all items."""
        self._check(self.library.restart(self._handle, config, len(config)))

    def records(self) -> Iterator[Happened]:
        """What happened since the last call, in order; to be read before the next call of anything."""
        return parse(self._taken())


@cache
def load(path: Path) -> Library:
    """The library, loaded once."""
    return Library(path)


def parse(records: bytes) -> Iterator[Happened]:
    """Records as runtime/host/library.hpp writes them. Failed if they are damaged."""
    at = 0
    while at < len(records):
        if at + _RECORD.size > len(records):
            raise Failed("the last record is cut off")
        kind, number, size, time, order = _RECORD.unpack_from(records, at)
        at += _RECORD.size
        absent = kind == Kind.decided and size == _NONE32
        data = None if absent else records[at : at + size]
        if kind > Kind.decided or (data is not None and len(data) != size):
            raise Failed(f"a record of kind {kind} is damaged")
        at += 0 if absent else size
        yield Happened(Kind(kind), number, time, None if order == _NONE64 else order, data)
