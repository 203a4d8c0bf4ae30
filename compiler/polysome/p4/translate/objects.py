"""Tables, registers and what they are made of, in C++."""

from __future__ import annotations

from collections.abc import Iterator

from polysome.p4 import program as pr
from polysome.p4.translate.names import Names, ctype, literal, member, storage, struct
from polysome.p4.types import Bits, Composite, Type, width

EXACT_ROOM = 16  # bits of a key up to which a table is an array


def composite(of: Composite) -> Iterator[str]:
    """A header or struct, all zero and not valid."""
    yield f"struct {struct(of)} {{"
    if of.header:
        yield "    bool valid = false;"
    for name, kind in of.fields:
        yield f"    {ctype(kind)} {member(name)}{{}};"
    yield "};"


def parameter(index: int, name: str) -> str:
    """A parameter in the data of a table's entry: `index` is the action's in the table."""
    return f"a{index}_{name}"


def table(t: pr.Table, actions: dict[str, pr.Action], names: Names) -> Iterator[str]:
    """The traits of a table (runtime/switch/table.hpp)."""
    widths = [_key_width(k) for k in t.keys]
    exact = all(k.kind == "exact" for k in t.keys)
    yield f"struct table_{names.of(t.name)} {{"
    yield f'    static constexpr std::string_view name = "{t.name}";'
    yield f"    static constexpr std::size_t size = {t.size};"
    yield f"    static constexpr bool fixed = {_bool(t.fixed)}, default_fixed = {_bool(t.default_constant)};"
    longest = any(k.kind == "lpm" for k in t.keys)
    yield f"    static constexpr bool all_exact = {_bool(exact)}, longest_prefix = {_bool(longest)};"
    yield f"    static constexpr unsigned key_bits = {sum(widths)};"
    kinds = ", ".join(f'KeyField{{"{k.name}", {w}, Kind::{k.kind}}}' for k, w in zip(t.keys, widths, strict=True))
    yield f"    static constexpr std::array<KeyField, {len(t.keys)}> fields{{{kinds}}};"
    yield from _action_infos(t, actions)
    yield "    struct Key {"
    yield from (f"        {storage(w)} k{i};" for i, w in enumerate(widths))
    yield "        bool operator==(const Key&) const = default;"
    yield "    };"
    yield "    struct Data {"
    yield "        std::uint8_t action = 0;"
    for i, a in enumerate(t.actions):
        yield from (f"        {ctype(p.type)} {parameter(i, p.path[0])}{{}};" for p in actions[a].params)
    yield "    };"
    yield from _key_functions(widths)
    yield from _data_function(t, actions)
    yield f"    static Data default_data() {{ return {_call(t, t.default, actions)}; }}"
    yield from _entries(t, actions)
    yield "};"


def _key_functions(widths: list[int]) -> Iterator[str]:
    casts = ", ".join(f"static_cast<{storage(w)}>(v[{i}])" for i, w in enumerate(widths))
    parameter_name = "v" if widths else ""
    yield f"    static Key key(const std::vector<u128>& {parameter_name}) {{ return {{{casts}}}; }}"
    if sum(widths) <= EXACT_ROOM:
        index = "0"
        for i, w in enumerate(widths):
            index = f"({index} << {w} | k.k{i})" if i else f"std::size_t{{k.k{i}}}"
        yield f"    static std::size_t index(const Key& {'k' if widths else ''}) {{ return {index}; }}"
    yield f"    static std::uint64_t hash(const Key& {'k' if widths else ''}) {{"
    yield "        std::uint64_t h = 0x243f6a8885a308d3ull;"
    for i, w in enumerate(widths):
        yield f"        h = detail::mix(h, static_cast<std::uint64_t>(k.k{i}));"
        if w > 64:
            yield f"        h = detail::mix(h, static_cast<std::uint64_t>(k.k{i} >> 64));"
    yield "        return h;"
    yield "    }"
    k, v, m = ("k", "v", "m") if widths else ("", "", "")
    yield f"    static bool matches(const Key& {k}, const Key& {v}, const Key& {m}) {{"
    tests = " && ".join(f"(k.k{i} & m.k{i}) == v.k{i}" for i in range(len(widths)))
    yield f"        return {tests or 'true'};"
    yield "    }"


