"""What `polysome run` runs an NF with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from polysome.interp.machine import Counters
from polysome.ir import program as ir

if TYPE_CHECKING:
    from polysome.backends.system.report import Summary


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


@runtime_checkable
class OnSystem(Protocol):
    """A Runner that runs the whole system, and tells at the end what that came to."""

    @property
    def summary(self) -> Summary | None: ...
