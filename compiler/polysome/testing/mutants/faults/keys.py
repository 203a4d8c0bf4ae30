"""A key of state without one of its parts: what should be told apart is one entry."""

from __future__ import annotations

from collections.abc import Iterator

from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.syntax import ast
from polysome.testing.mutants.faults.base import Fault
from polysome.testing.mutants.written import Edit, Edits, Written

_NAME = "without_a_part"  # of the function that takes it out


def find(written: Written) -> Iterator[Edits]:
    for nf in (item for item in written.tree.items if isinstance(item, ast.NfDecl)):
        declared = {item.name.text for item in nf.items if isinstance(item, ast.StateDecl)}
        for full_name, decl in written.program.state.items():
            name, key = full_name.rpartition(".")[2], _key(decl)
            if name in declared and key is not None:
                yield from _left_out(written, nf, name, key)


def _left_out(written: Written, nf: ast.NfDecl, state: str, key: t.Type) -> Iterator[Edits]:
    places = sorted(_keys_of(written, state), key=lambda place: place.span.start)
    wrapped = [Edit(k.span.start, k.span.end, f"{_NAME}({written.said(k)})") for k in places]
    at = nf.span.end - 1
    for part in _parts(key) if places else ():
        function = f" fn {_NAME}(k: {key}) -> {key} {{ {_without(key, part)} }} "
        yield (*wrapped, Edit(at, at, function))


def _key(decl: ir.AnyState) -> t.Type | None:
    match decl:
        case ir.MapDecl():
            return decl.key
        case ir.KindDecl(params=(key, *_)):
            return key
        case _:
            return None


def _keys_of(written: Written, state: str) -> list[ast.Node]:
    """Where keys of a map, a set, or another kind with keys stand: all of them, but those in other keys of it."""
    found: list[ast.Node] = []
    for node, _ in written.nodes:
        match node:
            case ast.Index(base=ast.Name(text=base), index=key) if base == state:
                found.append(key)
            case ast.Binary(op="in", left=key, right=ast.Name(text=base)) if base == state:
                found.append(key)
            case ast.Call(callee=ast.Member(base=ast.Name(text=base)), args=(first, *_)) if base == state:
                found.append(first.value)
    spans = [f.span for f in found]
    return [f for f in found if not any(s != f.span and s.start <= f.span.start and f.span.end <= s.end for s in spans)]


def _parts(key: t.Type) -> list[int | None]:
    """Which part is left out; None: the whole key."""
    match key:
        case t.Struct(fields=fields):
            return list(range(len(fields)))
        case t.Tuple(items=items):
            return list(range(len(items)))
        case _:
            return [None]


def _without(key: t.Type, left_out: int | None) -> str:
    match key:
        case t.Struct(name=name, fields=fields):
            inits = (f"{n}: {_zero(type) if i == left_out else f'k.{n}'}" for i, (n, type) in enumerate(fields))
            return f"{name} {{ {', '.join(inits)} }}"
        case t.Tuple(items=items):
            return f"({', '.join(_zero(type) if i == left_out else f'k.{i}' for i, type in enumerate(items))})"
        case _:
            return _zero(key)


def _zero(type: t.Type) -> str:
    """A value of the type, always the same."""
    match type:
        case t.Bool():
            return "false"
        case t.Address(name="ipv4"):
            return "0.0.0.0"
        case t.Address(name="ipv6"):
            return "::"
        case t.Address(name="mac"):
            return "00:00:00:00:00:00"
        case t.Enum(name=name, members=((first, _), *_)):
            return f"{name}.{first}"
        case t.Struct(name=name, fields=fields):
            return f"{name} {{ {', '.join(f'{n}: {_zero(part)}' for n, part in fields)} }}"
        case t.Tuple(items=items):
            return f"({', '.join(map(_zero, items))})"
        case _:
            return "0"


FAULT = Fault("key", find)
