"""Names of the language as C++ identifiers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from polysome.kinds.state import STATE_KINDS, brought

_CPP = """alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class
    compl concept const consteval constexpr constinit const_cast continue co_await co_return co_yield decltype default
    delete do double dynamic_cast else enum explicit export extern false float for friend goto if inline int linux long
    mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public register
    reinterpret_cast requires return short signed sizeof static static_assert static_cast struct switch template this
    thread_local throw true try typedef typeid typename union unix unsigned using virtual void volatile wchar_t while
    xor xor_eq"""
_RUNTIME = """Bucket Clock Emitter End Fifo FlowMap Link ListTable Nf None Operation Operations Parsed Police Pool
    PortVerdict PortsVerdict Prefix Protocols Put PutResult Reader Reframe Row SEED SetTable Settings Shape Taken
    Verdict WhenFull Writer Config State Fields Edits Ahead Packet Headers Drop Enum Field FrameClass Header Instance
    Layout Port absent between drop extract
    find_headers find_shape handle hash_words handles load located make name pack parse passes periods
    polysome reasons send send_to settle siphash skip std u128 unpack unpack_to why_not with_fields"""
_LOCAL = "f e a state config clock emit at key hash put index value trapped operation given seen"
# Macros of C, Linux and DPDK that are not called as the others are.
_MACROS = """errno h_addr h_errno ip6_flow ip6_hlim ip6_hops ip6_nxt ip6_plen ip6_vfc math_errhandling rte_errno s6_addr
    st_atime st_ctime st_mtime stderr stdin stdout typeof"""
_MACRO = re.compile("|".join(["[A-Z][A-Z0-9_]*", *_MACROS.split()]))
# What generated functions call their own things; locals keep clear of them.
OWN = frozenset(_LOCAL.split())


def identifier(name: str, taken: Iterable[str] = ()) -> str:
    """`name` as an identifier that is none of `taken`: `icmp.quoted.ipv4` is icmp_quoted_ipv4, `vlan[0]` vlan_0.

    Nor is it a macro of C, Linux or DPDK: what is called as most of them are, as `EOF`, may be one.
    """
    plain = word(name, taken)
    return word(f"{plain}_", taken, end="_") if _MACRO.fullmatch(plain) else plain


def word(name: str, taken: Iterable[str] = (), end: str = "") -> str:
    """The same, of what may be called as a macro is: an NF, whose files have its name. `end`: what it ends with."""
    plain = re.sub(r"\W+", "_", name).strip("_") or "x"
    if plain[0].isdigit():
        plain = f"x{plain}"
    plain = re.sub(r"__+", "_", plain) + end
    while plain in _taken() or plain in taken:
        plain += "_"
    return plain


@cache
def _taken() -> frozenset[str]:
    """Words of C++, and what an NF's name space has from runtime/nf and from kinds of state and tables."""
    states = [kind.native.type.partition("<")[0] for kind in STATE_KINDS.values() if kind.native is not None]
    tables = [name for table in brought("cpp").values() for name in table.names]
    return frozenset([*_CPP.split(), *_RUNTIME.split(), *states, *tables])


def unique(names: Iterable[str], taken: Iterable[str] = ()) -> list[str]:
    """Identifiers for several names, no two of them the same."""
    found: list[str] = []
    for name in names:
        found.append(identifier(name, {*taken, *found}))
    return found


def camel(name: str) -> str:
    """`ct.connections` as the name of a type: CtConnections."""
    return "".join(part[:1].upper() + part[1:] for part in re.split(r"\W+|_", name) if part) + "Map"
