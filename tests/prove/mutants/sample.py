"""Which mutants are tried: a seeded choice over the examples, with something of every kind of change."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from functools import lru_cache

from tests.prove.mutants.changes import Mutant, mutants
from tests.prove.spec.kit import NAMES, example

from polysome.backends.system.proof import case_of
from polysome.plan.design import default_design
from polysome.prove.case import Case

SEED, COUNT = 14, 500


@lru_cache(maxsize=2)
def case(name: str) -> Case:
    """What is to be proved of an example on the site that fits its load."""
    return case_of(default_design(example(name).program))


def chosen(found: Iterable[Mutant], count: int, rng: random.Random) -> list[Mutant]:
    """`count` of the mutants: in turn one of each region and kind, as long as there are any."""
    groups: dict[tuple[str, str], list[Mutant]] = {}
    for mutant in found:
        groups.setdefault((mutant.region, mutant.kind), []).append(mutant)
    for group in groups.values():
        rng.shuffle(group)
    order = list(groups.values())
    rng.shuffle(order)
    picked: list[Mutant] = []
    while len(picked) < count and any(order):
        picked += [group.pop() for group in order if group]
    return picked[:count]


def sample(name: str, count: int = COUNT, seed: int = SEED, names: Sequence[str] = NAMES) -> list[Mutant]:
    """What is tried of an example if `count` mutants of the examples `names` are; the same for the same seed."""
    n = names.index(name)
    share = count * (n + 1) // len(names) - count * n // len(names)
    return chosen(mutants(case(name).p4), share, random.Random(f"{seed} {name}"))
