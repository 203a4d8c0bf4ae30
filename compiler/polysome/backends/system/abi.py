"""Systems in this process: the C ABI of runtime/system (c_config.hpp, abi.hpp, records.hpp)."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from enum import IntEnum
from functools import cache
from pathlib import Path
from struct import Struct
from typing import NamedTuple

from polysome.backends.nf_cpp.library import Arrival, Failed, Handle

_RECORD = Struct("<BBHIQQQ")
NONE = 2**64 - 1

AT_SERVER = 0x4000  # `port` of an arrival that a server's own host sends: this | the server's number
AT_NF = 0x8000  # of one that the NF's host sends beside the NF
AT_SWITCH = 0xC000  # of one that comes into this | a port of the switch, cable or not; a new port has no role

_u8, _u16, _u32, _u64 = ctypes.c_uint8, ctypes.c_uint16, ctypes.c_uint32, ctypes.c_uint64


class Link(ctypes.Structure):
    _fields_ = (("rate", _u64), ("delay", _u64), ("queue", _u64))


class Cable(ctypes.Structure):
    _fields_ = (("out", Link), ("in_", Link), ("port", _u16), ("pad", _u16 * 3))


class Server(ctypes.Structure):
    _fields_ = (
        ("cable", Cable),
        ("mac", _u8 * 6),
        ("pad", _u16),
        ("ip", _u32),
        ("rkey", _u32),
        ("region", _u64),
        ("read_time", _u64),
        ("read_rate", _u64),
    )


class Fault(ctypes.Structure):
    _fields_ = (
        ("kind", _u8),
        ("where", _u8),
        ("index", _u16),
        ("pad", _u32),
        ("probability", ctypes.c_double),
        ("hold", _u64),
        ("from_", _u64),
        ("to", _u64),
    )


class Station(ctypes.Structure):
    _fields_ = (("mac", _u8 * 6), ("port", _u16))


class System(ctypes.Structure):
    """What a system is made of; polysome_system says what each member means."""

    _fields_ = (
        ("seed", _u64),
        ("start", _u64),
        ("switch_mac", _u8 * 6),
        ("nf_mac", _u8 * 6),
        ("switch_ip", _u32),
        ("traffic", ctypes.POINTER(Cable)),
        ("traffic_count", ctypes.c_size_t),
        ("servers", ctypes.POINTER(Server)),
        ("server_count", ctypes.c_size_t),
        ("nf_cable", Cable),
        ("nf_queue", _u32),
        ("nf_burst", _u32),
        ("nf_frame_time", _u64),
        ("queue_pairs", ctypes.POINTER(_u16)),
        ("queue_pair_count", ctypes.c_size_t),
        ("queue_pair_bits", _u32),
        ("buckets", _u32),
        ("depths", ctypes.POINTER(_u16)),
        ("depth_count", ctypes.c_size_t),
        ("verdicts", ctypes.POINTER(_u16)),
        ("verdict_count", ctypes.c_size_t),
        ("stations", ctypes.POINTER(Station)),
        ("station_count", ctypes.c_size_t),
        ("fallback_rate", _u64),
        ("fallback_burst", _u64),
        ("faults", ctypes.POINTER(Fault)),
        ("fault_count", ctypes.c_size_t),
        ("recirculation", _u16),
        ("generator", _u16),
        ("controller_port", _u16),
        ("queue_bytes", _u32),
        ("recirculation_rate", _u64),
        ("recirculation_time", _u64),
        ("sweep", _u64),
        ("poll", _u64),
        ("longest_queueing", _u64),
        ("drain", _u64),
        ("capture", _u32),
        ("collide", _u32),
        ("sizes", ctypes.POINTER(_u64)),
        ("size_count", ctypes.c_size_t),
    )


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
        self.arrive = self._function("arrive", status, handle, ctypes.POINTER(Arrival), size)
        self.change_at = self._function("change_at", status, handle, _u64, text, size)
        self.finish = self._function("finish", status, handle)
        self.records = self._function("records", size, handle, ctypes.POINTER(handle))
        self.report = self._function("report", text, handle)
        self.reason = self._function("reason", text, handle, _u16)
        self.cause = self._function("cause", text, handle, _u16)
        self.link = self._function("link", text, handle, _u16)
        self.counter = self._function("counter", status, handle, text, size, word, word)
        self.set_register = self._function("set_register", status, handle, text, size, text, _u64)
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


class Running(Handle):
    """One system at work. Calls raise Failed; then it is of no more use but for `records`, of what happened before."""

    def __init__(self, library: Library, system: System, config: bytes) -> None:
        """`config` from `config_blob.encode`, with all items."""
        given = (ctypes.byref(system), config, len(config))
        super().__init__(library, lambda *error: library.create(*given, *error))
        self._names: dict[tuple[str, int], str] = {}

    def records(self) -> Iterator[Happened]:
        """What happened since the last call, in order; to be read before the next call of anything."""
        return parse(self._taken())

    def report(self) -> dict[str, int]:
        """Counters by name, in the order of report.hpp."""
        lines = (self.library.report(self._handle) or b"").decode().splitlines()
        return {name: int(value) for name, _, value in (line.partition("\t") for line in lines)}

    def counter(self, name: str, index: int) -> int:
        """Packets counted by a counter of the switch's program."""
        packets, size = _u64(), _u64()
        self._check(self.library.counter(self._handle, name.encode(), index, ctypes.byref(packets), ctypes.byref(size)))
        return packets.value

    def set_register(self, name: str, index: int, value: int, field: str = "") -> None:
        """Writes a register of the switch's program; `field` is "" unless it holds pairs."""
        self._check(self.library.set_register(self._handle, name.encode(), index, field.encode(), value))

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


def array(type: type[ctypes.Structure], items: Sequence[ctypes.Structure]) -> ctypes.Array[ctypes.Structure]:
    """An array of C structs, of which the library copies what it needs."""
    made = (type * len(items))()
    for place, item in enumerate(items):
        made[place] = item
    return made


def halfwords(values: Sequence[int]) -> ctypes.Array[ctypes.c_uint16]:
    return (_u16 * len(values))(*values)


def mac(address: int) -> ctypes.Array[ctypes.c_uint8]:
    return (_u8 * 6)(*address.to_bytes(6, "big"))
