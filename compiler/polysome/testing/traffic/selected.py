"""Values by which a parser goes on: config that such fields are looked up in has rows for packets with more headers.

A table keyed by protocol and port says little as long as its rows are for protocols without ports.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.testing.traffic.constants import constants


@lru_cache(maxsize=64)
def selected(program: ir.Program) -> Mapping[t.Type, tuple[int, ...]]:
    """By type, what the parser selects of fields that keys of config have, in its order."""
    parser, pools = program.parser, constants(program).fields
    found: dict[t.Type, dict[int, None]] = {}
    for node in parser.nodes:
        for place, key in enumerate(node.keys):
            if not isinstance(key, ir.HeaderField):
                continue
            pool = pools.get((parser.instances[key.instance].header.name, key.field))
            if pool is None or not any(link.keys for links in pool.links for link in links):
                continue
            ranges = (match.ranges[place] for case in node.cases if case.target >= 0 for match in case.matches)
            found.setdefault(key.type, {}).update({r[0]: None for r in ranges if r is not None})
    return {type: tuple(values) for type, values in found.items()}
