"""Names of headers and groups, their fields, and whether they are there (LANGUAGE.md L5.1 to L5.4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.semantics import hints
from polysome.semantics.allowed import may
from polysome.semantics.context import Context
from polysome.syntax import ast
from polysome.syntax.spans import Span


def first_name(node: ast.Expr) -> str | None:
    """The first name of `a.b[c].d`."""
    while isinstance(node, (ast.Member, ast.Index, ast.Range)):
        node = node.base
    return node.text if isinstance(node, ast.Name) else None


def flatten(node: ast.Expr) -> str | None:
    """`a.b[0].c` as text, if the node is such a chain."""
    match node:
        case ast.Name():
            return node.text
        case ast.Member():
            base = flatten(node.base)
            return None if base is None else f"{base}.{node.name.text}"
        case ast.Index(index=ast.Number() as index):
            base = flatten(node.base)
            return None if base is None else f"{base}[{index.value}]"
        case ast.Index(index=ast.Name(text="last")):
            base = flatten(node.base)
            return None if base is None else f"{base}[last]"
        case _:
            return None


@dataclass(frozen=True)
class _HeaderNames:
    """`members`: the instances that a header or a group name stands for; `roots`: first parts of names.

    `prefixes`: what comes before a `.` or `[` in one.
    """

    members: Mapping[str, tuple[int, ...]]
    prefixes: frozenset[str]
    roots: frozenset[str]


@lru_cache(maxsize=64)
def _header_names(parser: ir.Parser) -> _HeaderNames:
    instances = [i.name for i in parser.instances]
    names = (*instances, *parser.groups)
    return _HeaderNames(
        {name: (instances.index(name),) for name in instances} | dict(parser.groups),
        frozenset(name[:at] for name in names for at, c in enumerate(name) if c in ".["),
        frozenset(name.split(".")[0].split("[")[0] for name in instances),
    )


def is_prefix(x: Context, text: str) -> bool:
    return x.shared.parser is not None and text in _header_names(x.shared.parser).prefixes


def members_of(x: Context, text: str) -> tuple[int, ...] | None:
    """The instances that a header or group name stands for."""
    if x.shared.parser is None:
        return None
    if text.endswith("[last]") and text[:-6] in x.stack_tops:
        text = f"{text[:-6]}[{x.stack_tops[text[:-6]]}]"
    return _header_names(x.shared.parser).members.get(text)


def is_first_part(x: Context, name: str) -> bool:
    return x.shared.parser is not None and name in _header_names(x.shared.parser).roots


def header_names(x: Context) -> list[str]:
    parser = x.shared.parser
    return [*(i.name for i in parser.instances), *parser.groups] if parser else []


def validity(x: Context, text: str, span: Span) -> ir.Expr | None:
    """A header or group name as a condition."""
    instances = members_of(x, text)
    if instances is None:
        return None
    if not may(x, "packet", span, text):
        return x.wrong(span)
    tests: list[ir.Expr] = [ir.Valid(span, t.BOOL, i) for i in instances]
    result = tests[0]
    for test in tests[1:]:
        result = ir.Binary(span, t.BOOL, "or", result, test)
    return result


def field_type(x: Context, instance: int, name: str) -> t.Type | None:
    assert x.shared.parser is not None
    header = x.shared.parser.instances[instance].header
    index = header.index(name)
    return None if index is None else header.fields[index].type


def field_read(x: Context, instances: tuple[int, ...], text: str, name: ast.Ident, span: Span) -> ir.Expr:
    """A field of a header, or of whichever header of a group is valid."""
    if not may(x, "packet", span, f"{text}.{name.text}"):
        return x.wrong(span)
    if not check_field(x, instances, text, name):
        return x.wrong(span)
    check_valid(x, instances, text, span)
    assert x.shared.parser is not None
    parser = x.shared.parser
    possible = [i for i in instances if x.mask & parser.having[i]] or list(instances)
    result: ir.Expr | None = None
    for i in reversed(possible):
        header = parser.instances[i].header
        index = header.index(name.text)
        assert index is not None
        field = header.fields[index]
        read: ir.Expr
        if field.rest:
            read = ir.RestBytes(span, t.BYTE_STRING, i, index, None, None)
        else:
            read = ir.HeaderField(span, field.type, i, index)
        result = read if result is None else ir.Choose(span, read.type, ir.Valid(span, t.BOOL, i), read, result)
    assert result is not None
    return result


def check_field(x: Context, instances: tuple[int, ...], text: str, name: ast.Ident) -> bool:
    """Does every member have the field, with one type? Reports E0402, E0403."""
    assert x.shared.parser is not None
    types = [field_type(x, i, name.text) for i in instances]
    if None in types:
        common = set.intersection(*({f.name for f in x.shared.parser.instances[i].header.fields} for i in instances))
        x.report.add(
            "E0402",
            f"{text} has no field `{name.text}`",
            name.span,
            why="A header has the fields that its declaration lists; a group those of all its headers.",
            mend=hints.mend_field(name.text, common),
        )
        return False
    if len(set(types)) > 1:
        x.report.add(
            "E0403",
            f"the headers of `{text}` have different types for `{name.text}`",
            name.span,
            why="A group has the fields that all its headers have with the same type.",
            mend="Test which header it is, and name that one.",
        )
        return False
    return True


def check_valid(x: Context, instances: tuple[int, ...], text: str, span: Span) -> bool:
    """Is one of the headers valid on every parse class that gets here? E0404 if not."""
    assert x.shared.parser is not None
    parser = x.shared.parser
    missing = x.mask
    for i in instances:
        missing &= ~parser.having[i]
    if not missing:
        return True
    x.report.add(
        "E0404",
        f"`{text}` may be absent here",
        span,
        label="not valid for every packet that gets here",
        also=[(call, "called here") for call in x.calls[-1:]],
        why=f"{_example(parser, missing)} has no `{text}`, so there would be nothing to read or write.",
        mend=f'Test it first (`if {text} {{ … }}`, `require {text} else drop "…";`), or demand it: `relevant {text}…`.',
    )
    return False


def _example(parser: ir.Parser, missing: int) -> str:
    """The simplest packet of the classes, as a user would name it."""
    paths = [path for c, path in enumerate(parser.classes) if missing >> c & 1]
    shortest = min((p for p in paths if p), key=len, default=())
    names = " / ".join(parser.instances[i].name for i in shortest)
    return f"A packet that parses as {names}" if names else "A packet too short for its first header"
