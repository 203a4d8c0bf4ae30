"""Systems in this process: the C ABI of runtime/system (c_config.hpp, abi.hpp, records.hpp)."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from enum import IntEnum
from functools import cache
from pathlib import Path
from struct import Struct
from typing import NamedTuple

from polysome.backends.nf_cpp.library import Arrival, Failed, Handle
from polysome.backends.system.calls import AgentCalls, SwitchCalls
from polysome.backends.system.structs import Port, Progress, System

_RECORD = Struct("<BBHIQQQ")
NONE = 2**64 - 1

AT_SERVER = 0x4000  # `port` of an arrival that a server's own host sends: this | the server's number
AT_NF = 0x8000  # of one that the NF's host sends beside the NF
AT_SWITCH = 0xC000  # of one that comes into this | a port of the switch, cable or not; a new port has no role

_u8, _u16, _u32, _u64 = ctypes.c_uint8, ctypes.c_uint16, ctypes.c_uint32, ctypes.c_uint64


class Stop(IntEnum):
    """Why a run has stopped: all that was asked for has happened, or the time has come, or a look at the switch found
    something."""

    done = 0
    due = 2
    seen = 3


class Kind(IntEnum):
    """What a record says; records.hpp says what its members mean then."""

    left = 0
    own_left = 1
    dropped = 2
    decided = 3
    made = 4
    lost = 5
    held = 6
    host = 7
    frame = 8
    end = 9
    answered = 10


class Happened(NamedTuple):
    """One record. `number` and `packet` are None where there is none. `suffix`: what followed a packet that left."""

    kind: int
    port: int
    time: int
    number: int | None
    packet: int | None
    data: bytes
    suffix: bytes = b""


class Library:
    """The shared library of a system."""

    def __init__(self, path: Path) -> None:
        """OSError if it cannot be loaded."""
        self._dll = ctypes.CDLL(str(path))
        handle, size, status, text = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_char_p
        word = ctypes.POINTER(_u64)
        self.create = self._function("create", handle, ctypes.POINTER(System), text, size, text, size)
        self.arrive = self._function("arrive", status, handle, ctypes.POINTER(Arrival), size, _u64)
        self.change_at = self._function("change_at", status, handle, _u64, text, size)
        self.finish = self._function("finish", status, handle, _u64)
        self.progress = self._function("progress", None, handle, ctypes.POINTER(Progress))
        self.records = self._function("records", size, handle, ctypes.POINTER(handle))
        self.report = self._function("report", text, handle)
        self.reason = self._function("reason", text, handle, _u16)
        self.cause = self._function("cause", text, handle, _u16)
        self.link = self._function("link", text, handle, _u16)
        self.put = self._function("put", status, handle, text, word, size, text, word, size)
        self.remove = self._function("remove", status, handle, text, word, size)
        self.clear = self._function("clear", status, handle, text)
        self.set_register = self._function("set_register", status, handle, text, size, text, _u64)
        self.set_meter = self._function("set_meter", status, handle, text, size, _u64, _u64)
        self.set_mirror = self._function("set_mirror", status, handle, _u16, _u16, _u32)
        self.set_group = self._function("set_group", status, handle, _u16, ctypes.POINTER(_u16), size)
        self.set_port = self._function("set_port", status, handle, ctypes.POINTER(Port))
        self.port = self._function("port", status, handle, _u16, ctypes.POINTER(Port))
        self.hold = self._function("hold", status, handle, _u16, status)
        self.set_generator = self._function("set_generator", status, handle, _u16, _u64, size)
        self.counters = self._function("counters", status, handle, text, size, size, word, word)
        self.registers = self._function("registers", status, handle, text, size, size, word)
        self.watch = self._function("watch", status, handle, text, size, _u64)
        self.agent = self._function("agent", status, handle, size, word, ctypes.POINTER(_u8), size)
        self.reset = self._function("reset", status, handle, size, _u32, _u32, *[ctypes.POINTER(_u32)] * 2)
        self.clear_memory = self._function("clear_memory", status, handle, size)
        self.coverage = self._function("coverage", size, handle, ctypes.POINTER(word))
        self.error = self._function("error", text, handle)
        self.destroy = self._function("destroy", None, handle)

    def _function(self, name: str, result: object, *arguments: object) -> ctypes._NamedFuncPointer:
        try:
            found = self._dll[f"polysome_system_{name}"]
        except AttributeError as error:
            raise OSError(f"this is no library of a system: {error}") from error
        found.restype, found.argtypes = result, arguments  # type: ignore[assignment]
        return found


@cache
def load(path: Path) -> Library:
    """The library, loaded once."""
    return Library(path)


NEVER = 2**64 - 1  # ns


class Running(Handle):
    """One system at work. Calls raise Failed; then it is of no more use but for `records`, of what happened before.

    Nothing but its owner sets its switch, or makes its queue pairs ready: see `SwitchCalls` and `AgentCalls`.
    """

    def __init__(self, library: Library, system: System, config: bytes) -> None:
        """`config` from `config_blob.encode`, with all items."""
        given = (ctypes.byref(system), config, len(config))
        super().__init__(library, lambda *error: library.create(*given, *error))
        self._names: dict[tuple[str, int], str] = {}
        self.switch = SwitchCalls(library, self._handle, self._check)
        self.agents = AgentCalls(library, self._handle, self._check)

    def arrive(self, batch: ctypes.Array[Arrival], first: int, until: int) -> Stop:
        """Packets of a batch arrive, from the one in place `first` on, and what happens before each, but nothing later
        than `until`; `progress` says how many did."""
        here = ctypes.cast(ctypes.byref(batch, first * ctypes.sizeof(Arrival)), ctypes.POINTER(Arrival))
        return self._stopped(self.library.arrive(self._handle, here, len(batch) - first, until))

    def finish_by(self, until: int) -> Stop:
        """The end of the trace: what is on the way comes to its end, but nothing later than `until`."""
        return self._stopped(self.library.finish(self._handle, until))

    def progress(self) -> Progress:
        found = Progress()
        self.library.progress(self._handle, ctypes.byref(found))
        return found

    def _stopped(self, status: int) -> Stop:
        if status not in tuple(Stop):
            self._check(status)
        return Stop(status)

    def records(self) -> Iterator[Happened]:
        """What happened since the last call, in order; to be read before the next call of anything."""
        return parse(self._taken())

    def report(self) -> dict[str, int]:
        """Counters by name, in the order of report.hpp."""
        lines = (self.library.report(self._handle) or b"").decode().splitlines()
        return {name: int(value) for name, _, value in (line.partition("\t") for line in lines)}

    def coverage(self) -> tuple[int, ...]:
        """How often each outcome of the switch's program happened; empty unless the library was built to count."""
        counts = ctypes.POINTER(_u64)()
        size = self.library.coverage(self._handle, ctypes.byref(counts))
        return tuple(counts[:size])

    def reason(self, number: int) -> str:
        """The reason of a drop by the NF."""
        return self._name("reason", number)

    def cause(self, number: int) -> str:
        """Why a packet is lost."""
        return self._name("cause", number)

    def link(self, number: int) -> str:
        """The link of a captured frame, "" if there is none."""
        return self._name("link", number)

    def _name(self, of: str, number: int) -> str:
        if (of, number) not in self._names:
            said = getattr(self.library, of)(self._handle, number)
            self._names[of, number] = (said or b"").decode()
        return self._names[of, number]


def parse(records: bytes) -> Iterator[Happened]:
    """Records as runtime/system/records.hpp has them. Failed if they are damaged."""
    at, end = 0, len(records)
    while at < end:
        if at + _RECORD.size > end:
            raise Failed("the last record is cut off")
        kind, suffix, port, size, time, number, packet = _RECORD.unpack_from(records, at)
        at += _RECORD.size
        if at + size > end or suffix > size:
            raise Failed(f"a record of kind {kind} is damaged")
        data, rest = records[at : at + size - suffix], records[at + size - suffix : at + size]
        at += size
        yield Happened(
            kind, port, time, None if number == NONE else number, None if packet == NONE else packet, data, rest
        )
