"""`bfrt_grpc.client` as far as the controller uses it: the forms of the SDE's client (bf-sde 9.x), tables in memory.

An entry that is there cannot be added, one that is not cannot be modified or deleted, and fields have the SDE's names,
or it is an error, as with the real one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

ENTRY = ("add", "get", "del")
# Keys; data fields by action ("" where there are none).
FIXED: dict[str, tuple[tuple[str, ...], dict[str, tuple[str, ...]]]] = {
    "$PORT": (
        ("$DEV_PORT",),
        {
            "": (
                *("$SPEED", "$FEC", "$PORT_ENABLE", "$RX_PAUSE_FRAME_EN", "$TX_PAUSE_FRAME_EN"),
                *("$RX_PFC_EN_MAP", "$TX_PFC_EN_MAP"),
            )
        },
    ),
    "$PORT_STAT": (("$DEV_PORT",), {"": ()}),
    "$mirror.cfg": (
        ("$sid",),
        {
            "$normal": (
                *("$direction", "$session_enable", "$ucast_egress_port", "$ucast_egress_port_valid", "$max_pkt_len"),
            )
        },
    ),
    "$pre.node": (("$MULTICAST_NODE_ID",), {"": ("$MULTICAST_RID", "$MULTICAST_LAG_ID", "$DEV_PORT")}),
    "$pre.mgid": (
        ("$MGID",),
        {"": ("$MULTICAST_NODE_ID", "$MULTICAST_NODE_L1_XID_VALID", "$MULTICAST_NODE_L1_XID")},
    ),
    "IngressParser.$PORT_METADATA": (("ig_intr_md.ingress_port",), {"": ("role", "index", "unused", "unused2")}),
    "tf1.pktgen.port_cfg": (("dev_port",), {"": ("pktgen_enable",)}),
    "tf1.pktgen.pkt_buffer": (("pkt_buffer_offset", "pkt_buffer_size"), {"": ("buffer",)}),
    "tf1.pktgen.app_cfg": (
        ("app_id",),
        {
            "trigger_timer_periodic": (
                *("timer_nanosec", "app_enable", "pkt_len", "pkt_buffer_offset", "pipe_local_source_port"),
                *("increment_source_port", "batch_count_cfg", "packets_per_batch_cfg", "ibg", "ibg_jitter", "ipg"),
                *("ipg_jitter", "batch_counter", "pkt_counter", "trigger_counter"),
            )
        },
    ),
    "Ingress.fallback": (
        ("$METER_INDEX",),
        {"": ("$METER_SPEC_CIR_KBPS", "$METER_SPEC_PIR_KBPS", "$METER_SPEC_CBS_KBITS", "$METER_SPEC_PBS_KBITS")},
    ),
}
REGISTERS = {
    **{f"Ingress.{name}": ("f1",) for name in ("counter", "primaries", "backups", "acknowledged", "silence", "epochs")},
    **{f"Egress.{name}": ("f1",) for name in ("psns", "epochs")},
    "Ingress.reads": ("count", "rests"),
}
# Tables of the traffic manager, of which every entry is there: keys, whether they are asked by pipe, and the data as
# the SDE has it at first. A queue's number in its group is 8 for each port before it, and its own.
QUEUE = ("pg_id", "pg_queue")
TRAFFIC: dict[str, tuple[tuple[str, ...], bool, dict[str, Any]]] = {
    "cfg": ((), False, {"timestamp_shift_bits": 0, "cell_size_bytes": 80, "total_cells": 286_720}),
    "pool.cfg": (("pool",), False, {"size_cells": 0}),
    "mirror.dpg": ((), True, {"pool_id": "IG_APP_POOL_0", "pool_max_cells": 160, "dynamic_baf": "DISABLE"}),
    "port.cfg": (("dev_port",), False, {}),
    "port.sched_cfg": (("dev_port",), False, {"max_rate_enable": True, "scheduling_speed": "BF_SPEED_100G"}),
    "port.flowcontrol": (("dev_port",), False, {"mode_tx": "PFC", "mode_rx": "NONE", "cos_to_icos": list(range(8))}),
    "queue.buffer": (
        *(QUEUE, True),
        {
            **{"guaranteed_cells": 20, "hysteresis_cells": 32, "tail_drop_enable": True, "pool_id": "EG_APP_POOL_0"},
            **{"pool_max_cells": 13, "dynamic_baf": "80%"},
        },
    ),
    "queue.sched_cfg": (
        *(QUEUE, True),
        {
            **{"min_rate_enable": False, "min_priority": "0", "max_rate_enable": False, "max_priority": "0"},
            **{"dwrr_weight": 1023, "scheduling_enable": True},
        },
    ),
}
READ_ONLY = ("mode_rx", "cell_size_bytes", "total_cells", "scheduling_speed")
COUNTERS = ("Ingress.events", "Egress.events", "Egress.requests")
PIPES = 2


def schema() -> dict[str, tuple[tuple[str, ...], dict[str, tuple[str, ...]]]]:
    """Of the program's tables; test_program.py compares them with the program itself."""
    from .test_program import PUTS  # with the compiler, which the other stand-ins do without

    found: dict[str, tuple[tuple[str, ...], dict[str, tuple[str, ...]]]] = {}
    for put in PUTS:
        _, actions = found.setdefault(put.table, (tuple(name for name, _ in put.key), {}))
        actions[f"{put.table.rpartition('.')[0]}.{put.action}"] = tuple(name for name, _ in put.parameters)
    return found


