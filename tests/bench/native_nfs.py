"""The network functions of the native bench, and what they are configured with for so many flows.

Traffic is in native/traffic.hpp.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from polysome.ir import program as ir

PORTS_PER_ADDRESS = 65536 - 1024
BACKENDS, PLANS, RULES = 16, 1000, 1000


@dataclass(frozen=True)
class Config:
    """What an NF is configured with: text of config files by `--config` argument, and the same as rows of numbers.

    `files` has `""` for a TOML file, else the table's name for a CSV file. `rows` is what native/rivals/NAME.hpp reads.
    """

    files: dict[str, str]
    rows: Sequence[tuple[int, ...]]

    def written(self, folder: Path) -> list[str]:
        """Writes the files; what `--config` is given for each."""
        arguments = []
        for table, text in self.files.items():
            path = folder / (f"{table}.csv" if table else "config.toml")
            path.write_text(text, encoding="utf-8")
            arguments.append(f"{table}={path}" if table else str(path))
        return arguments

    @property
    def row_lines(self) -> str:
        """The rows, as programs read them: numbers apart by a blank."""
        return "\n".join(" ".join(map(str, row)) for row in self.rows)


def ipv4(value: int) -> str:
    return ".".join(str(value >> shift & 255) for shift in (24, 16, 8, 0))


def mac(value: int) -> str:
    return value.to_bytes(6, "big").hex(":")


def subscriber(flow: int) -> int:
    """The source address of a flow (native/traffic.hpp)."""
    return 10 << 24 | flow * 0x9E3779B1 & 0xFFFFFF


def load_balancer(program: ir.Program, flows: int) -> Config:
    servers = program.ports.index("servers")
    rows = [(0x0A000101 + i, 0x020000000B01 + i, servers) for i in range(BACKENDS)]
    lines = [f'  {{ ip = "{ipv4(ip)}", mac = "{mac(m)}", uplink = "servers" }},' for ip, m, _ in rows]
    return Config({"": "\n".join(["backends = [", *lines, "]"])}, rows)


def nat(program: ir.Program, flows: int) -> Config:
    """As many addresses as the flows need, half of which are TCP and half UDP."""
    addresses = [0x64400000 + i for i in range(-(-flows // 2 // PORTS_PER_ADDRESS))]
    return Config({"": f"pool_addresses = {json.dumps([ipv4(a) for a in addresses])}"}, [(a,) for a in addresses])


def firewall(program: ir.Program, flows: int) -> Config:
    return Config({}, [])


def policer(program: ir.Program, flows: int) -> Config:
    """Most have the example's default plan, some one of their own: kbit/s and kB."""
    default = (200, 4, 400, 8)
    own = {subscriber(flow): (10_000 + flow, 64, 20_000 + flow, 128) for flow in range(PLANS)}
    cir, cbs, pir, pbs = default
    toml = f'default_plan = {{ cir = "{cir}Kbps", cbs = "{cbs}KB", pir = "{pir}Kbps", pbs = "{pbs}KB" }}'
    lines = [f"{ipv4(a)},{cir}Kbps,{cbs}KB,{pir}Kbps,{pbs}KB" for a, (cir, cbs, pir, pbs) in own.items()]
    rows = [
        (a, 1000 * cir, 1000 * cbs, 1000 * pir, 1000 * pbs) for a, (cir, cbs, pir, pbs) in {0: default, **own}.items()
    ]
    return Config({"": toml, "plans": "\n".join(["key,cir,cbs,pir,pbs", *lines])}, rows)


def telemetry(program: ir.Program, flows: int) -> Config:
    own, collector = (0x020000000003, 0xC0000209), (0x020000000009, 0xC000020A)
    toml = (
        f'[exporter]\nmac = "{mac(own[0])}"\nip = "{ipv4(own[1])}"\n'
        f'collector_mac = "{mac(collector[0])}"\ncollector_ip = "{ipv4(collector[1])}"\nport = 9900\n'
    )
    return Config({"": toml}, [(*own, *collector, 9900)])


def acl(program: ir.Program, flows: int) -> Config:
    """Rules as a site has them: from a network, to a network, to a service; the last permits all that is left."""
    choice = random.Random(1)
    csv, rows = ["from,src,dst,protocol,sport,dport,effect,counter"], []
    for i in range(RULES - 1):
        src_length, dst_length = choice.choice((0, 16, 20, 24, 28, 32)), choice.choice((15, 20, 24, 28, 32))
        src = subscriber(choice.randrange(1 << 24)) >> 32 - src_length << 32 - src_length
        dst = 0xC6120000 + choice.randrange(1 << 17) >> 32 - dst_length << 32 - dst_length
        if src_length == 0 and dst_length < 24:
            src_length, src = 24, subscriber(choice.randrange(1 << 24)) >> 8 << 8
        protocol, service = choice.choice((6, 17)), choice.choice((22, 25, 53, 80, 123, 443, 8080))
        effect = choice.choice(("permit", "permit", "permit", "deny"))
        from_ = f"::ffff:{ipv4(src)}/{96 + src_length}" if src_length else "*"
        csv.append(f"inside,{from_},::ffff:{ipv4(dst)}/{96 + dst_length},{protocol},*,{service},{effect},{i % 255}")
        permit = int(effect == "permit")
        rows.append((0, src, src_length, dst, dst_length, protocol, 0, 65535, service, service, permit, i % 255))
    csv.append("*,*,*,*,*,*,permit,255")
    rows.append((2, 0, 0, 0, 0, 256, 0, 65535, 0, 65535, 1, 255))
    return Config({"rules": "\n".join(csv)}, rows)


def conn_limiter(program: ir.Program, flows: int) -> Config:
    """Far more than a client of the traffic has."""
    return Config({"": "limit = 100"}, [(100,)])


NFS: dict[str, Callable[[ir.Program, int], Config]] = {
    made.__name__: made for made in (load_balancer, nat, firewall, policer, telemetry, acl, conn_limiter)
}


def resized(program: ir.Program, flows: int) -> ir.Program:
    """The same with room for so many flows in each of its maps."""
    state = {
        name: replace(decl, capacity=flows) if isinstance(decl, ir.MapDecl) else decl
        for name, decl in program.state.items()
    }
    return replace(program, state=state)
