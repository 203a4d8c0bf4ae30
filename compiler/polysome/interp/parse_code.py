"""The parse graph to Python functions, one per node (LANGUAGE.md section 4).

`node_<n>(p)` extracts the node's header and returns the next node, or -1 when parsing ends.
"""

from __future__ import annotations

from polysome.interp.statement_code import INDENT, StatementCode
from polysome.ir import program as ir


def parser_code(c: StatementCode) -> None:
    """Functions for all nodes of the program's parser, and their list NODES."""
    c.arrival = True
    for number, node in enumerate(c.program.parser.nodes):
        c.put(f"def node_{number}(p):")
        c.depth += 1
        c.put("d = p.data; o = p.offset")
        if node.instance is not None:
            _extract(c, node.instance)
        for condition, target in node.hooks:
            c.put(f"if {c.code(condition) if condition is not None else 'True'}: return {target}")
        _select(c, node)
        c.put("return -1")
        c.depth -= 1
        c.put("")
    c.put(f"NODES = [{', '.join(f'node_{i}' for i in range(len(c.program.parser.nodes)))}]")
    c.arrival = False


def _extract(c: StatementCode, i: int) -> None:
    """Extract instance `i` at p.pos if it fits before p.room and is well formed; else parsing ends."""
    instance = c.program.parser.instances[i]
    header = instance.header
    c.put(f"pos = p.pos; have = p.room - pos  # {instance.name}")
    if instance.cut is not None:
        c.put(f"if have < {min(instance.cut, header.fixed)}: return -1")
        c.put(f"if have < {header.fixed}:")
        c.put(INDENT + f"take_cut(p, {i}); return -1")
    else:
        c.put(f"if have < {header.fixed}: return -1")
    c.put(f"o[{i}] = pos; p.header_end[{i}] = pos + {header.fixed}")
    if header.valid is not None:
        c.put(f"if not {c.code(header.valid)}:")
        c.put(INDENT + f"o[{i}] = -1; return -1")
    c.put(f"size = {c.code(header.size) if header.size is not None else header.fixed}")
    if header.end is not None:
        c.put(f"end = {c.code(header.end)}")
        c.put("if end < size:")
        c.put(INDENT + f"o[{i}] = -1; return -1")
    _size(c, i, instance)
    c.put(f"p.pos = p.header_end[{i}] = pos + size; p.path.append({i})")
    if header.end is not None:
        c.put("narrow(p, pos + end)")
    c.put(f"p.limit[{i}] = p.room")


def _size(c: StatementCode, i: int, instance: ir.Instance) -> None:
    """The whole header must be there, unless it may be cut."""
    if instance.header.size is None:
        return
    c.put(f"if size < {instance.header.fixed}:")
    c.put(INDENT + f"o[{i}] = -1; return -1")
    c.put("if size > have:")
    if instance.cut is not None:
        c.put(INDENT + f"take_cut(p, {i}); return -1")
    else:
        c.put(INDENT + f"o[{i}] = -1; return -1")


def _select(c: StatementCode, node: ir.ParseNode) -> None:
    if not node.cases:
        return
    for k, key in enumerate(node.keys):
        c.put(f"k{k} = {c.code(key)}")
    for case in node.cases:
        tests = [_match(m) for m in case.matches]
        if "" in tests:
            c.put(f"return {case.target}")
            return
        c.put(f"if {' or '.join(tests)}: return {case.target}")


def _match(m: ir.Match) -> str:
    """The test of one alternative; "" if it matches anything."""
    parts = []
    for k, bounds in enumerate(m.ranges):
        if bounds is not None:
            low, high = bounds
            parts.append(f"k{k} == {low}" if low == high else f"{low} <= k{k} <= {high}")
    return "(" + " and ".join(parts) + ")" if parts else ""
