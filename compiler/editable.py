"""An editable install has packages where they are: a copy, as the wheel has one, would hide them and grow old."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Editable(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            included = self.build_config.get_force_include()
            files = {source: place for source, place in included.items() if Path(source).is_file()}
            build_data["force_include_editable"] = files
