"""State and config of an NF as C++ members."""

from __future__ import annotations

from polysome.backends.nf_cpp.expression_code import Shared
from polysome.backends.nf_cpp.lines import initialised
from polysome.backends.nf_cpp.names import camel, identifier
from polysome.backends.nf_cpp.sizes import native_of, of_state
from polysome.backends.nf_cpp.state_expressions import Expressions
from polysome.backends.nf_cpp.statement_code import INDENT
from polysome.backends.nf_cpp.table_code import table_cpp
from polysome.backends.nf_cpp.types_code import Unsupported, cpp, key_cpp, words
from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.ir.value_places import members, owned_places, row_places
from polysome.ir.walk import walk

NEVER = (1 << 64) - 1
_CHANGING = (
    *(ir.Config, ir.Deref, ir.ListIndex, ir.Now),
    *(ir.StateRead, ir.ArrayRead, ir.Contains, ir.StateLen, ir.MethodCall, ir.BucketOp),
)


def no_trap(reason: str) -> str:
    raise Unsupported("an operation that may fail in a timeout or an index")


# ---------------------------------------------------------------- maps


def map_spec(shared: Shared, decl: ir.MapDecl) -> list[str]:
    """The Spec of a FlowMap (runtime/nf/flow_map.hpp)."""
    name, value = camel(decl.name), cpp(decl.value) if decl.value is not None else "None"
    shared.types.setdefault(decl.key)
    if decl.value is not None:
        shared.types.setdefault(decl.value)
    lines = [
        f"/// {shared.program.place(decl.span)}: `{decl.name}`.",
        f"struct {name} {{",
        f"    using Words = {key_cpp(decl.key)};",
        f"    using Value = {value};",
    ]
    index_types = ", ".join(key_cpp(i.key.type) for i in decl.indexes)
    lines.append(f"    using Indexes = std::tuple<{index_types}>;")
    owned = owned_places(decl.value) if decl.value is not None else []
    rows = row_places(decl.value) if decl.value is not None else []
    flags = {
        "has_idle": decl.idle is not None,
        "has_age": decl.age is not None,
        "idle_varies": varies(decl.idle),
        "age_varies": varies(decl.age),
        "steady": steady(shared.program, decl),
        "has_alive": bool(rows),
        "has_owned": bool(owned),
        "has_on_end": decl.name in shared.program.end_handlers,
    }
    lines += [f"    static constexpr bool {flag} = {str(on).lower()};" for flag, on in flags.items()]
    lines.append(f"    static constexpr WhenFull when_full = WhenFull::{decl.when_full};")
    for kind, timeout in (("idle", decl.idle), ("age", decl.age)):
        lines.append(f"    static constexpr uint64_t {kind}_max = {_longest(timeout)}u;")
    lines += ["", "    Nf* nf;"]
    for kind, timeout in (("idle", decl.idle), ("age", decl.age)):
        if timeout is not None:
            lines += _timeout(shared, decl, kind, timeout)
    if rows:
        live = " && ".join(_live(decl.value, path) for path in rows)
        lines.append(f"    bool alive(const Value& value) const {{ return {live}; }}")
    if owned:
        lines += _owner(decl.value, owned)
    if flags["has_on_end"]:
        key = f"unpack_to<{cpp(decl.key)}>(key)"
        given = "value.value" if isinstance(decl.value, t.FromPool) else "value"
        lines.append("    void on_end(const Words& key, const Value& value, End why) const {")
        lines.append(f"        nf->end_{identifier(decl.name)}({key}, {given}, why);")
        lines.append("    }")
    lines += _indexes(shared, decl)
    lines += ["};", f"friend struct {name};"]
    return lines


def varies(timeout: ir.Timeout | None) -> bool:
    """Does a timeout differ from entry to entry?"""
    return timeout is not None and not isinstance(timeout.value, ir.Const)


def steady(program: ir.Program, decl: ir.MapDecl) -> bool:
    """Are the timeouts of an entry always the same, as long as its key and value are?"""
    return not any(t is not None and _changes(t.value, program) for t in (decl.idle, decl.age))


