"""Values by which a parser goes on: config that such fields are looked up in has rows for packets with more headers.

A table keyed by protocol and port says little as long as its rows are for protocols without ports.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.ir.value_places import members
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


@lru_cache(maxsize=64)
def mapped(program: ir.Program) -> bool:
    """Is config looked up by IPv4 addresses as IPv6 ones (RFC 4291, section 2.5.5.2), as a `flow` has them?"""
    headers = {instance.header.name: instance.header for instance in program.parser.instances}
    for (header, field), pool in constants(program).fields.items():
        if header not in headers or headers[header].fields[field].type != t.IPV4:
            continue
        for link in (link for links in pool.links for link in links if link.keys):
            type = program.config[link.name].type
            key = type.key if isinstance(type, t.Table) else type.item if isinstance(type, t.SetOf) else None
            if (key if key is None or link.part is None else members(key)[link.part]) == t.IPV6:
                return True
    return False