class BfruntimeReadWriteRpcException(Exception):
    pass


@dataclass(frozen=True)
class Target:
    device_id: int
    pipe_id: int


@dataclass(frozen=True)
class KeyTuple:
    name: str
    value: int | str


class DataTuple:
    def __init__(self, name: str, val: Any = None, **other: Any) -> None:
        allowed = {"str_val", "bool_val", "int_arr_val", "bool_arr_val"}
        if not set(other) <= allowed or (val is None) == (not other):
            raise TypeError(f"{name}: {other}")
        if isinstance(val, (bool, str, list)):
            raise TypeError(f"{name}: {val!r} has a parameter of its own")
        self.name = name
        self.value = val if val is not None else next(iter(other.values()))


@dataclass(frozen=True)
class Key:
    values: tuple[tuple[str, Any], ...]

    def to_dict(self) -> dict[str, dict[str, Any]]:
        return {name: {"value": value} for name, value in self.values}


@dataclass(frozen=True)
class Data:
    values: dict[str, Any]
    action: str | None = None

    def to_dict(self) -> dict[str, Any]:
        return {**self.values, "action_name": self.action, "is_default_entry": False}


@dataclass
class Table:
    name: str
    keys: tuple[str, ...]
    actions: dict[str, tuple[str, ...]]
    log: list[tuple[str, str, int]]
    fixed_size: bool = False  # registers, counters, meters: every entry is there
    rows: dict[Key, Data] = field(default_factory=dict)

    def make_key(self, fields: list[KeyTuple]) -> Key:
        if tuple(f.name for f in fields) != self.keys:
            raise KeyError(f"{self.name} has the key {self.keys}")
        return Key(tuple((f.name, f.value) for f in fields))

    def make_data(self, fields: list[DataTuple], action: str | None = None) -> Data:
        wanted = self.actions[action or ""]
        if sorted(f.name for f in fields) != sorted(wanted):
            raise KeyError(f"{self.name} {action} has the fields {wanted}")
        return Data({f.name: f.value for f in fields}, action)

    def entry_add(self, target: Target, keys: list[Key], data: list[Data]) -> None:
        """Goes on after an error, as the real one does unless told otherwise."""
        self._write("add", keys, data, lambda key: not self.fixed_size and key not in self.rows)

    def entry_mod(self, target: Target, keys: list[Key], data: list[Data]) -> None:
        self._write("mod", keys, data, lambda key: self.fixed_size or key in self.rows)

    def _write(self, what: str, keys: list[Key], data: list[Data], good: Any) -> None:
        assert len(keys) == len(data)
        self.log.append((what, self.name, len(keys)))
        failed = 0
        for key, value in zip(keys, data, strict=True):
            if good(key):
                self.rows[key] = value
            else:
                failed += 1
        if failed:
            raise BfruntimeReadWriteRpcException(f"{what}: {failed} entries")

    def entry_del(self, target: Target, keys: list[Key] | None = None) -> None:
        self.log.append(("del", self.name, len(keys or [])))
        if not keys:
            self.rows.clear()
        for key in keys or []:
            if self.rows.pop(key, None) is None:
                raise BfruntimeReadWriteRpcException("Object not found")

    def entry_get(self, target: Target, keys: list[Key], flags: dict[str, bool]) -> Iterator[tuple[Data, Key]]:
        """In another order than asked for."""
        for key in reversed(keys or list(self.rows)):
            if self.fixed_size:
                yield self.read(key), key
            elif key in self.rows:
                yield self.rows[key], key
            else:
                raise BfruntimeReadWriteRpcException("Object not found")

    def read(self, key: Key) -> Data:
        if self.name in REGISTERS:
            row = self.rows.get(key)
            names = self.actions[""]
            return Data({name: [0, row.values[name] if row else 0] for name in names})  # all is in pipe 1
        return self.rows.get(key, Data({"$COUNTER_SPEC_PKTS": 0, "$COUNTER_SPEC_BYTES": 0}))

    def operations_execute(self, target: Target, operation: str) -> None:
        assert (self.name in COUNTERS, operation) == (True, "Sync")
        self.log.append(("sync", self.name, 0))


