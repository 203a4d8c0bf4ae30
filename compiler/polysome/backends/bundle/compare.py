"""What a new bundle means for the machines that run an old one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from polysome.backends.bundle.compare_inputs import Inputs, numbers, values
from polysome.backends.bundle.opened import Bundle
from polysome.backends.bundle.parts import Role, parts_of
from polysome.plan.site import SOFT_SWITCHES


class Change(StrEnum):
    """From the mildest on."""

    unchanged = "unchanged"
    configuration = "new configuration"
    restart = "restart"
    program = "new P4 program"
    new = "new machine"
    gone = "gone"


EFFECTS = {
    ("switch", Change.configuration): "the controller starts anew; traffic goes on",
    (
        "switch",
        Change.restart,
    ): "all traffic stops until the switch runs again and the controller has filled its tables",
    ("switch", Change.program): "the pipeline is loaded anew: all traffic stops meanwhile, and parked packets are lost",
    ("nf", Change.configuration): "reloaded by the controller between two packets; nothing is lost",
    ("nf", Change.restart): "the next process goes on with its state, and the switch holds its frames meanwhile",
}
STATE_LOST = "its state is made up in another way, so it is lost, with the packets that it holds"


@dataclass(frozen=True)
class MachineChange:
    """`effect`: what is lost; "" if nothing is. `reasons`: what of the inputs has changed, or which files."""

    name: str
    role: str
    change: Change
    effect: str
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class Difference:
    """`inputs`: all that people have changed; `machines`: in the order in which they are updated."""

    nf: str
    inputs: Inputs
    machines: tuple[MachineChange, ...]

    @property
    def worst(self) -> Change:
        order = list(Change)
        return max((m.change for m in self.machines), key=order.index, default=Change.unchanged)


def compare(old: Bundle, new: Bundle) -> Difference:
    """Both are of the same NF."""
    inputs = Inputs.of(old, new)
    names = [*new.machines, *(name for name in old.machines if name not in new.machines)]
    return Difference(new.about["nf"], inputs, tuple(_machine(name, old, new, inputs) for name in names))


def _machine(name: str, old: Bundle, new: Bundle, inputs: Inputs) -> MachineChange:
    before, after = old.machines.get(name), new.machines.get(name)
    if after is None:
        return MachineChange(name, str(before), Change.gone, "nothing of this NF runs there any more", ())
    if before is None:
        return MachineChange(name, after, Change.new, "it is installed and started", ())
    if before != after:
        why = (f"it was of the role {before}",)
        return MachineChange(name, after, Change.new, "what ran there goes, and it is installed anew", why)
    own = parts_of(new.about["architecture"]).roles.get(after)
    find = {"switch": _switch, "nf": _nf}
    found = list(find[after](name, old, new, inputs) if own is None else _own(own, name, old, new, inputs))
    order = list(Change)
    worst = max((change for change, _ in found), key=order.index, default=Change.unchanged)
    reasons = tuple(dict.fromkeys(why for change, whys in found if change is worst for why in whys))
    anew = worst is Change.restart and after == "nf" and old.about.get("state") != new.about.get("state")
    return MachineChange(name, after, worst, _effect(after, own, worst, anew), reasons)


def _effect(role: str, own: Role | None, change: Change, anew: bool) -> str:
    if anew:
        return STATE_LOST
    return own.restarted if own is not None and change is Change.restart else EFFECTS.get((role, change), "")


Found = Iterator[tuple[Change, Iterable[str]]]


def _switch(name: str, old: Bundle, new: Bundle, inputs: Inputs) -> Found:
    model = old.about["switch"], new.about["switch"]
    if model[0] != model[1]:
        yield Change.program, [f"model: {model[0]} -> {model[1]}"]
    changed = _changed(_p4(old), _p4(new))
    if changed:
        yield Change.program, [*inputs.packets, *numbers(old, new), *inputs.toolchain] or changed
    if new.about["switch"] in SOFT_SWITCHES:
        soft = _changed(old.program(old.below("switch/soft")), new.program(new.below("switch/soft")))
        yield from _both(Change.restart, _or(inputs.toolchain, soft))
        yield from _both(Change.restart, values(old, new, "switch/soft.json"))
    yield from _both(Change.restart, _file(old, new, "switch/polysome-switch.service"))
    yield from _both(Change.configuration, values(old, new, "switch/controller.json"))
    yield from _both(Change.configuration, _or(inputs.toolchain, _folder(old, new, "switch/controller")))
    yield from _both(Change.configuration, _file(old, new, "switch/polysome-controller.service"))


def _own(role: Role, name: str, old: Bundle, new: Bundle, inputs: Inputs) -> Found:
    """A machine of the architecture's own."""
    yield from _both(Change.restart, values(old, new, f"{role.folder}/{name}.json"))
    changed = _changed(old.program(role.program), new.program(role.program))
    yield from _both(Change.restart, _or(inputs.toolchain, changed))
    yield from _both(Change.restart, _file(old, new, role.unit))


def _nf(name: str, old: Bundle, new: Bundle, inputs: Inputs) -> Found:
    changed = _changed(_nf_program(old), _nf_program(new))
    why = [*inputs.packets, *inputs.params, *inputs.spec, *inputs.toolchain]
    yield from _both(Change.restart, _or(why, changed))
    yield from _both(Change.restart, values(old, new, f"nf/{name}.json"))
    yield from _both(Change.restart, _file(old, new, "nf/polysome-nf.service"))
    if old.digests.get("nf/config.bin") != new.digests.get("nf/config.bin"):
        yield Change.configuration, inputs.tables or ["nf/config.bin"]


# ---------------------------------------------------------------- files


def _p4(bundle: Bundle) -> dict[str, str]:
    return {
        path: digest for path, digest in bundle.digests.items() if path.startswith("switch/") and path[-3:] == ".p4"
    }


def _nf_program(bundle: Bundle) -> dict[str, str]:
    """What the hosts behind a switch are built from."""
    own = [path for path in bundle.below("nf") if path.count("/") == 1 and path.startswith("nf/fields_")]
    return bundle.program(["nf/CMakeLists.txt", *own, *bundle.below("nf/nf")])


def _changed(old: Mapping[str, str], new: Mapping[str, str]) -> list[str]:
    """Paths, as reasons where no input says more."""
    names = [path for path in sorted({*old, *new}) if old.get(path) != new.get(path)]
    return [f"{names[0]} and {len(names) - 1} more files"] if len(names) > 3 else names


def _folder(old: Bundle, new: Bundle, name: str) -> list[str]:
    before, after = ({path: bundle.digests[path] for path in bundle.below(name)} for bundle in (old, new))
    return _changed(before, after)


def _file(old: Bundle, new: Bundle, path: str) -> list[str]:
    return [path] if old.digests.get(path) != new.digests.get(path) else []


def _or(better: Iterable[str], changed: list[str]) -> list[str]:
    """Reasons for what has changed, the better ones if there are any."""
    return (list(better) or changed) if changed else []


def _both(change: Change, why: Iterable[Any]) -> Found:
    reasons = list(why)
    if reasons:
        yield change, reasons
