"""What of a bundle says how it runs: the configurations of its parts, and the site they were made for."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from polysome.backends.bundle import opened
from polysome.config.items import ConfigFileError, Rejected
from polysome.deploy.errors import DeployError
from polysome.deploy.messages import read
from polysome.plan.site import Site
from polysome.plan.site_file import open_site, site_of
from polysome.syntax.diagnostics import Report

ANEW = "Make the bundle anew with `polysome compile`."
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")  # of an NF, a server, a port: they become parts of paths


@dataclass(frozen=True)
class Bundle:
    """`controller`, `switch`, `agents`, `nfs`: ControllerConfig, SwitchConfig, AgentConfig and NfConfig by server.

    `out_frame`, `nf_link`: the longest frames that leave by a traffic port, and on the NF's link, in bytes, as planned.
    """

    folder: Path
    nf: str
    controller: Any
    switch: Any
    agents: Mapping[str, Any]
    nfs: Mapping[str, Any]
    site: Site
    out_frame: int
    nf_link: int


def open_bundle(folder: Path) -> Bundle:
    """Reads a bundle's configurations. DeployError, code 2, if it is none, or not as it was written."""
    if not (folder / "switch" / "controller.json").is_file():
        what = "is no bundle: it has no switch/controller.json" if folder.is_dir() else "is no folder"
        raise DeployError(f"{folder} {what}", "Write `polysome compile SPEC --site FILE -o BUNDLE`.", code=2)
    try:
        about = opened.open_bundle(folder).about
    except opened.NoBundle as error:
        raise DeployError(str(error), ANEW, code=2) from None
    controller = read(folder / "switch" / "controller.json", "ControllerConfig")
    for name in (controller.nf, *(s.name for s in (*controller.nf_servers, *controller.rdma_servers))):
        if not _NAME.fullmatch(name):
            raise DeployError(f"{folder / 'switch' / 'controller.json'}: `{name}` is no name", ANEW, code=2)
    agents = {s.name: read(folder / "rdma" / f"{s.name}.json", "AgentConfig") for s in controller.rdma_servers}
    nfs = {s.name: read(folder / "nf" / f"{s.name}.json", "NfConfig") for s in controller.nf_servers}
    return Bundle(
        folder=folder,
        nf=controller.nf,
        controller=controller,
        switch=read(folder / "switch" / "soft.json", "SwitchConfig"),
        agents=agents,
        nfs=nfs,
        site=_site(folder, [port.name for port in controller.traffic], about["architecture"]),
        **{name: _planned(folder / "plan.json", name) for name in ("out_frame", "nf_link")},
    )


def _planned(path: Path, name: str) -> int:
    try:
        return int(json.loads(path.read_bytes())[name]["value"])
    except (OSError, ValueError, KeyError, TypeError):
        raise DeployError(f"{path} is no plan", ANEW, code=2) from None


def _site(folder: Path, ports: list[str], architecture: str) -> Site:
    report, path = Report(), folder / "source" / "site.toml"
    try:
        return site_of(open_site(str(path), report), ports, report, architecture)
    except ConfigFileError as error:
        raise DeployError(str(error), ANEW, code=2) from None
    except Rejected:
        wrong = "; ".join(found.message for found in report.diagnostics)
        raise DeployError(f"{path}: {wrong}", ANEW, code=2) from None
