"""What an NF remembers as C++ that carries it from one process to the next (runtime/nf/archive.hpp)."""

from __future__ import annotations

import hashlib

from polysome.backends.nf_cpp.names import identifier
from polysome.backends.nf_cpp.sizes import SCHEDULE, of_state, sizes
from polysome.backends.nf_cpp.state_code import steady, varies
from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.ir.expression_text import ExpressionText
from polysome.kinds.state import TABLE_KINDS

FORMAT = 1  # of what the `carry` functions of runtime/ write


def carry_structure(struct: t.Struct) -> list[str]:
    """Beside a structure: the function that carries its values."""
    name = identifier(struct.name)
    members = ", ".join(f"value.{identifier(member)}" for member, _ in struct.fields)
    return ["template <class Archive>", f"void carry(Archive& archive, {name}& value) {{ archive({members}); }}"]


def carry_function(program: ir.Program, defaults: bool) -> list[str]:
    """The member function of `Nf`, and the hash of what it writes; without `defaults`, sizes are not in that."""
    lines = [
        "/// What `carry` writes: SHA-256 of its description.",
        f'static constexpr std::string_view state_layout = "{state_layout(program, defaults)}";',
        "/// The time and all state, with the rows that it refers to, to a new NF; `configure` follows there.",
        "template <class Archive>",
        "void carry(Archive& archive) {",
    ]
    lines += [f"    archive.same(sizes_[{place}]);" for place in _fixed(program)]
    lines += [f"    archive(config.{identifier(name)});" for name in _tables(program)]
    lines += ["    archive(clock.now);"]
    lines += [f"    archive(state.{identifier(name)});" for name in program.state]
    return [*lines, "}"]


def _fixed(program: ir.Program) -> list[int]:
    """The places of sizes that must be the same; a map's capacity may be another one."""
    found: list[int] = []
    place = 0
    for decl in program.state.values():
        count = len(of_state(decl))
        found += [] if isinstance(decl, ir.MapDecl) else range(place, place + count)
        place += count
    return [*found, *range(place, place + len(SCHEDULE))]


def _tables(program: ir.Program) -> list[str]:
    """Config whose rows have identities."""
    return [d.name for d in program.config.values() if _has_rows(d.type)]


def _has_rows(type: t.Type) -> bool:
    return isinstance(type, t.ListOf) or (isinstance(type, t.Table) and TABLE_KINDS[type.kind].identity is not None)


def state_layout(program: ir.Program, with_sizes: bool = True) -> str:
    """SHA-256, hexadecimal: the same of two versions of an NF if one can take the other's state over."""
    numbers = sizes(program)
    fixed = [f"size {numbers[place]}" for place in _fixed(program)] if with_sizes else []
    return hashlib.sha256("\n".join([layout(program), *fixed]).encode()).hexdigest()


def layout(program: ir.Program) -> str:
    """All that a `carry` goes by, and what its numbers mean, but for sizes.

    How long entries live may differ; the schedule, whose packets lie in its queues, may not.
    """
    text = ExpressionText(program)
    lines = [f"format {FORMAT}", f"ports {', '.join(program.ports)}"]
    lines += [f"config {name}: {_spelled(program.config[name].type)}" for name in _tables(program)]
    lines += [f"state {decl.name}: {_state(program, decl, text)}" for decl in program.state.values()]
    lines.append(f"seed {program.params['seed'][1]}")
    schedule = program.schedule
    options = ", ".join(f"{name} {value}" for name, value in sorted(schedule.options.items()) if name not in SCHEDULE)
    lines.append(
        f"schedule {schedule.policy} {options}, class {text.expr(schedule.cls)}: {_spelled(schedule.cls.type)}"
    )
    lines += [f"every {timer.period}" for timer in program.timers]
    return "\n".join(lines)


def _state(program: ir.Program, decl: ir.AnyState, text: ExpressionText) -> str:
    match decl:
        case ir.MapDecl(key=key, value=value):
            value_text = "nothing" if value is None else _spelled(value)
            kept = "computed" if steady(program, decl) else "kept"
            times = [
                f"{what} {'none' if timeout is None else kept if varies(timeout) else 'constant'}"
                for what, timeout in (("idle", decl.idle), ("age", decl.age))
            ]
            indexes = ", ".join(f"{text.expr(index.key)}: {_spelled(index.key.type)}" for index in decl.indexes)
            return f"map {_spelled(key)} to {value_text}, {', '.join(times)}, {decl.when_full}, by {indexes}"
        case ir.PoolDecl(item=item, axes=axes, per=per):
            partition = "nothing" if per is None else _spelled(per.type)
            return f"pool {_spelled(item)} of {len(axes)} per {partition}"
        case ir.ArrayDecl(item=item, size=size):
            return f"array {size} {_spelled(item)}"
        case ir.ScalarDecl(type=type):
            return f"scalar {_spelled(type)}"
        case ir.KindDecl(kind=kind, params=params):
            return f"{kind} {', '.join(map(_spelled, params))}"


def _spelled(type: t.Type) -> str:
    """A type by what it is made of: a structure of the same name may have other members."""
    match type:
        case t.Struct(name, fields):
            return f"{name} {{{', '.join(f'{member}: {_spelled(of)}' for member, of in fields)}}}"
        case t.Enum(name, members):
            return f"{name} {{{', '.join(f'{member} = {number}' for member, number in members)}}}"
        case t.Tuple(items):
            return f"({', '.join(map(_spelled, items))})"
        case t.ListOf(item):
            return f"list {_spelled(item)}"
        case t.SetOf(item):
            return f"set {_spelled(item)}"
        case t.Table(kind, key, value):
            return f"{kind} {_spelled(key)} to {'nothing' if value is None else _spelled(value)}"
        case t.Ref(table, item):
            return f"row of {table} {_spelled(item)}"
        case t.FromPool(pool, item):
            return f"from {pool} {_spelled(item)}"
    return str(type)
