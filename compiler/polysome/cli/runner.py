"""What `polysome run` runs an NF with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from polysome.interp.machine import Counters
from polysome.ir import program as ir


class Runner(Protocol):
    """An NF at work, whatever runs it. `interp.machine.Machine` is one; its methods say what they do."""

    program: ir.Program

    @property
    def counters(self) -> Counters: ...

    @property
    def held(self) -> int: ...

    def change_at(self, time: int, values: Mapping[str, Any]) -> None: ...

    def arrive(self, port: int, time: int, data: bytes) -> None: ...

    def finish(self) -> None: ...
