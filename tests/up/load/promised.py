"""What the plan in a bundle promises of a packet, read as an operator reads it: by its names and words alone."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from polysome.engines.interp.seen import Eyes
from polysome.engines.trace import Trace
from polysome.interp.packet import Packet, read_bits
from polysome.testing.spec import Spec

ASKED = re.compile(r"(?P<header>.+)\.(?P<field>\w+) (?P<said>is none of|is|≥|≤|\d+ to) (?P<values>\d+(, \d+)*)")


@dataclass(frozen=True)
class Promised:
    """`plan`: plan.json."""

    plan: Any
    eyes: Eyes

    @staticmethod
    def of(bundle: Path, spec: Spec) -> Promised:
        return Promised(
            json.loads((bundle / "plan.json").read_text()), Eyes.of(spec.program, Trace(spec.config or {}, ()))
        )

    def number(self, *path: str) -> int:
        """The value of one of its numbers: `number("store", "cell")`."""
        found = self.plan
        for name in path:
            found = found[name]
        return int(found["value"])

    @property
    def split(self) -> list[Any]:
        return [way for way in self.plan["frames"] if way["number"] is not None]

    def way(self, port: int, frame: bytes) -> Any:
        """The kind of packets that are split which this one is of; None: it goes whole."""
        parking = self.plan["store"]
        packet = self.eyes.parse(port, frame)
        if parking is None or not parking["threshold"]["value"] < packet.length <= parking["longest"]["value"]:
            return None
        headers = " / ".join(self.eyes.headers(packet))
        fits = (way for way in self.split if way["headers"] == headers and self._has(packet, way["asked"]))
        return next(fits, None)

    def length(self, port: int, frame: bytes) -> int:
        """As it claims."""
        return self.eyes.parse(port, frame).length

    def _has(self, packet: Packet, asked: list[Any]) -> bool:
        for one in asked:
            said = ASKED.fullmatch(one["what"])
            assert said is not None, one["what"]
            value, values = self._value(packet, said["header"], said["field"]), said["values"].split(", ")
            if not _is(value, said["said"], *map(int, values)):
                return False
        return True

    def _value(self, packet: Packet, header: str, field: str) -> int:
        parser = self.eyes.program.parser
        i = next(i for i in packet.path if parser.instances[i].name == header)
        found = next(f for f in parser.instances[i].header.fields if f.name == field)
        return read_bits(packet.data, 8 * packet.offset[i] + found.offset, found.width, len(packet.data))


def _is(value: int, said: str, *values: int) -> bool:
    match said:
        case "is none of":
            return value not in values
        case "is":
            return value in values
        case "≥":
            return value >= values[0]
        case "≤":
            return value <= values[0]
        case _:
            return int(said.removesuffix(" to")) <= value <= values[0]
