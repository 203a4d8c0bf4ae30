"""From a design to the controller's configuration: everything that the tables of the switch's program follow from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from polysome.backends.controller.verdicts import port_sets
from polysome.backends.nf_cpp.generate import generate
from polysome.backends.system.library import p4_text
from polysome.backends.tofino.program import EGRESS_EVENTS, INGRESS_EVENTS
from polysome.plan.architectures import brought
from polysome.plan.design import Design
from polysome_protocol import Role, text_hash

DEADLINE = 1_000_000_000  # ns for an answer of a part
MISSES = 3  # answers that a part may miss before it counts as down


@dataclass(frozen=True)
class Places:
    """Where a controller finds and keeps things on its machine. `tls`: a folder, with the files that every part has."""

    tls: str
    state: str
    admin: str
    config: str


class Own(ABC):
    """What the controller is told of an architecture: `controller.py` in its folder, with a `CONTROLLER`."""

    @abstractmethod
    def config(self, design: Design) -> dict[str, Any]:
        """More members of the message ControllerConfig, as JSON has it."""


def controller_config(design: Design, places: Places) -> dict[str, Any]:
    """The message ControllerConfig, as JSON has it. Raises Unsupported for sets of ports that do not fit."""
    site, sizes = design.site, design.sizes
    own = brought(design.plan.architecture, "controller")
    return {
        "nf": design.program.name,
        "model": site.switch.name,
        "switch": f"{site.address}:{site.control_port}",
        "program": design.program.name,
        "program_hash": text_hash(p4_text(design)),
        "nf_hash": text_hash(generate(design.program, carry=design.carry)),
        "switch_mac": colons(design.addresses.mac),
        "switch_ip": dots(design.addresses.ip),
        "traffic": _traffic(design),
        "nf_servers": _nf_servers(design),
        "fixed_ports": _fixed_ports(design),
        "queue_pair_bits": sizes.queue_pairs.bit_length() - 1,
        "verdicts": port_sets(design.program),
        "ingress_events": list(INGRESS_EVENTS),
        "egress_events": list(EGRESS_EVENTS),
        "queue_cell": site.switch.cell_bytes,
        "polling": _polling(design),
        "admin": places.admin,
        "listen": site.controller.listen or "",
        "metrics": site.controller.metrics,
        "state": places.state,
        "config": places.config,
        "tls": tls(places.tls, "controller"),
        **({} if own is None else own.config(design)),
    }


def tls(folder: str, name: str) -> dict[str, str]:
    """The message Tls of a part."""
    return {
        "authority": f"{folder}/authority.pem",
        "certificate": f"{folder}/{name}.pem",
        "key": f"{folder}/{name}.key",
        "revoked": f"{folder}/revoked.pem",
    }


def colons(mac: int) -> str:
    """A MAC address as people write it."""
    return mac.to_bytes(6, "big").hex(":")


def dots(ip: int) -> str:
    """An IPv4 address as people write it."""
    return ".".join(str(byte) for byte in ip.to_bytes(4, "big"))


def _traffic(design: Design) -> list[dict[str, Any]]:
    site = design.site
    return [
        {"name": name, "ports": list(ports), "rate": site.traffic_rate, "queue_bytes": design.plan.queues.limit.value}
        for name, ports in zip(design.program.ports, site.traffic, strict=True)
    ]


def _nf_servers(design: Design) -> list[dict[str, Any]]:
    site = design.site
    return [
        {
            "name": server.name,
            "address": f"{server.address}:{server.control_port}",
            "port": server.port,
            "rate": site.rate_to(server),
            "queue_bytes": design.plan.queues.limit.value,
        }
        for server in site.nf_servers
    ]


def _fixed_ports(design: Design) -> list[dict[str, Any]]:
    site, chip, limit = design.site, design.site.switch, design.plan.queues.limit.value
    around = {
        "port": design.addresses.recirculation_port,
        "rate": chip.port_rate_bps,
        "queue_bytes": limit,
        "role": Role.recirculation,
        "loopback": True,
        "loop_time": chip.recirculation_ns,
    }
    if site.generator_port == around["port"]:
        return [around]
    generator = {"port": site.generator_port, "queue_bytes": limit, "role": Role.generator}
    return [around, generator]


def _polling(design: Design) -> dict[str, int]:
    controller = design.site.controller
    return {
        "queue_pairs": controller.queue_pair_poll,
        "load": controller.poll,
        "health": controller.health,
        "probes": controller.probe,
        "deadline": DEADLINE,
        "misses": MISSES,
    }
