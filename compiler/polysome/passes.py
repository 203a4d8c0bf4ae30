"""The passes whose result `--print-after PASS` shows: each a pure function of the typed program."""

from __future__ import annotations

from collections.abc import Callable

from polysome.ir import program as ir


def _ir(program: ir.Program) -> str:
    from polysome.ir.printer import show

    return show(program)


def _relevance(program: ir.Program) -> str:
    from polysome.analysis.show import show_relevance

    return show_relevance(program)


def _effects(program: ir.Program) -> str:
    from polysome.analysis.show import show_effects

    return show_effects(program)


def _sharding(program: ir.Program) -> str:
    from polysome.analysis.sharding_text import show_sharding

    return show_sharding(program)


def _layout(program: ir.Program) -> str:
    from polysome.analysis.show import show_layout

    return show_layout(program)


def _code(program: ir.Program) -> str:
    from polysome.interp.code import generate

    return generate(program).source


# In the order in which they run; imports are inside, because the command line starts with this table.
PASSES: dict[str, Callable[[ir.Program], str]] = {
    "ir": _ir,
    "relevance": _relevance,
    "effects": _effects,
    "sharding": _sharding,
    "layout": _layout,
    "code": _code,
}
