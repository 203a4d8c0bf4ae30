"""The sharding of a program in words, with the lines of the spec that decide it."""

from __future__ import annotations

from collections.abc import Iterable

from polysome.analysis.shard_keys import SCHEDULE, Use, key_type
from polysome.analysis.shard_words import expression_text, key_text
from polysome.analysis.sharding import Part, Sharding, sharding
from polysome.analysis.symbolic import leaves
from polysome.analysis.words import lines_text, place
from polysome.ir import program as ir


def show_sharding(program: ir.Program) -> str:
    """A line for each port with its shard key, then the reasons: what `--print-after sharding` shows."""
    found = sharding(program)
    lines = [f"{program.ports[port]}: {key_words(program, found, port)}" for port in handled(program)]
    return "\n".join([*lines, *reasons(program)]) + "\n"


def handled(program: ir.Program) -> list[int]:
    """The ports that have a handler."""
    return sorted({port for handler in program.packet_handlers for port in handler.ports})


def key_words(program: ir.Program, found: Sharding, port: int) -> str:
    """`by flow`, or `core 0`."""
    key = found.keys[port]
    return "core 0" if key is None else f"by {expression_text(program, key)}"


def reasons(program: ir.Program) -> list[str]:
    """A sentence for each state and each thing that matters, each with its lines."""
    found = sharding(program)
    said = [sentence for part in found.parts if part.members for sentence in _members(program, part)]
    if found.free and found.spreads:
        ports = ", ".join(program.ports[port] for port in found.free)
        said.append(f"packets from {ports} use no shared state: each class of the schedule has its core")
    for name in found.own:
        said.append(f"`{name}` is `per core` ({place(program, program.state[name].span)}): each core has its own copy")
    for blocker in found.blockers:
        name = (
            blocker.state if blocker.state == SCHEDULE or blocker.state not in program.state else f"`{blocker.state}`"
        )
        said.append(f"{name} ({place(program, blocker.span)}) {blocker.reason}; {blocker.remedy}")
    return said


def _members(program: ir.Program, part: Part) -> list[str]:
    """`sticky` is keyed by flow (line 4), so packets may be spread by flow."""
    said = []
    for state, places in part.members:
        type = key_type(program, state)
        assert type is not None
        names = [name for _, _, name in leaves(type)]
        uses = [u for u in part.uses if u.state == state and not u.by_end]
        keys: dict[str, list[Use]] = {}
        for use in uses:
            keys.setdefault(_key(program, use), []).append(use)
        by = " and by ".join(f"{key} ({lines_text(program, [u.span for u in of])})" for key, of in keys.items())
        whole = len(places) == len(names) and len(keys) == 1
        spread = next(iter(keys)) if whole else _its(names, places)
        name = "the schedule" if state == SCHEDULE else f"`{state}`"
        said.append(
            f"{name} is keyed by {by}, so packets may be spread by {spread}{_lost(program, uses, names, places)}"
        )
    return said


def _key(program: ir.Program, use: Use) -> str:
    """A use's key; where it is not known as a whole, or would be long, in the words of the spec."""
    said = key_text(program, use.parts)
    if None in use.parts or (said.count(", ") >= 3 and use.said and len(use.said) < len(said)):
        said = f"`{use.said}`"
    return f"{said} through `{use.through}`" if use.through is not None else said


def _its(names: list[str], places: Iterable[int]) -> str:
    """`its src, dst`; `its member 0` of a tuple; `all of it`; `it` if the key is a single value."""
    if not any(names):
        return "it"
    if len(set(places)) == len(names):
        return "all of it"
    return "its " + ", ".join(f"member {names[i]}" if names[i].isdecimal() else names[i] for i in dict.fromkeys(places))


def _lost(program: ir.Program, uses: list[Use], names: list[str], places: tuple[int, ...]) -> str:
    """Which other parts of the key say nothing: those that are always the same, and those that some use cannot know."""
    fixed: list[int] = []
    unknown: dict[Use, list[int]] = {}
    for i in sorted(set(range(len(names))) - set(places)):
        use = next((u for u in uses if u.parts[i] is None), None)
        if use is not None:
            unknown.setdefault(use, []).append(i)
        elif _is_constant([u.parts[i] for u in uses]):
            fixed.append(i)
    said = [f"; {_its(names, fixed)} are the same for all"] if fixed else []
    said += [
        f"; {_its(names, i)} are not known from the packet in {place(program, u.span)}" for u, i in unknown.items()
    ]
    return "".join(said)


def _is_constant(parts: list[ir.Expr | None]) -> bool:
    values = {e.value if isinstance(e, ir.Const) else None for e in parts}
    return len(values) == 1 and None not in values
