"""A bundle's files: of switch, NF servers and what an architecture adds, how they are deployed, what was planned."""

from __future__ import annotations

import base64
import dataclasses
import json
from typing import Any

from polysome.backends.bundle import soft_switch
from polysome.backends.bundle.files import as_json, filled, fixed, python, runtime
from polysome.backends.bundle.inputs import Inputs, library_digests
from polysome.backends.bundle.machines import machines, nf_host, switch_interface
from polysome.backends.bundle.parts import USER, Machine, Places, parts_of
from polysome.backends.bundle.report import report_values
from polysome.backends.controller.config import Places as ControllerPlaces
from polysome.backends.controller.config import controller_config, tls
from polysome.backends.folder import contents as nf_contents
from polysome.backends.nf_cpp.carry_code import state_layout
from polysome.backends.nf_cpp.generate import namespace
from polysome.plan.design import Design
from polysome.plan.site import CPU_INTERFACE, NfServer

RUNTIME = ("nf", "host", "switch", "rdma", "control", "protocol")
CONFIG_TEXT = "nf/config.json"  # what config.bin holds, for people and `polysome diff`
DEPLOY = (
    *("certificates.sh", "install-machine.sh", "playbook.yml", "request.sh", "rolling-update.yml"),
    *(f"tasks/{name}.yml" for name in ("certificates", "clean", "install", "pack", "start")),
    *(
        f"preflight/{name}.sh"
        for name in ("build", "common", "memory", "network", "ports", "python", "rdma", "sde", "tls")
    ),
)


def contents(inputs: Inputs) -> dict[str, bytes]:
    """The files by path in the bundle: a function of the inputs and of the installed Polysome, nothing else.

    Raises Unsupported for an NF that has no C++ or no verdict table; SpecError if its P4 is outside the subset.
    """
    design = inputs.design
    values = _values(design)
    files = {f"source/{path}": data for path, data in inputs.sources.items()}
    files |= runtime(*RUNTIME)
    files |= _switch(design, values)
    files |= parts_of(design.plan.architecture).files(design, values)
    files |= _nf(design, inputs, values)
    files |= _deploy(design, values)
    files["plan.json"] = (json.dumps(dataclasses.asdict(design.plan), indent=2) + "\n").encode()
    files["report.html"] = filled("report.html", values | report_values(inputs))
    files["README.md"] = filled("README.md", values)
    return dict(sorted(files.items()))


def about(inputs: Inputs, version: str) -> dict[str, Any]:
    """What the manifest says beside the files' hashes."""
    design = inputs.design
    return {
        "kind": "bundle",
        "nf": design.program.name,
        "polysome": version,
        "architecture": design.plan.architecture,
        "switch": design.site.switch.name,
        "machines": {machine.name: machine.role for machine in machines(design)},
        "library": library_digests(design.program),
        "state": state_layout(design.program),
        "proof": inputs.proof,
        "requires": parts_of(design.plan.architecture).requires(design),
        **inputs.about,
    }


def _values(design: Design) -> dict[str, Any]:
    """What templates know."""
    chip, own = design.site.switch.name, parts_of(design.plan.architecture)
    return {
        "nf": design.program.name,
        "program": namespace(design.program),
        "ports": design.program.ports,
        "places": Places(design.program.name),
        "user": USER,
        "soft": design.site.soft,
        "switch_model": chip,
        "chip": "tofino2" if design.site.switch.architecture == "t2na" else "tofino",
        "architecture": design.site.switch.architecture,
        "site": design.site,
        "proves": own.by_cpu_port(design) is not None,
        "roles": own.roles,
        "cpu": design.site.cpu_interface or CPU_INTERFACE,
        "p4": f"{namespace(design.program)}.p4",
        "machines": machines(design),
        "queues": design.plan.queues,
        "nf_hosts": sorted({nf_host(server) for server in design.site.nf_servers}),
    }


def _switch(design: Design, values: dict[str, Any]) -> dict[str, bytes]:
    places: Places = values["places"]
    own = ControllerPlaces(
        tls=places.tls,
        state=places.state,
        admin=f"{places.run}/controller.sock",
        config=f"{places.configuration}/config.bin",
    )
    files = soft_switch.emit(design)
    files["switch/controller.json"] = as_json(controller_config(design, own))
    files["switch/soft.json"] = as_json(_soft_config(design, places))
    for name in ("build-sde.sh", "build-p4c.sh", "polysome-controller.service", "polysome-switch.service"):
        files[f"switch/{name}"] = filled(f"switch/{name}", values)
    files["switch/requirements.txt"] = fixed("switch/requirements.txt")
    return files | python("switch/controller")


def _soft_config(design: Design, places: Places) -> dict[str, Any]:
    """The message SwitchConfig: the interface `portN` of the switch's machine is the program's port N."""
    site = design.site
    servers = [server.port for server in site.machines]
    own = [] if parts_of(design.plan.architecture).by_cpu_port(design) is None else [site.cpu_port]
    ports = sorted(port for ports in (*site.traffic, servers, own) for port in ports)
    return {
        "ports": [{"port": port, "interface": switch_interface(port)} for port in ports],
        "listen": f"{site.address}:{site.control_port}",
        "tls": tls(places.tls, "switch"),
        "user": USER,
    }


def _nf(design: Design, inputs: Inputs, values: dict[str, Any]) -> dict[str, bytes]:
    places: Places = values["places"]
    found = nf_contents(design.program, inputs.config, runtime="../runtime")
    files = {f"nf/{path}": data for path, data in found.items()}
    for server in design.site.nf_servers:
        files[f"nf/{server.name}.json"] = as_json(nf_config(server, places))
    files[CONFIG_TEXT] = as_json(inputs.rows)
    samples = [{"port": port, "packet": base64.b64encode(packet).decode()} for port, packet in inputs.samples]
    files["nf/samples.json"] = as_json({"samples": samples})
    files["nf/polysome-nf.service"] = filled("nf/polysome-nf.service", values)
    return files


def nf_config(server: NfServer, places: Places) -> dict[str, Any]:
    """The message NfConfig."""
    return {
        "server": server.name,
        "interface": server.device,
        "config": f"{places.configuration}/config.bin",
        "state": places.state,
        "cores": [server.core],
        "listen": f"{server.address}:{server.control_port}",
        "tls": tls(places.tls, server.name),
        "user": USER,
        "samples": f"{places.configuration}/samples.json",
    }


def _deploy(design: Design, values: dict[str, Any]) -> dict[str, bytes]:
    files = {"install.sh": fixed("install.sh")}
    for name in DEPLOY:
        files[f"deploy/{name}"] = fixed(f"deploy/{name}")
    for name in ("bundle.conf", "inventory.yml"):
        files[f"deploy/{name}"] = filled(f"deploy/{name}", values)
    every: tuple[Machine, ...] = values["machines"]
    return files | {f"deploy/machines/{machine.name}.conf": machine.text for machine in every}