def _changes(e: ir.Expr, program: ir.Program) -> bool:
    """May an expression over key and value have another value later?"""
    return any(
        isinstance(node, _CHANGING) or (isinstance(node, ir.FnCall) and _changes(program.fns[node.fn].body, program))
        for node in walk(e)
    )


def _longest(timeout: ir.Timeout | None) -> int:
    if timeout is None:
        return 0
    if isinstance(timeout.value, ir.Const):
        return int(timeout.value.value)
    return timeout.maximum if timeout.maximum is not None else NEVER


def _timeout(shared: Shared, decl: ir.MapDecl, kind: str, timeout: ir.Timeout) -> list[str]:
    if isinstance(timeout.value, ir.Const):
        value = timeout.value.value
        return [f"    uint64_t {kind}(const Words&, const Value&) const {{ return {value}u; }}"]
    name = f"{kind}_{identifier(decl.name)}"
    return [
        f"    uint64_t {kind}(const Words& key, const Value& value) const {{",
        f"        return nf->{name}(unpack_to<{cpp(decl.key)}>(key), value);",
        "    }",
    ]


def timeout_functions(shared: Shared, decl: ir.MapDecl) -> list[str]:
    """Member functions of the NF for timeouts that depend on key or value, and for indexes."""
    lines: list[str] = []
    value = cpp(decl.value) if decl.value is not None else "None"
    for kind, timeout in (("idle", decl.idle), ("age", decl.age)):
        if timeout is None or isinstance(timeout.value, ir.Const):
            continue
        e = Expressions(shared, no_trap)
        key = e.local(timeout.key_slot, "key_", decl.key)
        held = e.local(timeout.value_slot, "value_", decl.value or t.Tuple(()))
        most = "" if timeout.maximum is None else f"std::min<uint64_t>({timeout.maximum}u, "
        code = e.code(timeout.value)
        lines += [
            f"/// {shared.program.place(timeout.value.span)}: `{kind}` of `{decl.name}` in ns.",
            f"uint64_t {kind}_{identifier(decl.name)}([[maybe_unused]] const {cpp(decl.key)}& {key}, "
            f"[[maybe_unused]] const {value}& {held}) const {{",
            f"    return {most}{code}{')' if most else ''};",
            "}",
        ]
    for index in decl.indexes:
        e = Expressions(shared, no_trap)
        key = e.local(index.key_slot, "key_", decl.key)
        held = e.local(index.value_slot, "value_", decl.value or t.Tuple(()))
        code = e.code(index.key)
        shared.types.setdefault(index.key.type)
        lines += [
            f"/// {shared.program.place(index.span)}: index `{index.name}` of `{decl.name}`.",
            f"{key_cpp(index.key.type)} index_{identifier(decl.name)}_{identifier(index.name)}("
            f"[[maybe_unused]] const {cpp(decl.key)}& {key}, "
            f"[[maybe_unused]] const {value}& {held}) const {{",
            f"    return pack({code});",
            "}",
        ]
    return lines


def _indexes(shared: Shared, decl: ir.MapDecl) -> list[str]:
    if not decl.indexes:
        return []
    lines = ["    template <size_t I>", "    auto index_words(const Words& key, const Value& value) const {"]
    for number, index in enumerate(decl.indexes):
        call = f"nf->index_{identifier(decl.name)}_{identifier(index.name)}(unpack_to<{cpp(decl.key)}>(key), value)"
        lines.append(f"        if constexpr (I == {number}) return {call};")
    return [*lines, "    }"]


def _member(type: t.Type | None, path: tuple[int, ...], text: str) -> tuple[str, t.Type]:
    assert type is not None
    for i in path:
        match type:
            case t.Struct(_, fields):
                text, type = f"{text}.{identifier(fields[i][0])}", fields[i][1]
            case t.Tuple(items):
                text, type = f"std::get<{i}>({text})", items[i]
    return text, type


def _live(type: t.Type | None, path: tuple[int, ...]) -> str:
    text, row = _member(type, path, "value")
    assert isinstance(row, t.Ref)
    return f"nf->config.{identifier(row.table)}.live({text})"


