"""A number one too high or too low, a duration or rate in the wrong unit, doubled or halved, the member beside."""

from __future__ import annotations

from collections.abc import Iterator

from polysome.syntax import ast
from polysome.syntax.literals import UNITS, split_quantity
from polysome.testing.mutants.faults.base import Fault
from polysome.testing.mutants.written import Edits, Written, replaced

_BESIDE = {"ns": "us", "us": "ms", "ms": "us", "s": "ms", "min": "s", "h": "min", "d": "h"}
_BESIDE |= {"Kbps": "Mbps", "Mbps": "Kbps", "Gbps": "Mbps", "Kpps": "pps", "Mpps": "Kpps", "pps": "Kpps"}
_BESIDE |= {"KB": "B", "MB": "KB", "GB": "MB", "KiB": "B", "MiB": "KiB", "GiB": "MiB"}
_SIZES = {"capacity", "classes", "queue", "buffer"}  # room, which tests make small themselves (engines/shrunk.py)


def find(written: Written) -> Iterator[Edits]:
    enums = {e.name.text: [name.text for name, _ in e.members] for e in written.declared(ast.EnumDecl)}
    for node, above in written.nodes:
        match node:
            case ast.Number() if not any(isinstance(a, ast.Clause) and a.name.text in _SIZES for a in above):
                yield from (replaced(node, other) for other in _others(node, written.said(node)))
            case ast.BoolLiteral(value=value):
                yield replaced(node, "false" if value else "true")
            case ast.Member(base=ast.Name(text=enum), name=name) if enum in enums and name.text in enums[enum]:
                members = enums[enum]
                beside = members[(members.index(name.text) + 1) % len(members)]
                if beside != name.text:
                    yield replaced(node, f"{enum}.{beside}")
            case ast.AddressLiteral(kind="prefix", length=length) if length:
                address = written.said(node).rsplit("/", 1)[0]
                yield replaced(node, f"{address}/{length + 1}")


def _others(number: ast.Number, said: str) -> Iterator[str]:
    digits, unit = split_quantity(said)
    if unit not in UNITS or unit in ("K", "M", "G", "Ki", "Mi", "Gi", "%"):
        yield str(number.value + 1)
        if number.value > 0:
            yield str(number.value - 1)
        return
    if unit in _BESIDE:
        yield digits + _BESIDE[unit]
    if digits.isdigit():
        yield f"{2 * int(digits)}{unit}"
        if int(digits) % 2 == 0:
            yield f"{int(digits) // 2}{unit}"
        else:
            yield f"{int(digits) + 1}{unit}"


FAULT = Fault("constant", find)
