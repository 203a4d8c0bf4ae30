"""maglev, filled as plainly as it is defined."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from polysome.ir import types as t
from polysome.kinds.hashing import encoder, key_of_seed, siphash
from polysome.testing.builtin.base import draw
from polysome.testing.builtin.lookups import NAME, Asked, Definition

PLACES = 65537  # if the spec does not say
FEW_PLACES = 4096  # so many are filled for every trace, more for one in SELDOM
SELDOM = 16


def found(asked: Asked) -> Any:
    """The row; if the table is not filled, that which the place gave before, or gives now."""
    decl, rows, look = asked.decl, asked.rows, asked.look
    size = decl.options.get("size", PLACES)
    place = look.args[0] % size
    if size <= FEW_PLACES or draw(asked.record.trace, NAME, SELDOM) == 0:
        assert isinstance(decl.type, t.Table)
        encode = encoder(decl.type.value)
        key = key_of_seed(asked.record.program.params["seed"][1])
        hashed = tuple(siphash(key, encode(row)) for row, _ in rows)
        row = filled(hashed, tuple(weight for _, weight in rows), size)[place]
        return rows[row][0]
    expected = asked.seen.setdefault((look.config, asked.version, place), look.result)
    return expected if any(row == expected and weight > 0 for row, weight in rows) else None


@lru_cache(maxsize=64)
def filled(hashes: tuple[int, ...], weights: tuple[int, ...], size: int) -> list[int]:
    """S12.1 to S12.3: the number of the row that each place belongs to."""
    places: dict[int, int] = {}
    tried = [0] * len(hashes)
    while len(places) < size:
        for row, h in enumerate(hashes):
            for _ in range(weights[row]):
                if len(places) == size:
                    break
                offset, skip = (h >> 32) % size, h % (1 << 32) % (size - 1) + 1
                while (place := (offset + tried[row] * skip) % size) in places:
                    tried[row] += 1
                places[place] = row
    return [places[i] for i in range(size)]


LOOKUP = Definition(
    found,
    "in a maglev the row of the hash's place",
    "All places of a large maglev table are filled anew for one trace in 16; for the others only that its row is "
    "there, with a weight, and the same for the same place.",
)
