"""The switch's tables by the SDE's Python client, `bfrt_grpc.client`; its calls block.

Names of fixed tables and their fields are those of bf-sde 9.x: `$PORT`, `$PORT_STAT`, `$mirror.cfg`, `$pre.node`,
`$pre.mgid`, `tf1.pktgen.*`; those of the traffic manager are in bfrt_traffic.py. Every call is its own request, so a
list of updates is done in order, not at once; what must not be seen half done is ordered so by the controller (a queue
pair goes down first and comes up last).
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from polysome_controller.bfrt_traffic import BfRtTraffic, pause_off
from polysome_controller.driver import (
    Clear,
    Counts,
    Named,
    PortCount,
    Put,
    Remove,
    SetBuffer,
    SetGenerator,
    SetGroup,
    SetHold,
    SetMeter,
    SetMirror,
    SetPort,
    SetRegister,
    Traffic,
    Update,
)
from polysome_protocol import Role

ALL_PIPES = 0xFFFF
PORTS_PER_PIPE_BITS = 7
PORT_METADATA = "IngressParser.$PORT_METADATA"
GENERATED_BYTES = 58  # with the six bytes that the packet generator puts before them, a frame of 64
GENERATOR_BUFFER = 144  # where the packet lies in the generator's memory; a multiple of 16
GENERATOR_APPLICATION = 0
GIGABIT = 1_000_000_000
FRESH = 0.05  # seconds for which a counter's values are good: many reads follow each other
# By rate in Gbit/s: the port manager's name of the speed, and the error correction that such ports have.
SPEEDS = {
    10: ("BF_SPEED_10G", "BF_FEC_TYP_NONE"),
    25: ("BF_SPEED_25G", "BF_FEC_TYP_REED_SOLOMON"),
    40: ("BF_SPEED_40G", "BF_FEC_TYP_NONE"),
    50: ("BF_SPEED_50G", "BF_FEC_TYP_REED_SOLOMON"),
    100: ("BF_SPEED_100G", "BF_FEC_TYP_REED_SOLOMON"),
    200: ("BF_SPEED_200G", "BF_FEC_TYP_REED_SOLOMON"),
    400: ("BF_SPEED_400G", "BF_FEC_TYP_REED_SOLOMON"),
}


class BfRtTables:
    """`client`: the module; `info`: the program's, of bfrt_info_get; `family`: "tf1" or "tf2"."""

    def __init__(self, client: Any, info: Any, family: str, pipe: int) -> None:
        self._client = client
        self._info = info
        self._family = family
        self._pipe = pipe
        self._target = client.Target(device_id=0, pipe_id=ALL_PIPES)
        self._traffic = BfRtTraffic(client, info, family, pipe, ALL_PIPES)
        self._synced: dict[str, float] = {}  # when the driver fetched a counter's values from the chip last

    # ---------------------------------------------------------------- writing

    def write(self, updates: Sequence[Update]) -> None:
        """In order; neighbours of one table go in one request."""
        for (kind, _), group in groupby(updates, key=_kind):
            alike = list(group)
            if kind is Put:
                self._put([u for u in alike if isinstance(u, Put)])
            elif kind is SetRegister:
                self._set_registers([u for u in alike if isinstance(u, SetRegister)])
            else:
                for update in alike:
                    self._do(update)

    def _do(self, update: Update) -> None:
        if isinstance(update, Remove):
            self._remove(update)
        elif isinstance(update, Clear):
            self._table(update.table).entry_del(self._target)
        elif isinstance(update, SetMeter):
            self._set_meter(update)
        elif isinstance(update, SetMirror):
            self._set_mirror(update)
        elif isinstance(update, SetGroup):
            self._set_group(update)
        elif isinstance(update, SetPort):
            self._set_port(update)
        elif isinstance(update, SetHold):
            self._traffic.hold(update.port, update.on)
        elif isinstance(update, SetBuffer):
            self._traffic.set_buffer(update)
        elif isinstance(update, SetGenerator):
            self._set_generator(update)

    def _put(self, puts: list[Put]) -> None:
        """Adds them at once if none is there yet, else one by one."""
        table = self._table(puts[0].table)
        control = puts[0].table.rpartition(".")[0]
        keys = [self._key(table, put.key) for put in puts]
        data = [self._data(table, put.parameters, f"{control}.{put.action}") for put in puts]
        self._add_or_modify(table, keys, data)

    def _add_or_modify(self, table: Any, keys: list[Any], data: list[Any]) -> None:
        """The request goes on after an entry that is there already, so only those that are need a second one."""
        try:
            table.entry_add(self._target, keys, data)
        except self._client.BfruntimeReadWriteRpcException:
            table.entry_mod(self._target, keys, data)

    def _remove(self, update: Remove) -> None:
        table = self._table(update.table)
        try:
            table.entry_del(self._target, [self._key(table, update.key)])
        except self._client.BfruntimeReadWriteRpcException:
            # It may not have been there, which is as well; anything else is an error.
            if self._there(table, update.key):
                raise

    def _there(self, table: Any, key: Named) -> bool:
        try:
            return bool(list(table.entry_get(self._target, [self._key(table, key)], {"from_hw": False})))
        except self._client.BfruntimeReadWriteRpcException:
            return False

    def _set_registers(self, cells: list[SetRegister]) -> None:
        """Both fields of a pair in one entry: the client writes whole entries."""
        table, keys, data = self._table(cells[0].register), [], []
        for index, group in groupby(cells, key=lambda cell: cell.index):
            fields = tuple((f"{cell.register}.{cell.field or 'f1'}", cell.value) for cell in group)
            keys.append(self._key(table, (("$REGISTER_INDEX", index),)))
            data.append(self._data(table, fields))
        table.entry_mod(self._target, keys, data)

    def _set_meter(self, meter: SetMeter) -> None:
        """The client counts kbit/s and kbit."""
        table = self._table(meter.name)
        rate, burst = max(1, meter.rate // 1000), max(1, 8 * meter.burst // 1000)
        fields = (
            *(("$METER_SPEC_CIR_KBPS", rate), ("$METER_SPEC_PIR_KBPS", rate)),
            *(("$METER_SPEC_CBS_KBITS", burst), ("$METER_SPEC_PBS_KBITS", burst)),
        )
        key = self._key(table, (("$METER_INDEX", meter.index),))
        table.entry_mod(self._target, [key], [self._data(table, fields)])

    def _set_mirror(self, mirror: SetMirror) -> None:
        table, tuple_ = self._table("$mirror.cfg"), self._client.DataTuple
        fields = [
            tuple_("$direction", str_val="INGRESS"),
            tuple_("$session_enable", bool_val=True),
            tuple_("$ucast_egress_port", mirror.port),
            tuple_("$ucast_egress_port_valid", bool_val=True),
            tuple_("$max_pkt_len", mirror.max_length),
        ]
        key = self._key(table, (("$sid", mirror.session),))
        self._add_or_modify(table, [key], [table.make_data(fields, "$normal")])

    def _set_group(self, group: SetGroup) -> None:
        """One node of the replication tree for all ports of the group, with the group's number."""
        node, tuple_ = self._table("$pre.node"), self._client.DataTuple
        fields = [
            tuple_("$MULTICAST_RID", 0),
            tuple_("$MULTICAST_LAG_ID", int_arr_val=[]),
            tuple_("$DEV_PORT", int_arr_val=list(group.ports)),
        ]
        key = self._key(node, (("$MULTICAST_NODE_ID", group.group),))
        self._add_or_modify(node, [key], [node.make_data(fields)])
        tree = self._table("$pre.mgid")
        fields = [
            tuple_("$MULTICAST_NODE_ID", int_arr_val=[group.group]),
            tuple_("$MULTICAST_NODE_L1_XID_VALID", bool_arr_val=[False]),
            tuple_("$MULTICAST_NODE_L1_XID", int_arr_val=[0]),
        ]
        key = self._key(tree, (("$MGID", group.group),))
        self._add_or_modify(tree, [key], [tree.make_data(fields)])

    def _set_port(self, port: SetPort) -> None:
        """Its role, its queues if they have limits, and for ports of the front panel speed and error correction."""
        table = self._table(PORT_METADATA)
        key = self._key(table, (("ig_intr_md.ingress_port", port.port),))
        fields = (("role", port.role), ("index", port.index), ("unused", 0), ("unused2", 0))
        self._add_or_modify(table, [key], [self._data(table, fields)])
        if port.role in (Role.traffic, Role.nf, Role.server):
            self._set_front(port)
        if port.queue_bytes:
            self._traffic.set_port(port.port, port.queue_bytes, port.first_queue_bytes)

    def _set_front(self, port: SetPort) -> None:
        if port.rate // GIGABIT not in SPEEDS:
            known = ", ".join(str(speed) for speed in SPEEDS)
            raise ValueError(f"port {port.port}: {port.rate} bit/s is no speed of a port; Gbit/s may be {known}")
        speed, correction = SPEEDS[port.rate // GIGABIT]
        table, tuple_ = self._table("$PORT"), self._client.DataTuple
        data = [
            tuple_("$SPEED", str_val=speed),
            tuple_("$FEC", str_val=correction),
            tuple_("$PORT_ENABLE", bool_val=True),
            *pause_off(self._client),
        ]
        self._add_or_modify(table, [self._key(table, (("$DEV_PORT", port.port),))], [table.make_data(data)])

    def _set_generator(self, generator: SetGenerator) -> None:
        """A timer that makes one batch of `count` packets, numbered from 0."""
        tuple_ = self._client.DataTuple
        port = self._table(f"{self._family}.pktgen.port_cfg")
        enable = port.make_data([tuple_("pktgen_enable", bool_val=True)])
        self._add_or_modify(port, [self._key(port, (("dev_port", generator.port),))], [enable])
        buffer = self._table(f"{self._family}.pktgen.pkt_buffer")
        place = (("pkt_buffer_offset", GENERATOR_BUFFER), ("pkt_buffer_size", GENERATED_BYTES))
        packet = buffer.make_data([tuple_("buffer", bytearray(GENERATED_BYTES))])
        self._add_or_modify(buffer, [self._key(buffer, place)], [packet])
        application = self._table(f"{self._family}.pktgen.app_cfg")
        numbers = {
            **{"timer_nanosec": generator.period, "pkt_len": GENERATED_BYTES, "pkt_buffer_offset": GENERATOR_BUFFER},
            **{"pipe_local_source_port": generator.port & ((1 << PORTS_PER_PIPE_BITS) - 1)},
            **{"batch_count_cfg": 0, "packets_per_batch_cfg": generator.count - 1},
            **{"ibg": 0, "ibg_jitter": 0, "ipg": 0, "ipg_jitter": 0},
            **{"batch_counter": 0, "pkt_counter": 0, "trigger_counter": 0},
        }
        data = [tuple_(name, value) for name, value in numbers.items()]
        data.append(tuple_("app_enable", bool_val=generator.period > 0))
        data.append(tuple_("increment_source_port", bool_val=False))
        if self._family == "tf2":
            data.append(tuple_("assigned_chnl_id", generator.port & ((1 << PORTS_PER_PIPE_BITS) - 1)))
            data.append(tuple_("source_port_wrap_max", 0))
            data.append(tuple_("offset_len_from_recir_pkt_enable", bool_val=False))
        key = self._key(application, (("app_id", GENERATOR_APPLICATION),))
        self._add_or_modify(application, [key], [application.make_data(data, "trigger_timer_periodic")])

    # ---------------------------------------------------------------- reading

    def keys(self, name: str, field: str) -> list[int]:
        """One key field of all entries of a table."""
        entries = self._table(name).entry_get(self._target, [], {"from_hw": False})
        return [int(key.to_dict()[field]["value"]) for _, key in entries]

    def registers(self, name: str, first: int, count: int) -> tuple[int, ...]:
        """A register exists in each pipe; all ports are in one."""
        values = []
        for data in self._read(name, "$REGISTER_INDEX", first, count):
            found = data[f"{name}.f1"]
            values.append(int(found[self._pipe] if len(found) > self._pipe else found[0]))
        return tuple(values)

    def counters(self, name: str, first: int, count: int) -> Counts:
        now = time.monotonic()
        if now >= self._synced.get(name, 0.0) + FRESH:
            self._table(name).operations_execute(self._target, "Sync")
            self._synced[name] = now
        found = self._read(name, "$COUNTER_INDEX", first, count, from_hw=False)
        packets = tuple(int(data["$COUNTER_SPEC_PKTS"]) for data in found)
        return Counts(packets, tuple(int(data.get("$COUNTER_SPEC_BYTES", 0)) for data in found))

    def port(self, port: int) -> PortCount:
        state = next(iter(self._read("$PORT", "$DEV_PORT", port, 1, from_hw=False)))
        count = next(iter(self._read("$PORT_STAT", "$DEV_PORT", port, 1)))
        return PortCount(
            port=port,
            up=bool(state["$PORT_UP"]),
            frames_in=int(count["$FramesReceivedAll"]),
            bytes_in=int(count["$OctetsReceived"]),
            frames_out=int(count["$FramesTransmittedAll"]),
            bytes_out=int(count["$OctetsTransmittedTotal"]),
            dropped=int(count["$FramesDroppedBufferFull"]),
        )

    def read_traffic(self, ports: Sequence[int], front: Sequence[int]) -> Traffic:
        return self._traffic.read(ports, front, {name: gigabits * GIGABIT for gigabits, (name, _) in SPEEDS.items()})

    def _read(self, name: str, field: str, first: int, count: int, from_hw: bool = True) -> list[dict[str, Any]]:
        """Entries by number, in order of their numbers, whichever the answer's order is."""
        table = self._table(name)
        keys = [self._key(table, ((field, index),)) for index in range(first, first + count)]
        found = {
            int(key.to_dict()[field]["value"]): data.to_dict()
            for data, key in table.entry_get(self._target, keys, {"from_hw": from_hw})
        }
        return [found[index] for index in range(first, first + count)]

    # ---------------------------------------------------------------- the client's forms

    def _table(self, name: str) -> Any:
        return self._info.table_get(name)

    def _key(self, table: Any, key: Named) -> Any:
        return table.make_key([self._client.KeyTuple(name, value) for name, value in key])

    def _data(self, table: Any, fields: Iterable[tuple[str, int]], action: str | None = None) -> Any:
        return table.make_data([self._client.DataTuple(name, value) for name, value in fields], action)


def _kind(update: Update) -> tuple[type, str]:
    """Updates that may go in one request have the same."""
    if isinstance(update, Put):
        return Put, update.table
    if isinstance(update, SetRegister):
        return SetRegister, update.register
    return type(update), ""
