"""Names of the spec as P4 has them."""

from __future__ import annotations

from polysome.ir import program as ir

# What the templates call their own headers, and words of P4 and TNA that cannot name a header or a field.
_OURS = {
    *("bridge", "retry", "down", "generator", "station", "outer", "tag", "cell", "tag_end", "edits", "edits_rest"),
    *("roce_ethernet", "roce_ipv4", "roce_udp", "bth", "aeth"),
}
_WORDS = {
    *("action", "actions", "apply", "bit", "bool", "const", "control", "default", "default_action", "else", "entries"),
    *("enum", "error", "exit", "extern", "false", "header", "if", "in", "inout", "int", "key", "match_kind", "out"),
    *("package", "packet_in", "packet_out", "parser", "return", "select", "size", "state", "string", "struct"),
    "switch",
    *("table", "this", "transition", "true", "tuple", "type", "typedef", "value_set", "varbit", "void", "verify"),
    *("abstract", "pragma", "priority", "setValid", "setInvalid", "isValid", "minSizeInBits", "minSizeInBytes"),
}


def plain(name: str) -> str:
    """`outer.vlan[0]` as `outer_vlan_0`; words that P4 or the templates use get an underscore."""
    made = name.replace(".", "_").replace("[", "_").replace("]", "")
    return f"{made}_" if made in _WORDS or made in _OURS else made


def instance(i: int, parser: ir.Parser) -> str:
    return plain(parser.instances[i].name)


def header_type(header: ir.Header) -> str:
    return plain(header.name)


def field(i: int, f: int, parser: ir.Parser) -> str:
    """A field as controls and parsers name it: `hdr.ipv4.src`."""
    return f"hdr.{instance(i, parser)}.{plain(parser.instances[i].header.fields[f].name)}"
