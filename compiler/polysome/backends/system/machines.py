"""What an architecture adds to a simulated system: `simulated.py` in its folder, with a `SIMULATED`."""

from __future__ import annotations

from typing import Any

from polysome.backends.system import structs
from polysome.backends.system.calls import AgentCalls
from polysome.plan.architectures import brought
from polysome.plan.design import Design


class Machines:
    """Beside switch and NF, this one adds nothing."""

    def servers(self, design: Design) -> list[structs.Server]:
        """As the system's library takes them."""
        return []

    def peers(self, design: Design, calls: AgentCalls, config: Any) -> dict[tuple[str, str], Any]:
        """Their parts, by service and name, as peers of a controller with this ControllerConfig."""
        return {}


def machines_of(architecture: str) -> Machines:
    """Those that an architecture adds."""
    found = brought(architecture, "simulated") or Machines()
    assert isinstance(found, Machines)
    return found
