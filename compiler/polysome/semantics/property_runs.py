"""`outputs(option: value, …)`: what leaves when the trace is run again in another way (LANGUAGE.md L12.13)."""

from __future__ import annotations

from typing import Any

from polysome.ir import program as ir
from polysome.ir import properties as pr
from polysome.ir import types as t
from polysome.semantics.property_context import PropertyContext
from polysome.syntax import ast
from polysome.syntax.diagnostics import did_you_mean


def outputs(x: PropertyContext, node: ast.Call) -> ir.Expr:
    """A run with these options; E0911 for an option that is unknown or given twice, E0912 for a wrong value."""
    found: dict[str, Any] = {}
    for arg in node.args:
        name = arg.name.text if arg.name is not None else ""
        if name not in pr.RUN_OPTIONS or name in found:
            _wrong_option(x, arg, name, name in found)
            continue
        wanted = pr.RUN_OPTIONS[name]
        if isinstance(wanted, tuple):
            found[name] = _names(x, arg, name, wanted)
        else:
            found[name] = _constant(x, arg, name, wanted)
    return pr.Run(node.span, pr.OUTPUTS, tuple(found.items()))


def _wrong_option(x: PropertyContext, arg: ast.Argument, name: str, twice: bool) -> None:
    if twice:
        message, mend = f"option `{name}` is given twice", "Remove one."
    elif name:
        message, mend = f"a run has no option `{name}`", did_you_mean(name, pr.RUN_OPTIONS)
    else:
        message, mend = "an option of a run needs its name", "Write for example `outputs(batch: 32)`."
    x.report.add(
        "E0911",
        message,
        arg.name.span if arg.name is not None else arg.span,
        why="`outputs(option: value, …)` runs the trace again with these options, once each.",
        mend=mend,
    )


def _constant(x: PropertyContext, arg: ast.Argument, name: str, type: t.Type) -> Any:
    value = x.constant(arg.value, type)
    if arg.end is not None or arg.where is not None or arg.result is not None or (type != t.BOOL and value == 0):
        _wrong_value(x, arg, name, f"Write for example `{name}: {_SAMPLES[type]}`.")
    return value


def _names(x: PropertyContext, arg: ast.Argument, name: str, known: tuple[str, ...]) -> str | tuple[str, ...] | None:
    """One of the names; of faults, as many as there are."""
    items = arg.value.items if isinstance(arg.value, ast.SetExpr) and name == "faults" else (arg.value,)
    found = [i.text for i in items if isinstance(i, ast.Name)]
    if arg.end is None and len(found) == len(items) and set(found) <= set(known):
        return tuple(sorted(set(found))) if name == "faults" else found[0]
    unknown = next((n for n in found if n not in known), "")
    _wrong_value(x, arg, name, did_you_mean(unknown, known))
    return None


_SAMPLES: dict[t.Type, str] = {t.U64: "32", t.DURATION: "1s", t.BOOL: "true"}
_VALUES: dict[t.Type, str] = {
    t.U64: "Its value is a whole number above zero.",
    t.DURATION: "Its value is a duration above zero.",
    t.BOOL: "Its value is `true` or `false`.",
}


def _wrong_value(x: PropertyContext, arg: ast.Argument, name: str, mend: str) -> None:
    wanted = pr.RUN_OPTIONS[name]
    if isinstance(wanted, tuple):
        why = f"Its values are {', '.join(f'`{w}`' for w in wanted)}{'; a set may hold several' * (name == 'faults')}."
    else:
        why = _VALUES[wanted]
    x.report.add(
        "E0912",
        f"option `{name}` cannot have this value",
        arg.value.span,
        why=why,
        mend=mend,
    )


def part_of(x: PropertyContext, node: ast.Binary) -> ir.Expr | None:
    """`outputs(…) <= outputs(…)`: what leaves in the first run leaves in the second too, no more often."""
    if node.op != "<=" or not isinstance(node.left, ast.Call):
        return None
    if not isinstance(node.left.callee, ast.Name) or node.left.callee.text != "outputs":
        return None
    return ir.Binary(node.span, t.BOOL, "<=", x.expr(node.left), x.expr(node.right, pr.OUTPUTS))
