"""The traffic manager of a Tofino by the SDE's Python client.

Names and forms of `tf1.tm.*`, `tf2.tm.*` and `$PORT` are those of the schemas that p4lang/open-p4studio publishes
(pkgsrc/bf-drivers/src/bf_rt: bf_rt_tm_tf1.json, bf_rt_tm_tf2.json, bf_rt_port_tf1.json); the SDE has them from 9.5
on. What they say: a queue is known by its port's group and its number there, `egress_qid_queues` of `tm.port.cfg`;
tables of queues are asked by pipe; all entries are there, and only modified. What is left as it is: the limits of ports
at ingress, by which a chip may drop a frame before its queue is full, but lets none wait longer. No hardware has met
any of this.

The SDE's own settings (the same sources, src/traffic_mgr/init/tm_tofino_default.c) would not do: queues share a pool of
some 30 000 cells and take up to 80 % of what is free there, all have the same priority, so that no frame overtakes
another, and all copies of a pipe's mirror, which every frame of fields is, share 200 cells.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from polysome_controller.driver import PortTraffic, QueueTraffic, SetBuffer, Traffic
from polysome_controller.errors import Refused
from polysome_protocol import QUEUES

POOL = "EG_APP_POOL_1"  # of these queues alone: all others are in the SDE's, EG_APP_POOL_0
MIRROR_POOL = "IG_APP_POOL_1"
STATIC = "DISABLE"  # no share of what others leave free
LOW, HIGH = 0, 7  # priorities
NAMED = {"LOW": LOW, "HIGH": HIGH}
PAUSE = {  # data of `$PORT`, and how it is told
    "$RX_PAUSE_FRAME_EN": "PAUSE frames stop it",
    "$TX_PAUSE_FRAME_EN": "it sends PAUSE frames",
    "$RX_PFC_EN_MAP": "PFC frames stop it",
    "$TX_PFC_EN_MAP": "it sends PFC frames",
}


def pause_off(client: Any) -> list[Any]:
    """Data of `$PORT`: neither side may stop the other."""
    return [
        *(client.DataTuple(name, bool_val=False) for name in PAUSE if name.endswith("_FRAME_EN")),
        *(client.DataTuple(name, 0) for name in PAUSE if name.endswith("_MAP")),
    ]


class BfRtTraffic:
    """Refused if the SDE lacks a table."""

    def __init__(self, client: Any, info: Any, family: str, pipe: int, all_pipes: int) -> None:
        self._client, self._info, self._family = client, info, family
        self._device = client.Target(device_id=0, pipe_id=all_pipes)
        self._pipe = client.Target(device_id=0, pipe_id=pipe)
        self._cell = 0  # bytes; 0: not asked yet

    # ---------------------------------------------------------------- writing

    def set_buffer(self, buffer: SetBuffer) -> None:
        """The mirror's copies count at ingress as those of a port of its own."""
        tuple_, cell = self._client.DataTuple, self._cell_size()
        for pool, size in ((POOL, buffer.bytes), (MIRROR_POOL, buffer.mirrored)):
            self._modify("pool.cfg", self._device, {"pool": pool}, [tuple_("size_cells", size // cell)])
        data = [
            tuple_("pool_id", str_val=MIRROR_POOL),
            tuple_("pool_max_cells", buffer.mirrored // cell),
            tuple_("dynamic_baf", str_val=STATIC),
        ]
        table = self._table("mirror.dpg")
        table.default_entry_set(self._pipe, table.make_data(data))

    def set_port(self, port: int, limit: int, first: int) -> None:
        """Unshaped and without pause; limits in bytes, 0: as it is."""
        tuple_ = self._client.DataTuple
        self._modify("port.sched_cfg", self._device, {"dev_port": port}, [tuple_("max_rate_enable", bool_val=False)])
        self._modify("port.flowcontrol", self._device, {"dev_port": port}, [tuple_("mode_tx", str_val="NONE")])
        for queue, most, priority in ((QUEUES.all, limit, LOW), (QUEUES.first, first, HIGH)):
            if most:
                self._set_queue(self._place(port, queue), most, priority)

    def hold(self, port: int, on: bool) -> None:
        """The queue of all frames is not served, or is again."""
        data = [self._client.DataTuple("scheduling_enable", bool_val=not on)]
        self._modify("queue.sched_cfg", self._pipe, self._place(port, QUEUES.all), data)

    def _set_queue(self, place: dict[str, int], limit: int, priority: int) -> None:
        """Its priority counts where it gets what bandwidth is left (`max`), as there is no guaranteed rate (`min`)."""
        tuple_ = self._client.DataTuple
        data = [
            tuple_("guaranteed_cells", 0),
            tuple_("tail_drop_enable", bool_val=True),
            tuple_("pool_id", str_val=POOL),
            tuple_("pool_max_cells", limit // self._cell_size()),
            tuple_("dynamic_baf", str_val=STATIC),
        ]
        self._modify("queue.buffer", self._pipe, place, data, "shared_pool")
        data = [
            tuple_("min_rate_enable", bool_val=False),
            tuple_("min_priority", str_val=str(priority)),
            tuple_("max_rate_enable", bool_val=False),
            tuple_("max_priority", str_val=str(priority)),
            tuple_("scheduling_enable", bool_val=True),
        ]
        self._modify("queue.sched_cfg", self._pipe, place, data)

    # ---------------------------------------------------------------- reading

    def read(self, ports: Sequence[int], front: Sequence[int], speeds: dict[str, int]) -> Traffic:
        """`front`: those of `ports` that are the port manager's; `speeds`: bit/s by its name."""
        pool, mirror_pool = (
            int(self._get("pool.cfg", self._device, {"pool": name})["size_cells"]) for name in (POOL, MIRROR_POOL)
        )
        mirror = self._default("mirror.dpg", self._pipe)
        mirrored = min(mirror_pool, int(mirror["pool_max_cells"])) if mirror["pool_id"] == MIRROR_POOL else 0
        buffer = SetBuffer(pool * self._cell_size(), mirrored * self._cell_size())
        found = []
        for port in ports:
            state = self._state(port) if port in front else {}
            found.append(self._port(port, state, speeds.get(state.get("$SPEED", ""))))
        return Traffic(self._cell_size(), buffer, tuple(found))

    def _port(self, port: int, state: dict[str, Any], rate: int | None) -> PortTraffic:
        held_up, queues, nodes = list(self._pauses(port, state)), {}, set()
        if self._get("port.sched_cfg", self._device, {"dev_port": port})["max_rate_enable"]:
            held_up.append("the port is shaped")
        for queue in (QUEUES.all, QUEUES.first):
            place = self._place(port, queue)
            schedule = self._get("queue.sched_cfg", self._pipe, place)
            queues[queue] = QueueTraffic(self._limit(place), _priority(schedule["max_priority"]))
            nodes.add(schedule.get("pg_l1_node"))  # of Tofino 2: priorities are among the queues of one
            if schedule["max_rate_enable"]:
                held_up.append(f"queue {queue} is shaped")
            if schedule["min_rate_enable"]:
                held_up.append(f"queue {queue} has a guaranteed rate")
            if not schedule["scheduling_enable"]:
                held_up.append(f"queue {queue} is not served")
        if len(nodes) > 1:
            held_up.append("its queues are not scheduled together")
        return PortTraffic(port, rate, tuple(held_up), queues)

    def _pauses(self, port: int, state: dict[str, Any]) -> Iterator[str]:
        flow = self._get("port.flowcontrol", self._device, {"dev_port": port})
        for way, words in (("mode_rx", "stops it"), ("mode_tx", "is sent")):
            if flow[way] != "NONE":
                yield f"{flow[way]} {words}"
        yield from (words for name, words in PAUSE.items() if state.get(name))

    def _state(self, port: int) -> dict[str, Any]:
        return self._entry(self._info.table_get("$PORT"), self._device, {"$DEV_PORT": port}, False)

    def _limit(self, place: dict[str, int]) -> int | None:
        """None if the queue may take more than its own, or what is too much for it is kept."""
        buffer = self._get("queue.buffer", self._pipe, place)
        if not buffer["tail_drop_enable"] or buffer["dynamic_baf"] != STATIC:
            return None
        return (int(buffer["guaranteed_cells"]) + int(buffer["pool_max_cells"])) * self._cell_size()

    # ---------------------------------------------------------------- the client's forms

    def _cell_size(self) -> int:
        if not self._cell:
            self._cell = int(self._default("cfg", self._device)["cell_size_bytes"])
        return self._cell

    def _place(self, port: int, queue: int) -> dict[str, int]:
        """The key of a queue, which the program knows by its number at the port."""
        found = self._get("port.cfg", self._device, {"dev_port": port})
        queues = found["egress_qid_queues"]
        if queue >= len(queues):
            raise Refused(f"its traffic manager: port {port}: queue {queue} is wanted, and it has {len(queues)} queues")
        return {"pg_id": int(found["pg_id"]), "pg_queue": int(queues[queue])}

    def _table(self, name: str) -> Any:
        """As an SDE of before 9.5 has none, and a program for another chip none of this family."""
        whole = f"{self._family}.tm.{name}"
        try:
            return self._info.table_get(whole)
        except KeyError as error:
            raise Refused(f"its SDE has no table `{whole}`, by which queues are set: 9.5 or newer is needed") from error

    def _default(self, name: str, target: Any) -> dict[str, Any]:
        """Of a table that has no key."""
        found: dict[str, Any] = next(iter(self._table(name).default_entry_get(target, {"from_hw": True})))[0].to_dict()
        return found

    def _get(self, name: str, target: Any, key: dict[str, Any]) -> dict[str, Any]:
        return self._entry(self._table(name), target, key, True)

    def _entry(self, table: Any, target: Any, key: dict[str, Any], from_hw: bool) -> dict[str, Any]:
        entries = table.entry_get(target, [self._key(table, key)], {"from_hw": from_hw})
        found: dict[str, Any] = next(iter(entries))[0].to_dict()
        return found

    def _modify(self, name: str, target: Any, key: dict[str, Any], data: list[Any], action: str | None = None) -> None:
        table = self._table(name)
        table.entry_mod(target, [self._key(table, key)], [table.make_data(data, action)])

    def _key(self, table: Any, key: dict[str, Any]) -> Any:
        return table.make_key([self._client.KeyTuple(name, value) for name, value in key.items()])


def _priority(text: str) -> int:
    """Of "LOW", "0" to "7", "HIGH"."""
    return NAMED[text] if text in NAMED else int(text)
