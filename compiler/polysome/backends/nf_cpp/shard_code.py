"""The core that decides a packet, as C++ (`interp.sharded` is the meaning)."""

from __future__ import annotations

from polysome.analysis.sharding import shard_key, sharding
from polysome.backends.nf_cpp.constants_code import port_names
from polysome.backends.nf_cpp.expression_code import Shared
from polysome.backends.nf_cpp.state_expressions import Expressions
from polysome.backends.nf_cpp.types_code import canonical, canonical_size


def shard_functions(shared: Shared) -> list[str]:
    """`Nf::core`; nothing for an NF that runs on one core."""
    program = shared.program
    if not sharding(program).spreads:
        return []
    cases: list[str] = []
    most = 8  # room for a word: g++ cannot see that of fewer bytes none is read as a whole
    for port, name in enumerate(port_names(program)):
        key = shard_key(program, port)
        if key is not None:
            shared.types.setdefault(key.type)
            most = max(most, canonical_size(key.type))
            e = Expressions(shared, lambda reason: "return 0;", arrival=True)
            cases += [
                f"    case {name}: {{",
                f"        const auto key = {e.code(key)};",
                *("        " + line for line in canonical(key.type, "key", "writer")),
                "        break;",
                "    }",
            ]
    return [
        "/// The core that decides the packet: its shard key's canonical bytes, hashed; 0 if its port has no key.",
        "template <class F>",
        "uint32_t core_of(const F& f, uint32_t cores) const {",
        f"    uint8_t bytes[{most}];",
        "    Writer writer(bytes);",
        "    switch (f.in_port) {",
        *cases,
        "    default:",
        "        return 0;",
        "    }",
        "    return static_cast<uint32_t>(siphash(SEED, bytes, writer.size()) % cores);",
        "}",
        "uint32_t core(const Packet& p, uint32_t cores) const {",
        "    return with_fields(p, [&](const auto& f) { return core_of(f, cores); });",
        "}",
    ]