def _owner(type: t.Type | None, owned: list[tuple[tuple[int, ...], str]]) -> list[str]:
    """`claim` and `release`; a claim that fails half way keeps what it claimed, as the interpreter does."""
    places = [(identifier(pool), _member(type, path, "value")[0]) for path, pool in owned]
    claims = " && ".join(f"nf->state.{pool}.claim({text})" for pool, text in places)
    releases = " ".join(f"nf->state.{pool}.release({text});" for pool, text in places)
    return [
        f"    bool claim(const Value& value) const {{ return {claims}; }}",
        f"    void release(const Value& value) const {{ {releases} }}",
    ]


# ---------------------------------------------------------------- all state


def state_struct(shared: Shared) -> tuple[list[str], list[int]]:
    """`struct State` of the NF, and the default sizes in the order of `sizes.sizes`."""
    members, inits = [], []
    defaults: list[int] = []
    for decl in shared.program.state.values():
        name, place = identifier(decl.name), len(defaults)
        defaults += of_state(decl)
        match decl:
            case ir.MapDecl():
                members.append(f"FlowMap<{camel(decl.name)}> {name};")
                inits.append(f"{name}({camel(decl.name)}{{&nf}}, nf.clock, sizes[{place}], seed + {place}, collide)")
            case ir.PoolDecl():
                members.append(f"{_pool_type(decl)} {name};")
                inits.append(f"{name}({', '.join(axes(decl, 'nf.config', f'sizes.subspan({place})'))})")
            case ir.ArrayDecl(item=item, size=size, initial=initial):
                shared.types.setdefault(item)
                value = Expressions(shared, no_trap).constant(initial, item)
                members.append(f"std::vector<{cpp(item)}> {name} = std::vector<{cpp(item)}>({size}, {value});")
            case ir.ScalarDecl(type=type, initial=initial):
                shared.types.setdefault(type)
                members.append(f"{cpp(type)} {name} = {Expressions(shared, no_trap).constant(initial, type)};")
            case ir.KindDecl(kind=kind, params=params):
                native = native_of(kind)
                members.append(f"{native.type.format(words=words(params[0]))} {name};")
                listed = ", ".join(f"sizes[{place + i}]" for i in range(len(of_state(decl))))
                inits.append(f"{name}({native.made.format(sizes=listed)})")
            case _:
                raise Unsupported(f"state {decl.name}")
    lines = ["struct State {"]
    declared = shared.program.state.values()
    lines += [f"{INDENT}{m}  // {shared.program.place(d.span)}" for m, d in zip(members, declared, strict=True)]
    unused = "[[maybe_unused]] "
    lines += [
        "",
        f"    State({unused}Nf& nf, {unused}std::span<const uint64_t> sizes, "
        f"{unused}uint64_t seed, {unused}bool collide)",
        *(initialised(inits) if inits else ["        {}"]),
        "};",
    ]
    return lines, defaults


def _pool_type(decl: ir.PoolDecl) -> str:
    item = cpp(decl.item)
    parts = [cpp(part) for part in members(decl.item) or (decl.item,)]
    return f"Pool<{item}, {identifier(decl.name)}_partition, {', '.join(parts)}>"


def axes(decl: ir.PoolDecl, config: str, sizes: str) -> list[str]:
    """The axes of a pool as they are now, as C++ vectors."""
    found, range_number = [], 0
    for axis, type in zip(decl.axes, members(decl.item) or (decl.item,), strict=True):
        if isinstance(axis, str):
            found.append(f"values_of<{cpp(type)}>({config}.{identifier(axis)})")
        else:
            at = 2 * range_number
            found.append(f"values_between<{cpp(type)}>({sizes}[{at}], {sizes}[{at + 1}])")
            range_number += 1
    return found


# ---------------------------------------------------------------- config


def config_struct(shared: Shared) -> list[str]:
    lines = ["struct Config {"]
    for decl in shared.program.config.values():
        shared.types.setdefault(decl.type)
        place = shared.program.place(decl.span)
        lines.append(f"    {table_type(decl.type)} {identifier(decl.name)}{{}};  // {place}")
    return [*lines, "};"]


def table_type(type: t.Type) -> str:
    match type:
        case t.ListOf(item):
            return f"ListTable<{cpp(item)}>"
        case t.SetOf(item):
            return f"SetTable<{cpp(item)}>"
        case t.Table():
            return table_cpp(type).table(type)
        case _:
            return cpp(type)
