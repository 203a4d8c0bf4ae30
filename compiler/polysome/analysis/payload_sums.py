"""Does a push, pop or truncation change a checksum in a way that only the payload's bytes tell? (DESIGN 4.1, 6.)

A checksum is updated from the words that changed (RFC 1624). That needs the payload where it is cut, where it moves
by an odd number of bytes, and where a new header's checksum covers it.
"""

from __future__ import annotations

from collections.abc import Mapping

from polysome.analysis.paths import Operation, popped
from polysome.ir import program as ir


def needs_payload(
    operation: Operation, path: tuple[int, ...], parser: ir.Parser, headers: Mapping[str, ir.Header]
) -> str:
    """Why packets with these headers must be whole for the operation, in words; or ""."""
    match operation:
        case ir.Truncate():
            covering = _covering(path, parser)
            return f"`truncate`: the checksum of {covering} covers what is cut off" if covering else ""
        case ir.Pop():
            gone = popped(operation, path)
            odd = not all(_even(parser.instances[i].header) for i in gone)
            covering = _covering(path[: path.index(gone[0])], parser) if gone else ""
            return (
                f"`pop` moves what the checksum of {covering} covers by an odd number of bytes"
                if odd and covering
                else ""
            )
        case ir.Push():
            return _push(operation, path, parser, headers[operation.header])
    return ""


def _push(push: ir.Push, path: tuple[int, ...], parser: ir.Parser, header: ir.Header) -> str:
    for field in header.fields:
        if field.checksum is not None and "rest" in field.checksum.parts and not field.checksum.zero_is_none:
            return f"the checksum of the pushed {header.name} covers the payload"
    outer = path if push.before is None or push.before not in path else path[: path.index(push.before)]
    covering = _covering(outer, parser)
    odd = covering and not _even(header)
    return f"`push` moves what the checksum of {covering} covers by an odd number of bytes" if odd else ""


def _covering(path: tuple[int, ...], parser: ir.Parser) -> str:
    """The innermost header whose checksum covers all that follows it, or ""."""
    for i in reversed(path):
        for field in parser.instances[i].header.fields:
            if field.checksum is not None and "rest" in field.checksum.parts:
                return parser.instances[i].name
    return ""


def _even(header: ir.Header) -> bool:
    """Is its size surely an even number of bytes?"""
    return header.fixed % 2 == 0 if header.size is None else _even_value(header.size)


def _even_value(e: ir.Expr) -> bool:
    match e:
        case ir.Const(value=value):
            return int(value) % 2 == 0
        case ir.Cast(value=value):
            return _even_value(value)
        case ir.Binary(op="*", left=a, right=b):
            return _even_value(a) or _even_value(b)
        case ir.Binary(op="+" | "-", left=a, right=b):
            return _even_value(a) and _even_value(b)
        case _:
            return False
