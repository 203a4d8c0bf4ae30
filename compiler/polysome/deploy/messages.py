"""The messages of runtime/control/control.proto, as the controller has them: one file, generated once, is both's."""

from __future__ import annotations

import importlib
import sys
from functools import cache
from pathlib import Path
from typing import Any

from polysome.deploy.errors import DeployError
from polysome.resources import folder


@cache
def control() -> Any:
    """The module `control_pb2`. DeployError, code 3, if Protocol Buffers are not installed."""
    place = str(folder("runtime") / "controller")
    if place not in sys.path:
        sys.path.append(place)
    try:
        return importlib.import_module("polysome_controller.control_pb2")
    except ModuleNotFoundError as error:
        raise DeployError(f"Python's module `{error.name}` is not here", "pip install grpcio protobuf") from None


def read(path: Path, message: str) -> Any:
    """A configuration: the file's JSON as a `message`. DeployError, code 2, with what is wrong with the file."""
    kind = getattr(control(), message)
    from google.protobuf import json_format

    try:
        return json_format.Parse(path.read_text(encoding="utf-8"), kind())
    except OSError as error:
        raise DeployError(f"{path} cannot be read: {error.strerror}", _ANEW, code=2) from None
    except (json_format.ParseError, UnicodeDecodeError) as error:
        raise DeployError(f"{path} is no {message}: {error}", _ANEW, code=2) from None


_ANEW = "Make the bundle anew with `polysome compile`."


def text(message: Any) -> str:
    """A message as JSON, its names as control.proto has them."""
    from google.protobuf import json_format

    return str(json_format.MessageToJson(message, preserving_proto_field_name=True)) + "\n"