@dataclass
class TrafficTable(Table):
    """`stuck`: fields that do not become what is written, by what they have instead."""

    by_pipe: bool = False
    first: dict[str, Any] = field(default_factory=dict)
    stuck: dict[str, Any] = field(default_factory=dict)

    def make_data(self, fields: list[DataTuple], action: str | None = None) -> Data:
        wrong = [f.name for f in fields if f.name not in self.first or f.name in READ_ONLY]
        if wrong or action != ("shared_pool" if self.name.endswith("queue.buffer") else None):
            raise KeyError(f"{self.name} {action} cannot be given {wrong}")
        return Data({f.name: f.value for f in fields}, action)

    def entry_add(self, target: Target, keys: list[Key], data: list[Data]) -> None:
        raise BfruntimeReadWriteRpcException("Not supported")

    def entry_mod(self, target: Target, keys: list[Key], data: list[Data]) -> None:
        self._check(target)
        self.log.append(("mod", self.name, len(keys)))
        for key, value in zip(keys, data, strict=True):
            self.rows[key] = Data({**self._row(key).values, **value.values})

    def entry_get(self, target: Target, keys: list[Key], flags: dict[str, bool]) -> Iterator[tuple[Data, Key]]:
        self._check(target)
        for key in keys:
            yield Data({**self._row(key).values, **self.stuck}), key

    def default_entry_get(self, target: Target, flags: dict[str, bool]) -> Iterator[tuple[Data, None]]:
        assert not self.keys
        self._check(target)
        yield Data({**self._row(Key(())).values, **self.stuck}), None

    def default_entry_set(self, target: Target, data: Data) -> None:
        assert not self.keys
        self.entry_mod(target, [Key(())], [data])

    def _row(self, key: Key) -> Data:
        if self.name.endswith("port.cfg"):
            port = key.values[0][1]
            queues = [8 * (port % 4) + queue for queue in range(8)] * 4
            return Data({"pg_id": port % 128 // 4, "pg_port_nr": port % 4, "egress_qid_queues": queues})
        return self.rows.get(key, Data(self.first))

    def _check(self, target: Target) -> None:
        if self.by_pipe and target.pipe_id >= PIPES:
            raise BfruntimeReadWriteRpcException(f"{self.name} is asked by pipe")


class Switch:
    """The daemon: it forgets all when it restarts; `refuses`: nobody can connect."""

    def __init__(self, program: str, tables: dict[str, tuple[tuple[str, ...], dict[str, tuple[str, ...]]]]) -> None:
        self.program = program
        self.refuses = False
        self.log: list[tuple[str, str, int]] = []
        self._schema = {**FIXED, **tables}
        self.restart()

    def restart(self) -> None:
        self.log.clear()
        self.tables = {
            name: Table(name, keys, actions, self.log, name in ("Ingress.fallback", "tf1.pktgen.port_cfg"))
            for name, (keys, actions) in self._schema.items()
        }
        self.traffic = {
            name: TrafficTable(f"tf1.tm.{name}", keys, {}, self.log, by_pipe=by_pipe, first=first)
            for name, (keys, by_pipe, first) in TRAFFIC.items()
        }
        self.tables.update({table.name: table for table in self.traffic.values()})
        for name, fields in REGISTERS.items():
            data = {"": tuple(f"{name}.{f}" for f in fields)}
            self.tables[name] = Table(name, ("$REGISTER_INDEX",), data, self.log, True)
        for name in COUNTERS:
            self.tables[name] = Table(name, ("$COUNTER_INDEX",), {"": ()}, self.log, True)


def rows(client: Client, table: str) -> dict[tuple[Any, ...], dict[str, Any]]:
    found = client.switch.tables[table].rows
    return {tuple(value for _, value in key.values): data.values for key, data in found.items()}


class Client:
    """Stands for the module."""

    BfruntimeReadWriteRpcException = BfruntimeReadWriteRpcException
    Target, KeyTuple, DataTuple = Target, KeyTuple, DataTuple

    def __init__(self, switch: Switch) -> None:
        self.switch = switch
        self.connections = 0

    def ClientInterface(self, grpc_addr: str, client_id: int, device_id: int) -> Client:
        if self.switch.refuses:
            raise RuntimeError(f"no connection to {grpc_addr}")
        self.connections += 1
        return self

    def bind_pipeline_config(self, p4_name: str) -> None:
        pass

    def bfrt_info_get(self, p4_name: str) -> Client:
        return self

    def p4_name_get(self) -> str:
        return self.switch.program

    def table_get(self, name: str) -> Table:
        if self.switch.refuses:
            raise RuntimeError("the connection is gone")
        return self.switch.tables[name]

    def tear_down_stream(self) -> None:
        self.connections -= 1
