"""What the controller does to bring a system up, as C++: its own tables, for fuzzers that run without Python."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from polysome.backends.nf_cpp.config_blob import encode
from polysome.backends.system.abi import Running, load
from polysome.backends.system.configure import Run, configure
from polysome.backends.system.library import build
from polysome.backends.system.structs import Port
from polysome.engines.system.control.controller import SimulatedController, fixed_of
from polysome.engines.system.control.switch import BOOT, SimulatedSwitch
from polysome.plan.design import Design
from polysome.testing.spec import Spec
from polysome_controller import control_pb2 as pb
from polysome_controller.context import Fixed

READ_ONLY = ("registers", "counters", "port", "state", "watch")
PLAIN_PORT, PLAIN_MAC = 50, "02:00:00:00:66:66"


class Recorded:
    """Calls that change something, one C++ statement each."""

    def __init__(self, calls: Any, statements: list[str]) -> None:
        self._calls, self._statements = calls, statements

    def __getattr__(self, name: str) -> Callable[..., Any]:
        call = getattr(self._calls, name)

        def recorded(*arguments: Any) -> Any:
            found = call(*arguments)
            if name not in READ_ONLY:
                given = [*arguments, *(found if name == "reset" else ())]
                self._statements.append(f"to.{name}({', '.join(map(literal, given))});")
            return found

        return recorded


def literal(value: Any) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Port):
        members = (getattr(value, name) for name, *_ in value._fields_)
        return f"polysome_port{{{', '.join(f'{member}u' for member in members)}}}"
    if isinstance(value, (list, tuple)):
        return "{" + ", ".join(map(literal, value)) + "}"
    return f"{value}u"


def set_up(spec: Spec, design: Design, run: Run) -> list[str]:
    """All that the controller does before the first packet; and a station at a port without a role (PLAIN_PORT)."""
    statements: list[str] = []
    library = load(build(design, counted=True))
    with Running(library, configure(design, run), encode(spec.program, spec.config or {})) as running:
        switch = Recorded(running.switch, statements)
        running.switch, running.agents = switch, Recorded(running.agents, statements)  # type: ignore[assignment]
        with SimulatedController(design, running, run):
            _add_station(design, run, switch)
    return statements


def _add_station(design: Design, run: Run, switch: Any) -> None:
    before = fixed_of(design, run.deep, False)
    config = pb.ControllerConfig()
    config.CopyFrom(before.config)
    config.stations.add(mac=PLAIN_MAC, port=PLAIN_PORT)
    known, wanted = (fixed.tables.everything(0, (), 0, 0) for fixed in (before, Fixed.of(config)))
    switch.set_port(Port(port=PLAIN_PORT, queue_bytes=1 << 20))
    driver = SimulatedSwitch(switch, design.site.switch.cell_bytes)
    asyncio.run(driver.write(BOOT, [update for update in wanted if update not in known]))


def as_cpp(statements: list[str]) -> list[str]:
    return ["template <class To>", "void set_up(To& to) {", *(f"    {line}" for line in statements), "}"]
