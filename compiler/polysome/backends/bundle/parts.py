"""The parts of a bundle: its machines, and what an architecture adds to those that all have.

An architecture with machines of its own has a module `bundle.py` in its folder, with a `BUNDLE`.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from polysome.plan.architectures import brought
from polysome.plan.design import Design

USER = "polysome"  # whom programs become that need root only at their start


@dataclass(frozen=True)
class Places:
    """Folders of a deployment on every machine, by the NF's name."""

    nf: str

    @property
    def programs(self) -> str:
        return f"/opt/polysome/{self.nf}"

    @property
    def configuration(self) -> str:
        return f"/etc/polysome/{self.nf}"

    @property
    def tls(self) -> str:
        return f"{self.configuration}/tls"

    @property
    def state(self) -> str:
        return f"/var/lib/polysome/{self.nf}"

    @property
    def run(self) -> str:
        return f"/run/polysome/{self.nf}"


@dataclass(frozen=True)
class Machine:
    """`role`: "switch", "nf", or an architecture's. `variables`: what the preflight checks and install.sh need to know
    of it.
    """

    name: str
    role: str
    address: str
    variables: Mapping[str, str]

    @property
    def text(self) -> bytes:
        """Assignments that a shell reads."""
        return "".join(f"{name}={shlex.quote(value)}\n" for name, value in self.variables.items()).encode()


def variables_of(address: str | None, port: int, name: str, unit: str) -> dict[str, str]:
    return {"ADDRESS": str(address), "LISTEN": str(port), "CERTIFICATES": name, "UNIT": unit, "UNITS": unit}


@dataclass(frozen=True)
class Role:
    """Machines of an architecture's own. `title`: what each is; `restarted`: what a restart of one costs.

    By path in the bundle: `folder`, of each machine's configuration, `NAME.json`; `program`: what theirs is built from;
    `unit`: systemd's. `about`: what the folder holds.
    """

    title: str
    restarted: str
    folder: str
    program: tuple[str, ...]
    unit: str
    about: str


@dataclass(frozen=True)
class Row:
    """A machine in a report: what stands in its last column is `what`."""

    name: str
    title: str
    address: str
    port: int
    device: str
    what: str


class Parts:
    """What an architecture adds to a bundle; this one adds nothing."""

    roles: ClassVar[Mapping[str, Role]] = {}

    def machines(self, design: Design) -> tuple[Machine, ...]:
        """In the order in which they are started."""
        return ()

    def mtus(self, design: Design) -> dict[int, int]:
        """The least MTU of the link at each of their ports of the switch."""
        return {}

    def by_cpu_port(self, design: Design) -> dict[str, str] | None:
        """Variables of the switch's machine, if the controller sends frames through the switch; None if it does not."""
        return None

    def requires(self, design: Design) -> dict[str, str]:
        """What no part of the bundle can bring."""
        return {}

    def files(self, design: Design, values: dict[str, Any]) -> dict[str, bytes]:
        """By path."""
        return {}

    def rows(self, design: Design) -> Iterable[Row]:
        """Their machines in a report."""
        return ()

    def cards(self, design: Design) -> Iterable[tuple[str, str]]:
        """Numbers that a report shows at its top, each with what it is."""
        return ()


def parts_of(architecture: str) -> Parts:
    """Those that an architecture adds."""
    found = brought(architecture, "bundle") or Parts()
    assert isinstance(found, Parts)
    return found
