"""`polysome trace`: what a running deployment would do with a packet now, and why."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from polysome.cli.common import COMMAND_LINE, fail
from polysome.cli.status import Controller, Tls

if TYPE_CHECKING:
    from polysome.cli.five_tuple import FiveTuple
    from polysome.deploy.client import Endpoint
    from polysome.ir import program as ir

WORDS = typer.Argument(
    metavar="[DEPLOYMENT] FLOW",
    help="The deployment as in `status`, and what of: tcp 198.51.100.7:40000 -> 192.0.2.1:80, as one word.",
)
PORT = typer.Option("--port", metavar="PORT", help="Where it arrives: a port of the spec, by default its first.")


def trace(
    words: Annotated[list[str], WORDS],
    port: Annotated[str | None, PORT] = None,
    controller: Controller = None,
    tls: Tls = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Ask a deployment where a packet of a flow would go now, and why. Nothing is sent, and nothing changes.

    The packet is a TCP SYN, a UDP datagram or an ICMP echo request.
    """
    from polysome.cli.five_tuple import FORM, BadFlow, five_tuple
    from polysome.deploy.errors import DeployError
    from polysome.deploy.find import endpoint

    if len(words) > 2:
        fail(COMMAND_LINE, "a flow is one word of the command line", f"Quote it. {FORM}")
    try:
        flow = five_tuple(words[-1])
    except BadFlow as error:
        fail(COMMAND_LINE, str(error), FORM)
    deployment = words[0] if len(words) == 2 else None
    try:
        where = endpoint(deployment, controller, tls)
        program = None if controller is not None else _program(deployment)
        shown = _asked(where, program, flow, _number(program, port))
    except DeployError as error:
        fail(error.code, str(error), error.mend)
    print(json.dumps(shown, indent=2) if as_json else _text(words[-1], shown))


def _program(deployment: str | None) -> ir.Program | None:
    """The deployment's program, for the names in it: from the bundle's copy of the spec; None if that is not here."""
    from polysome.cli.deployed import program_of
    from polysome.deploy.find import folder_of
    from polysome.deploy.run import read_record

    record = read_record(folder_of(deployment))
    return None if record is None else program_of(Path(record.bundle), record.nf)


def _standard() -> ir.Program:
    """The parser of the standard library: for names where the spec is not here."""
    from polysome.semantics.check import check
    from polysome.syntax.diagnostics import Report

    with TemporaryDirectory() as folder:
        path = Path(folder, "standard.nf")
        path.write_text("use net.l4;\nnf standard { port any; on packet { send any; } }\n", encoding="utf-8")
        return check(path, Report())


def _number(program: ir.Program | None, port: str | None) -> int:
    if port is None:
        return min(p for h in program.packet_handlers for p in h.ports) if program is not None else 0
    if program is not None and port in program.ports:
        return program.ports.index(port)
    if port.isdecimal() and (program is None or int(port) < len(program.ports)):
        return int(port)
    mend = f"It has {', '.join(program.ports)}." if program is not None else "Without its bundle here, give a number."
    fail(COMMAND_LINE, f"the NF has no port `{port}`", mend)


def _asked(where: Endpoint, program: ir.Program | None, flow: FiveTuple, port: int) -> dict[str, Any]:
    from polysome.deploy.client import open_client
    from polysome.engines.interp.seen import Eyes, difference

    packet = flow.packet()
    with open_client(where) as client:
        answer = client.try_packet(port, packet)
    known = program if program is not None else _standard()
    names = program.ports if program is not None else ()
    named = [names[p] if p < len(names) else str(p) for p in (port, *answer.ports)]
    changed = difference(Eyes.of_parser(known), 0, packet, answer.packet) if answer.sent else None
    return {
        "port": named[0],
        "sent": answer.sent,
        "ports": named[1:],
        "reason": answer.reason,
        "delay_ns": answer.delay,
        "headers": list(changed.headers) if changed else [],
        "changed": list(changed.fields) if changed else [],
        "lookups": [
            {"state": one.state, "operation": one.operation, "key": one.key, "found": one.found}
            for one in answer.lookups
        ],
        "config": answer.version,
        "packet": answer.packet.hex(),
    }


def _text(flow: str, shown: dict[str, Any]) -> str:
    from polysome.analysis.values_text import duration

    late = f" after {duration(shown['delay_ns'])}" if shown["delay_ns"] else ""
    verdict = f"sent to {', '.join(shown['ports'])}{late}" if shown["sent"] else f"dropped: {shown['reason']}"
    lines = [f"{flow} at {shown['port']}", verdict]
    lines += [f"  {change}" for change in (*shown["headers"], *shown["changed"])]
    if shown["lookups"]:
        lines.append("why")
    for one in shown["lookups"]:
        key = f" {one['key']}" if one["key"] else ""
        lines.append(f"  {one['state']} {one['operation']}{key}: {one['found'] or 'nothing'}")
    return "\n".join([*lines, f"config {shown['config']}"])
