"""What a controller asks of a system: of its switch, by the P4 program's names, and of its servers' agents.

Each change takes effect at once, between two frames.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

from polysome.backends.system.structs import Port

_u8, _u16, _u32, _u64 = ctypes.c_uint8, ctypes.c_uint16, ctypes.c_uint32, ctypes.c_uint64
SILENT = 2  # what the library returns for a server that does not answer


class _Calls:
    """`check` raises Failed for a status that is an error."""

    def __init__(self, library: Any, handle: int, check: Callable[[int], None]) -> None:
        self._library = library
        self._handle = handle
        self._check = check


class SwitchCalls(_Calls):
    def put(self, table: str, key: Sequence[int], action: str, parameters: Sequence[int]) -> None:
        """An entry that is there afterwards, whether it was before or not."""
        given = table.encode(), _words(key), len(key), action.encode(), _words(parameters), len(parameters)
        self._check(self._library.put(self._handle, *given))

    def remove(self, table: str, key: Sequence[int]) -> None:
        self._check(self._library.remove(self._handle, table.encode(), _words(key), len(key)))

    def clear(self, table: str) -> None:
        self._check(self._library.clear(self._handle, table.encode()))

    def set_register(self, name: str, index: int, value: int, field: str = "") -> None:
        """`field` is "" unless the register holds pairs."""
        self._check(self._library.set_register(self._handle, name.encode(), index, field.encode(), value))

    def set_meter(self, name: str, index: int, rate: int, burst: int) -> None:
        """bit/s, bytes."""
        self._check(self._library.set_meter(self._handle, name.encode(), index, rate, burst))

    def set_mirror(self, session: int, port: int, max_length: int) -> None:
        self._check(self._library.set_mirror(self._handle, session, port, max_length))

    def set_group(self, group: int, ports: Sequence[int]) -> None:
        self._check(self._library.set_group(self._handle, group, (_u16 * len(ports))(*ports), len(ports)))

    def set_port(self, port: Port) -> None:
        self._check(self._library.set_port(self._handle, ctypes.byref(port)))

    def port(self, number: int) -> Port | None:
        """As it is set; None: it is not."""
        found = Port()
        status = self._library.port(self._handle, number, ctypes.byref(found))
        if status == SILENT:
            return None
        self._check(status)
        return found

    def hold(self, port: int, on: bool) -> None:
        self._check(self._library.hold(self._handle, port, on))

    def set_generator(self, port: int, period: int, count: int) -> None:
        """A frame for each of `count` queue pairs every `period` ns; 0: none."""
        self._check(self._library.set_generator(self._handle, port, period, count))

    def counters(self, name: str, first: int, count: int) -> tuple[list[int], list[int]]:
        """Packets, and bytes."""
        packets, size = (_u64 * count)(), (_u64 * count)()
        self._check(self._library.counters(self._handle, name.encode(), first, count, packets, size))
        return list(packets), list(size)

    def registers(self, name: str, first: int, count: int) -> list[int]:
        values = (_u64 * count)()
        self._check(self._library.registers(self._handle, name.encode(), first, count, values))
        return list(values)

    def watch(self, name: str, count: int, period: int) -> None:
        """From now on a run stops at a look, one each `period` ns, at which the first cells of a register are no longer
        as they are now."""
        self._check(self._library.watch(self._handle, name.encode(), count, period))


class AgentCalls(_Calls):
    """Each answers None if the server does not."""

    def state(self, server: int, queue_pairs: int) -> tuple[int, tuple[bool, ...]] | None:
        """Which of the agent's runs this is, from 1, and which queue pairs are ready."""
        run, ready = _u64(), (_u8 * queue_pairs)()
        asked = self._library.agent(self._handle, server, ctypes.byref(run), ready, queue_pairs)
        return (run.value, tuple(map(bool, ready))) if self._answers(asked) else None

    def reset(self, server: int, pair: int, peer: int) -> tuple[int, int] | None:
        """Makes a queue pair ready, whose answers go to the switch's number `peer`: its number, and its first PSN."""
        number, psn = _u32(), _u32()
        asked = self._library.reset(self._handle, server, pair, peer, ctypes.byref(number), ctypes.byref(psn))
        return (number.value, psn.value) if self._answers(asked) else None

    def clear_memory(self, server: int) -> bool:
        """Fills the region with ones; False: no answer."""
        return self._answers(self._library.clear_memory(self._handle, server))

    def _answers(self, status: int) -> bool:
        if status != SILENT:
            self._check(status)
        return status != SILENT


def _words(values: Sequence[int]) -> ctypes.Array[ctypes.c_uint64]:
    return (_u64 * len(values))(*values)
