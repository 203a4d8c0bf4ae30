"""What pydantic finds wrong with a site file, as diagnostics: with its place in the file, and what is allowed there.

What is wrong with a file as such has the codes of configuration files (E1006 to E1012); E1306 is a number outside the
range that makes sense. Of one cause there is one error: what a misspelt member leaves missing is not told.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, get_args, get_origin

from annotated_types import Ge, Gt, Le
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from polysome.config.items import Item, describe
from polysome.config.scalars import written
from polysome.ir import types as t
from polysome.plan.site_values import Written
from polysome.syntax.diagnostics import Report, did_you_mean, listed
from polysome.syntax.spans import Span

Path = tuple[int | str, ...]

_FORMS = {
    "string_type": ("a text in quotes", "Names and addresses are texts."),
    "int_type": ("a whole number", "This is a number without a unit."),
    "bool_type": ("true or false", "This is a yes or no."),
    "float_type": ("a number", "This is a share, of which 1 is all."),
}
_OUT_OF_RANGE = {"greater_than", "greater_than_equal", "less_than_equal", "finite_number"}


def tell(error: ValidationError, model: type[BaseModel], root: Item, report: Report) -> None:
    """Reports every error of validating `root` with `model`, each once."""
    found = error.errors(include_url=False)
    unknown = {e["loc"][:-1] for e in found if e["type"] == "extra_forbidden"}
    missing: dict[Path, list[str]] = {}
    for e in found:
        if e["type"] == "missing":
            missing.setdefault(e["loc"][:-1], []).append(str(e["loc"][-1]))
    for e in found:
        if e["type"] == "extra_forbidden":
            _unknown(e["loc"], missing.get(e["loc"][:-1], []), model, root, report)
        elif e["type"] != "missing":
            _wrong(e, model, root, report)
    for table, names in missing.items():
        if table not in unknown:
            _missing(table, names, model, root, report)


def at(root: Item, path: Sequence[int | str]) -> Item:
    """What stands at a path; one alone stands for an array of it."""
    item = root
    for part in path:
        if isinstance(part, str) or isinstance(item.value, list):
            item = item.value[part]
    return item


def place(root: Item, path: Sequence[int | str]) -> Span:
    """Where a member stands, or else the table that could have it."""
    item = root
    for part in path:
        inner = item.value.get(part) if isinstance(item.value, dict) else item.value[part]
        if inner is None:
            break
        item = inner
    return item.span


def _unknown(path: Path, missing: list[str], model: type[BaseModel], root: Item, report: Report) -> None:
    name, item = str(path[-1]), at(root, path)
    known = list(_members(_model_at(model, path[:-1])))
    report.add(
        "E1007",
        f"there is no `{name}` here",
        item.name or item.span,
        why=f"{_title(path[:-1])} has {', '.join(f'`{member}`' for member in known)}.",
        mend=did_you_mean(name, missing or known) or "Remove it.",
    )


def _missing(path: Path, names: list[str], model: type[BaseModel], root: Item, report: Report) -> None:
    members = _members(_model_at(model, path))
    shown = [name if path else _header(name, members[name]) for name in names]
    one = len(names) == 1
    example = members[names[0]].examples
    if not path:
        mend = f"Write {listed(shown)}, and below {'it its' if one else 'each its'} members."
    elif one and example:
        mend = f"Add it here, for example `{names[0]} = {json.dumps(example[0])}`."
    else:
        mend = f"Add {'it' if one else 'them'} here."
    report.add(
        "E1008",
        f"{listed(shown)} {'is' if one else 'are'} missing",
        at(root, path).span,
        why=f"{_title(path)} has no default for {'it' if one else 'them'}.",
        mend=mend,
    )


def _header(name: str, field: FieldInfo) -> str:
    """Of a table of the file."""
    return f"[[{name}]]" if get_origin(field.annotation) is list else f"[{name}]"


def _wrong(error: ErrorDetails, model: type[BaseModel], root: Item, report: Report) -> None:
    path, said = error["loc"], error.get("ctx", {})
    item, field = at(root, path), _field_at(model, path)
    if error["type"] == "told":
        where = item.value[said["at"]] if said["at"] else item
        mend = said["mend"] or f"Write for example {_example(field)}."
        report.add(said["code"], said["message"], where.span, why=said["why"], mend=mend)
    elif error["type"] in _OUT_OF_RANGE:
        _out_of_range(item, field, report)
    else:
        expected, why, mend = _form(error["type"], said, path, field)
        report.add("E1006", f"expected {expected}, found {describe(item)}", item.span, why=why, mend=mend)


def _form(kind: str, said: dict[str, Any], path: Path, field: FieldInfo | None) -> tuple[str, str, str]:
    """What was expected, why, and how to mend it."""
    example = f"Write for example {_example(field)}."
    if kind == "shape":
        return said["expected"], said["why"], example
    if kind in _FORMS:
        return *_FORMS[kind], example
    tables = field is not None and _model_in(field.annotation) is not None
    if kind in ("list_type", "too_short") and tables and len(path) == 1:
        header = f"`[[{path[0]}]]`"
        return f"tables {header}", "There may be several of them.", f"Write {header} above each."
    if kind in ("list_type", "too_short"):
        return f"an array for `{_name(path)}`", "One at least is needed.", example
    return f"a table for `{_name(path)}`", "It has named members.", "Write each as `name = value`."


def _out_of_range(item: Item, field: FieldInfo | None, report: Report) -> None:
    marks = list(_marks(field)) if field is not None else []
    type = next((m.type for m in marks if isinstance(m, Written)), None)
    over = next((f"Over {_shown(m.gt, type)} and up" for m in marks if isinstance(m, Gt)), "")
    least = next((f"From {_shown(m.ge, type)}" for m in marks if isinstance(m, Ge)), over)
    most = next(_shown(m.le, type) for m in marks if isinstance(m, Le))
    report.add(
        "E1306",
        f"{describe(item)} is outside what is possible here",
        item.span if item.name is None else item.name.to(item.span),
        why=f"{least} to {most} makes sense.",
        mend=f"Give a value {least[0].lower()}{least[1:]} to {most}.",
    )


def _shown(value: Any, type: t.Type | None) -> str:
    return f'"{written(value, type.name)}"' if isinstance(type, t.Quantity) else str(value)


# ---------------------------------------------------------------- models and their fields


def _members(model: type[BaseModel]) -> dict[str, FieldInfo]:
    """The fields by the names that they have in the file."""
    return {field.alias or name: field for name, field in model.model_fields.items()}


def _model_at(model: type[BaseModel], path: Path) -> type[BaseModel]:
    for part in path:
        if isinstance(part, str):
            model = _model_in(_members(model)[part].annotation) or model
    return model


def _field_at(model: type[BaseModel], path: Path) -> FieldInfo | None:
    """The field that a value belongs to: that of the dict or array, for what stands in one."""
    found: FieldInfo | None = None
    for part in path:
        inside = _model_in(found.annotation) if found is not None else model
        if isinstance(part, str) and inside is not None:
            found = _members(inside)[part]
    return found


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for part in get_args(annotation) if (found := _model_in(part)) is not None), None)


def _marks(field: FieldInfo) -> Iterator[Any]:
    """Bounds and markers of a field, also those inside its type."""
    yield from field.metadata
    yield from _inner(field.annotation)


def _inner(annotation: Any) -> Iterator[Any]:
    for mark in getattr(annotation, "__metadata__", ()):
        yield from mark.metadata if isinstance(mark, FieldInfo) else (mark,)
    for part in get_args(annotation):
        yield from _inner(part)


# ---------------------------------------------------------------- words


def _example(field: FieldInfo | None) -> str:
    values = field.examples if field is not None and field.examples else [""]
    return f"`{json.dumps(values[0])}`"


def _name(path: Path) -> str:
    return str(next((part for part in reversed(path) if isinstance(part, str)), ""))


def _title(path: Path) -> str:
    if not path:
        return "A site file"
    if len(path) == 1:
        return f"`[{path[0]}]`"
    if len(path) == 2 and isinstance(path[1], int):
        return f"`[[{path[0]}]]`"
    return f"`{_name(path)}`"
