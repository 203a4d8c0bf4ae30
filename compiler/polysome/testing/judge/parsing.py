"""The functions of a spec that need a packet at most, and packets parsed with them."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from polysome.interp import support
from polysome.interp.code import code_of
from polysome.interp.packet import Packet, read_bits, slice_bits
from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.kinds.base import Trap
from polysome.kinds.hashing import encoder, key_of_seed, siphash


@lru_cache(maxsize=64)
def spec_functions(program: ir.Program) -> dict[str, Any]:
    """Parser nodes (`NODES`), `value_<n>`, `fn_<name>` as the interpreter has them, and what these call."""
    seed = key_of_seed(program.params["seed"][1])
    generated = code_of(program)
    values: dict[str, Any] = {n: getattr(support, n) for n in dir(support) if not n.startswith("_")}
    values |= generated.constants
    values |= {
        "from_bytes": int.from_bytes,
        "read_bits": read_bits,
        "slice_bits": slice_bits,
        "hash64": lambda data: siphash(seed, data),
        "encoders": _Encoders(),
    }
    exec(generated.code, values)
    return values


class _Encoders(dict[t.Type, Callable[[Any], bytes]]):
    def __missing__(self, type: t.Type) -> Callable[[Any], bytes]:
        found = self[type] = encoder(type)
        return found


def parse(program: ir.Program, port: int, data: bytes) -> Packet:
    """The packet with its headers found by the NF's parser."""
    parser, nodes = program.parser, spec_functions(program)["NODES"]
    p = Packet(data, port, 0, len(parser.instances), 2 * len(parser.values))
    node = 0
    while node >= 0:
        try:
            node = nodes[node](p)
        except Trap:
            break
    p.payload = p.pos
    return p
