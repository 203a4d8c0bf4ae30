"""Keys as a spec would write them: `flow.reversed`, `flow.{src, dst}`, `ipv4.src`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby

from polysome.analysis.shard_keys import normal_of
from polysome.analysis.shard_uses import contexts
from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.ir.expression_text import ExpressionText
from polysome.ir.value_places import members


class _Words(ExpressionText):
    """Functions of libraries as methods, computed values by their names, no casts: that is how they are used."""

    def __init__(self, program: ir.Program) -> None:
        super().__init__(program)
        self.names = _names(program)

    def expr(self, e: ir.Expr) -> str:
        if isinstance(e, (ir.Choose, ir.Binary, ir.Hash)) and e in self.names:
            return self.names[e]
        match e:
            case ir.FnCall(fn=fn, args=(arg,)) if self.program.fns[fn].span.file != self.program.file:
                return f"{self.expr(arg)}.{fn.rpartition('__')[2]}"
            case ir.PacketValue(name=name):
                return name
            case ir.Local():
                return e.name
            case ir.Const(type=t.Port()):
                return "in_port"
            case ir.Cast(value=value):
                return self.expr(value)
            case _:
                return super().expr(e)


@lru_cache(maxsize=4)
def _names(program: ir.Program) -> dict[ir.Expr, str]:
    return {e: name for context in contexts(program) for e, name in context.names}


def key_text(program: ir.Program, parts: Sequence[ir.Expr | None]) -> str:
    """The values of a key, as short as it goes; `…` for those that are not computed from the packet alone."""
    text = _Words(program)
    if len(parts) == 1 and parts[0] is not None:
        return text.expr(_short(program, parts[0]))
    words: list[tuple[str, str]] = []  # (base, member), or ("", text)
    left = list(parts)
    while left:
        whole, count = _whole(left)
        words.append(("", text.expr(whole)) if whole is not None else _value(program, left[0]))
        del left[:count]
    said: list[str] = []
    for base, group in groupby(words, key=lambda word: word[0]):
        names = list(dict.fromkeys(name for _, name in group))
        said += names if not base else [f"{base}.{names[0]}" if len(names) == 1 else f"{base}.{{{', '.join(names)}}}"]
    return ", ".join(dict.fromkeys(said))


def shortest(program: ir.Program, parts: tuple[ir.Expr, ...]) -> tuple[ir.Expr, ...]:
    """The same values, with functions inlined where that is said in fewer letters."""
    inlined = tuple(normal_of(program).inlined(e) for e in parts)
    each = tuple(_short(program, e) for e in parts)
    return min((parts, inlined, each), key=lambda tried: len(key_text(program, tried)))


def expression_text(program: ir.Program, key: ir.Expr) -> str:
    """A shard key, with its conditions: `a if icmp, else b`."""
    match key:
        case ir.Choose(condition=condition, then=then, orelse=orelse):
            yes, no = expression_text(program, then), expression_text(program, orelse)
            return yes if yes == no else f"{yes} if {_bare(program, condition)}, else {no}"
        case ir.Make(items=items):
            return key_text(program, items)
        case _:
            return _Words(program).expr(key)


def _bare(program: ir.Program, condition: ir.Expr) -> str:
    text = _Words(program).expr(condition)
    return text[1:-1] if text.startswith("(") and text.endswith(")") and "(" not in text[1:-1] else text


def _whole(parts: Sequence[ir.Expr | None]) -> tuple[ir.Expr | None, int]:
    """What the first parts are the members of, all in order, and how many they are; else (None, 1)."""
    first = parts[0]
    if isinstance(first, ir.Get) and first.index == 0:
        count = len(members(first.value.type))
        alike = [e for e in parts[:count] if isinstance(e, ir.Get) and e.value == first.value]
        if [e.index for e in alike] == list(range(count)):
            return first.value, count
    return None, 1


def _short(program: ir.Program, e: ir.Expr) -> ir.Expr:
    text = _Words(program)
    return min((e, normal_of(program).inlined(e)), key=lambda one: len(text.expr(one)))


def _value(program: ir.Program, e: ir.Expr | None) -> tuple[str, str]:
    """(base, member), or ("", text)."""
    if e is None:
        return "", "…"
    short = _short(program, e)
    said = _Words(program).expr(short)
    base, dot, name = said.rpartition(".")
    plain = isinstance(short, (ir.HeaderField, ir.Get)) and not isinstance(short.type, (t.Struct, t.Tuple))
    return (base, name) if plain and dot and "{" not in said else ("", said)
