"""The structs of the C ABI of runtime/system (c_config.hpp), which says what each member means."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

_u8, _u16, _u32, _u64 = ctypes.c_uint8, ctypes.c_uint16, ctypes.c_uint32, ctypes.c_uint64


class Link(ctypes.Structure):
    _fields_ = (("rate", _u64), ("delay", _u64), ("queue", _u64))


class Cable(ctypes.Structure):
    _fields_ = (("out", Link), ("in_", Link), ("port", _u16), ("pad", _u16 * 3))


class Server(ctypes.Structure):
    _fields_ = (
        ("cable", Cable),
        ("mac", _u8 * 6),
        ("queue_pairs", _u16),
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


class System(ctypes.Structure):
    """What a system is made of; polysome_system says what each member means."""

    _fields_ = (
        ("seed", _u64),
        ("start", _u64),
        ("switch_mac", _u8 * 6),
        ("pad", _u16),
        ("switch_ip", _u32),
        ("pad2", _u32),
        ("traffic", ctypes.POINTER(Cable)),
        ("traffic_count", ctypes.c_size_t),
        ("servers", ctypes.POINTER(Server)),
        ("server_count", ctypes.c_size_t),
        ("nf_cable", Cable),
        ("nf_queue", _u32),
        ("nf_burst", _u32),
        ("nf_frame_time", _u64),
        ("faults", ctypes.POINTER(Fault)),
        ("fault_count", ctypes.c_size_t),
        ("drain", _u64),
        ("capture", _u32),
        ("collide", _u32),
        ("sizes", ctypes.POINTER(_u64)),
        ("size_count", ctypes.c_size_t),
    )


class Progress(ctypes.Structure):
    """How far a run is; polysome_progress says what each member means."""

    _fields_ = (("now", _u64), ("next", _u64), ("taken", _u32), ("resting", _u32))


class Port(ctypes.Structure):
    _fields_ = (
        ("rate", _u64),
        ("loop_time", _u64),
        ("queue_bytes", _u32),
        ("first_queue_bytes", _u32),
        ("port", _u16),
        ("role", _u8),
        ("index", _u8),
        ("append_icrc", _u8),
        ("loopback", _u8),
        ("pad", _u16),
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
