"""State declarations to run-time objects, and the order in which entries end (LANGUAGE.md L2.3, STATE.md)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, ClassVar, Protocol

from polysome.interp import support
from polysome.interp.code import safe_name
from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.ir.fold import zero
from polysome.ir.value_places import owned_places, owns, row_places
from polysome.kinds.base import Context, Trap
from polysome.kinds.hashing import encoder
from polysome.kinds.state import STATE_KINDS, token_bucket
from polysome.kinds.state.array import Array
from polysome.kinds.state.flow_map import FlowMap
from polysome.kinds.state.pool import Pool


class Host(Protocol):
    """What state needs of the machine that it belongs to."""

    clock: Any
    config: Any
    scalars: dict[str, Any]

    @property
    def functions(self) -> dict[str, Any]: ...
    @property
    def hash64(self) -> Callable[[bytes], int]: ...


class States:
    """All state of one machine."""

    map_type: ClassVar[type[FlowMap]] = FlowMap
    pool_type: ClassVar[type[Pool]] = Pool
    array_type: ClassVar[type[Array]] = Array

    def __init__(self, program: ir.Program, machine: Host) -> None:
        self.program, self.machine = program, machine
        self.clock = machine.clock
        self.objects: dict[str, Any] = machine.functions["STATE"]
        self.maps: list[FlowMap] = []
        self.pools: list[Pool] = []
        for decl in program.state.values():
            if isinstance(decl, ir.PoolDecl):
                self._pool(decl)
        for decl in program.state.values():
            self._create(decl)
        functions = machine.functions
        functions |= {
            "bucket_take": self._bucket_take,
            "bucket_has": self._bucket_has,
            "state_len": self._state_len,
        }

    def _create(self, decl: ir.AnyState) -> None:
        match decl:
            case ir.MapDecl():
                self._map(decl)
            case ir.ArrayDecl(name=name, size=size, initial=initial):
                self.objects[name] = self.array_type(name, size, initial)
            case ir.ScalarDecl(name=name, initial=initial):
                self.machine.scalars[name] = initial
            case ir.KindDecl(name=name, kind=kind, options=options, params=params):
                encode = encoder(t.Tuple(params)) if len(params) != 1 else encoder(params[0])
                context = Context(name, lambda: self.clock.now, encode, self.machine.hash64)
                self.objects[name] = STATE_KINDS[kind].make(options, context)

    def _pool(self, decl: ir.PoolDecl) -> None:
        current = self.machine.config.current

        def domain() -> list[Any]:
            return [
                tuple(row.value for row in current[a]) if isinstance(a, str) else range(a[0], a[1] + 1)
                for a in decl.axes
            ]

        self.objects[decl.name] = self.pool_type(decl.name, domain)
        self.pools.append(self.objects[decl.name])

    def _map(self, decl: ir.MapDecl) -> None:
        functions = self.machine.functions
        name = safe_name(decl.name)
        pools = [(path, self.objects[pool]) for path, pool in owned_places(decl.value)] if decl.value else []
        m = self.map_type(
            name=decl.name,
            capacity=decl.capacity,
            now=lambda: self.clock.now,
            idle=self._timeout(decl.idle, f"idle_{name}"),
            age=self._timeout(decl.age, f"age_{name}"),
            when_full=decl.when_full,  # type: ignore[arg-type]
            on_end=self._on_end(decl),
            indexes={i.name: functions[f"index_{name}_{i.name}"] for i in decl.indexes},
            claim=_each(pools, "claim") if pools else None,
            release=_each(pools, "release") if pools else None,
            alive=_alive(decl.value) if decl.value else None,
        )
        self.objects[decl.name] = m
        self.maps.append(m)

    def _timeout(self, timeout: ir.Timeout | None, function: str) -> Any:
        if timeout is None:
            return None
        return timeout.value.value if isinstance(timeout.value, ir.Const) else self.machine.functions[function]

    def _on_end(self, decl: ir.MapDecl) -> Callable[[Any, Any, int], None] | None:
        """The spec's handler; what it traps on ends the handler only."""
        if decl.name not in self.program.end_handlers:
            return None
        run = self.machine.functions[f"end_{safe_name(decl.name)}"]
        owned = isinstance(decl.value, t.FromPool)

        def on_end(key: Any, value: Any, why: int) -> None:
            with suppress(Trap):
                run(key, value.value if owned else value, why)

        return on_end

    # ------------------------------------------------------------ time

    def next_due(self, by: int) -> tuple[int, int] | None:
        """(time, number of the map) of the entry that ends first, if that is at or before `by`.

        At one instant the earlier declared map goes first; within a map the earlier inserted entry.
        """
        best: tuple[int, int] | None = None
        for number, m in enumerate(self.maps):
            key = m.due_key(by)
            if key is not None and (best is None or key[0] < best[0]):
                best = (key[0], number)
        return best

    def expire_one(self, number: int) -> None:
        """End the entry of map `number` that is due first."""
        self.maps[number].expire_one()

    def settle(self) -> None:
        """The end of a handler: values taken from pools and stored nowhere go back."""
        for pool in self.pools:
            pool.settle()

    def reload(self) -> None:
        """The config changed: pools have a new domain."""
        for pool in self.pools:
            pool.reload()

    # ------------------------------------------------------------ token buckets

    def _whole(self, state: str, key: Any, place: str) -> Any:
        """The value that holds the bucket: a scalar, an array element, a map entry (or its initial value)."""
        decl = self.program.state[state]
        match decl:
            case ir.ScalarDecl():
                return self.machine.scalars[state]
            case ir.ArrayDecl():
                return support.at(self.objects[state].get, key, place)
            case ir.MapDecl(value=value):
                assert value is not None
                return support.present(self.objects[state], key, zero(value), owns(value), place)
            case _:
                raise AssertionError(decl)

    def _bucket_has(
        self, state: str, key: Any, path: tuple[int, ...], n: int, rate: int, burst: int, unit: str, place: str
    ) -> bool:
        bucket = support.member(self._whole(state, key, place), path)
        return token_bucket.has(bucket, self.clock.now, n, rate, burst, token_bucket.SCALE[unit])

    def _bucket_take(
        self, state: str, key: Any, path: tuple[int, ...], n: int, rate: int, burst: int, unit: str, place: str
    ) -> bool:
        whole = self._whole(state, key, place)
        bucket = support.member(whole, path)
        taken, bucket = token_bucket.take(bucket, self.clock.now, n, rate, burst, token_bucket.SCALE[unit])
        value = support.with_member(whole, path, bucket)
        match self.program.state[state]:
            case ir.ScalarDecl():
                self.machine.scalars[state] = value
            case ir.ArrayDecl():
                support.at2(self.objects[state].set, key, value, place)
            case _:
                support.put(self.objects[state], key, value, place)
        return taken

    def _state_len(self, state: str, p: Any) -> int:
        """Free values of a pool, in the packet's partition if it has partitions."""
        decl = self.program.state[state]
        assert isinstance(decl, ir.PoolDecl)
        partition = self.machine.functions[f"per_{safe_name(state)}"](p) if decl.per is not None else None
        free: int = self.objects[state].available(partition)
        return free


def _each(pools: list[tuple[tuple[int, ...], Pool]], operation: str) -> Callable[[Any], None]:
    """Claim or release everything a value owns."""

    def run(value: Any) -> None:
        for path, pool in pools:
            getattr(pool, operation)(support.member(value, path))

    return run


def _alive(type: t.Type) -> Callable[[Any], bool] | None:
    """Whether every row that a value refers to is still in its table."""
    paths = row_places(type)
    if not paths:
        return None
    return lambda value: all(support.member(value, path).live for path in paths)