def _action_infos(t: pr.Table, actions: dict[str, pr.Action]) -> Iterator[str]:
    infos = []
    for i, a in enumerate(t.actions):
        widths = [str(width(p.type)) for p in actions[a].params]
        yield f"    static constexpr std::array<unsigned, {len(widths)}> widths_{i}{{{', '.join(widths)}}};"
        infos.append(f'ActionInfo{{"{a}", widths_{i}}}')
    yield f"    static constexpr std::array<ActionInfo, {len(infos)}> actions{{{', '.join(infos)}}};"


def _data_function(t: pr.Table, actions: dict[str, pr.Action]) -> Iterator[str]:
    yield "    static Data data(std::uint8_t action, [[maybe_unused]] const u128* v) {"
    yield "        Data d;"
    yield "        d.action = action;"
    for i, a in enumerate(t.actions):
        params = actions[a].params
        if params:
            sets = " ".join(f"d.{parameter(i, p.path[0])} = {_from(p.type, f'v[{j}]')};" for j, p in enumerate(params))
            yield f"        if (action == {i}) {{ {sets} }}"
    yield "        return d;"
    yield "    }"


def _from(of: Type, value: str) -> str:
    return f"{value} != 0" if not isinstance(of, Bits) else f"static_cast<{ctype(of)}>({value})"


def _call(t: pr.Table, call: pr.ActionCall, actions: dict[str, pr.Action]) -> str:
    index = t.actions.index(call.action)
    if not call.args:
        return f"data({index}, nullptr)"
    values = ", ".join(literal(v, Bits(128)) for v in call.args)
    return f"data({index}, std::array<u128, {len(call.args)}>{{{values}}}.data())"


def _entries(t: pr.Table, actions: dict[str, pr.Action]) -> Iterator[str]:
    yield "    static std::vector<ConstEntry<Data>> entries() {"
    yield "        return {"
    for order, e in enumerate(t.entries):
        values = ", ".join(literal(v, Bits(128)) for v, _ in e.keys)
        masks = ", ".join(literal(m, Bits(128)) for _, m in e.keys)
        prefix = max((_prefix(m) for (_, m), k in zip(e.keys, t.keys, strict=True) if k.kind == "lpm"), default=0)
        yield f"            {{{{{{{values}}}, {{{masks}}}, {prefix}}}, {order}, {_call(t, e.call, actions)}}},"
    yield "        };"
    yield "    }"


def _prefix(mask: int) -> int:
    return mask.bit_count()


def _key_width(k: pr.Key) -> int:
    return width(k.value.type)


def _bool(value: bool) -> str:
    return "true" if value else "false"


def register(r: pr.Register, names: Names) -> Iterator[str]:
    """The traits of a register (runtime/switch/objects.hpp)."""
    pair = isinstance(r.element, Composite)
    fields = [n for n, _ in r.element.fields] if isinstance(r.element, Composite) else ["", ""]
    bits = 32 if isinstance(r.element, Composite) else r.element.width
    kind = ctype(r.element)
    yield f"struct register_{names.of(r.name)} {{"
    yield f"    using Element = {kind};"
    yield f'    static constexpr std::string_view name = "{r.name}";'
    yield f"    static constexpr std::size_t size = {r.size};"
    yield f"    static constexpr unsigned width = {bits};"
    yield f'    static constexpr std::array<std::string_view, 2> fields{{"{fields[0]}", "{fields[1]}"}};'
    initial = ", ".join(literal(v, Bits(bits)) for v in r.initial[: 2 if pair else 1])
    yield f"    static Element initial() {{ return {kind}{{{initial}}}; }}"
    if pair:
        first, second = map(member, fields)
        yield "    static std::uint64_t get(const Element& e, bool second) {"
        yield f"        return second ? e.{second} : e.{first};"
        yield "    }"
        yield "    static void set(Element& e, bool second, std::uint64_t v) {"
        yield f"        (second ? e.{second} : e.{first}) = static_cast<std::uint32_t>(v);"
        yield "    }"
    else:
        yield "    static std::uint64_t get(const Element& e, bool) { return e; }"
        yield "    static void set(Element& e, bool, std::uint64_t v) { e = static_cast<Element>(v); }"
    yield "};"
