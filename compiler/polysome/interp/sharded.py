"""Several cores that share the work: the meaning of `--cores N` for every engine.

- There are N machines, each with state, schedule, timers and config tables of its own; only one, whatever N is, if no
  port has a shard key (`analysis.sharding`).
- Before a packet that arrives at t, core 0 is advanced to t with everything that is due by then, then core 1, and so
  on.
- Then the packet is decided on core h mod N, with h SipHash-2-4, keyed by `param seed`, of the canonical bytes of its
  port's shard key; on core 0 if the port has none, or no handler.
- Timers count from the first packet of the whole trace on every core, and fire on every core.
- A config change happens at its instant on every core.
- The trace ends on core 0 first, then on core 1, and so on.

Per core, all is as on one (LANGUAGE.md section 2). What n cores do then differs from what one does only as
`analysis.sharding` says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from polysome.analysis.sharding import shard_key, sharding
from polysome.interp.expression_code import ExpressionCode
from polysome.interp.machine import Machine
from polysome.interp.packet import Packet
from polysome.ir import program as ir
from polysome.kinds.hashing import encoder


class ShardedMachine:
    """Runs one program on one trace on several cores; used as a `Machine` is.

    `make` gives a core, whose packets have these numbers in the trace: a list that grows as they come.
    """

    def __init__(self, program: ir.Program, make: Callable[[list[int]], Machine], cores: int) -> None:
        self.program = program
        self._numbers: list[list[int]] = [[] for _ in range(cores if sharding(program).spreads else 1)]
        self.cores = [make(numbers) for numbers in self._numbers]
        self._arrived = 0
        self._keys = _key_functions(program, self.cores[0])

    # ------------------------------------------------------------ time

    def change_at(self, time: int, values: Mapping[str, Any]) -> None:
        """A config change at `time`; changes are given in order of time."""
        for core in self.cores:
            core.change_at(time, values)

    def arrive(self, port: int, time: int, data: bytes) -> None:
        """A packet; first everything that is due on any core at or before its time."""
        now = max(self.cores[0].clock.now, time)
        for core in self.cores:
            if core.started is None:
                core.started = now
        self.advance(now)
        chosen = self.core_of(port, data)
        self._numbers[chosen].append(self._arrived)
        self._arrived += 1
        self.cores[chosen].arrive(port, now, data)

    def advance(self, time: int) -> None:
        """Time moves on to `time` on every core."""
        for core in self.cores:
            core.advance(time)

    def finish(self) -> None:
        """The end of the trace."""
        for core in self.cores:
            core.finish()

    def core_of(self, port: int, data: bytes) -> int:
        """The core that decides this packet."""
        key = self._keys.get(port)
        if key is None or len(self.cores) == 1:
            return 0
        hashed = self.cores[0].hash64(key(Machine.parse(self.cores[0], port, data)))
        return hashed % len(self.cores)


def _key_functions(program: ir.Program, machine: Machine) -> dict[int, Callable[[Packet], bytes]]:
    """Per port with a shard key its canonical bytes as a function of the packet."""
    code = ExpressionCode(program)
    code.arrival = True
    found = {}
    for port in range(len(program.ports)):
        key = shard_key(program, port)
        if key is not None:
            body = code.code(key)
            values = {**machine.functions, **code.constants}
            exec(f"def shard(p):\n    d = p.data; o = p.offset\n    return {body}\n", values)
            found[port] = _encoded(values["shard"], encoder(key.type))
    return found


def _encoded(value: Callable[[Packet], Any], encode: Callable[[Any], bytes]) -> Callable[[Packet], bytes]:
    return lambda p: encode(value(p))
