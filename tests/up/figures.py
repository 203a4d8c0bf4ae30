"""What the whole-system tests measure: printed, and kept in the file that $POLYSOME_FIGURES names, as lines of JSON."""

from __future__ import annotations

import json
import os
from pathlib import Path


def record(what: str, value: float, unit: str) -> None:
    print(f"{what}: {value:.4g} {unit}")
    place = os.environ.get("POLYSOME_FIGURES")
    if place:
        with Path(place).open("a") as file:
            file.write(json.dumps({"what": what, "value": value, "unit": unit}) + "\n")
