"""Values of a site file, as types of pydantic: quantities, addresses, names, ports.

Quantities and addresses are written as in configuration files and become ints (ns, bytes, bit/s; big-endian). What is
wrong with a value is an error with all that its diagnostic says (`told`), or with what was expected (`shape`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, GetCoreSchemaHandler, ValidationInfo
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from polysome.config.items import Item
from polysome.config.scalars import Wrong, WrongShape, scalar
from polysome.ir import types as t
from polysome.plan import targets
from polysome.plan.site import PCI
from polysome.plan.targets import Switch
from polysome.resources import architectures
from polysome.syntax.diagnostics import one_of
from polysome.syntax.spans import Span

PORT = "A port is a device port's number, or a name that `names` of `[switch]` gives one."
NOWHERE = Span("", 0, 0)


@dataclass
class Around:
    """The validation context: the switch, once it is read, for the ports of the tables behind it.

    `architecture`: what goes before the file's.
    """

    chip: Switch | None = None
    names: dict[str, int] = field(default_factory=dict)
    architecture: str | None = None


def told(code: str, message: str, why: str, mend: str, at: str = "") -> PydanticCustomError:
    """An error that says all of its diagnostic; `at`: the member of the validated table where it stands."""
    context = {"code": code, "message": message, "why": why, "mend": mend, "at": at}
    return PydanticCustomError("told", "{message}", context)


def shape(expected: str, why: str) -> PydanticCustomError:
    """Not even the right form; the field's example shows the mend."""
    return PydanticCustomError("shape", "{expected}", {"expected": expected, "why": why})


@dataclass(frozen=True)
class Written:
    """A value of a type of the language, as configuration files write it (config.scalars)."""

    type: t.Type

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_before_validator_function(self.read, handler(source))

    def read(self, value: Any) -> int:
        try:
            found = int(scalar(Item(value, NOWHERE), self.type, ()))
        except Wrong as error:
            mend = "" if error.message.endswith("has no unit") else error.mend  # the field's example has a likely one
            raise told(error.code, error.message, error.why, mend) from None
        except WrongShape as error:
            raise shape(error.expected, f"This is a {self.type}.") from None
        if isinstance(self.type, t.Address):
            _one_machine(value, found, self.type)
        return found


def _one_machine(text: str, value: int, type: t.Address) -> None:
    """Zero, multicast and broadcast are addresses, but of no machine."""
    group = value >> 40 & 1 if type.name == "mac" else value >> 28 >= 0xE
    if value == 0 or group:
        kinds = "with an odd first byte" if type.name == "mac" else "from 224.0.0.0 up"
        why = f"All zeros is nobody's, and those {kinds} are of groups."
        raise told("E1009", f'"{text}" is the address of no machine', why, "Give the address of this one's interface.")


@dataclass(frozen=True)
class Form:
    """A text of a form; E1009 else."""

    pattern: str
    what: str
    why: str

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self.read, handler(source))

    def read(self, value: str) -> str:
        if not re.fullmatch(self.pattern, value, re.ASCII):
            raise told("E1009", f'"{value}" is no {self.what}', self.why, "")
        return value


def _address(value: Any) -> Any:
    """Of a management port: checked, and kept as it is written."""
    Written(t.Address("ipv4", 32)).read(value)
    return value


def _endpoint(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    address, colon, port = value.rpartition(":")
    if not colon or not re.fullmatch(r"[1-9]\d{0,4}", port, re.ASCII) or int(port) > 65535:
        why = "It is an IPv4 address of the machine, or 0.0.0.0 for all of them, and a TCP port: ADDRESS:PORT."
        raise told("E1009", f'"{value}" is no address to listen on', why, "")
    if address != "0.0.0.0":
        Written(t.Address("ipv4", 32)).read(address)
    return value


def target(part: str, what: str) -> BeforeValidator:
    """The name of a model that has this table; E1305 else."""

    def read(value: Any) -> Any:
        if isinstance(value, str) and value not in targets.known(part):
            why = "A model is a folder of `targets` that holds what is known of the hardware."
            raise told("E1305", f"there is no {what} model `{value}`", why, one_of(value, targets.known(part)))
        return value

    return BeforeValidator(read)


def _architecture(value: Any) -> Any:
    if isinstance(value, str) and value not in architectures():
        why = "An architecture says where packets wait while the NF decides."
        raise told("E1305", f"there is no architecture `{value}`", why, one_of(value, architectures()))
    return value


def around_of(info: ValidationInfo) -> Around:
    """The context of this validation."""
    assert isinstance(info.context, Around)
    return info.context


def _device_port(value: Any, info: ValidationInfo) -> int:
    """By number, or by a name of `names`: E1303 if there is no such port."""
    around = around_of(info)
    chip, names = around.chip, around.names
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        raise shape("a port", PORT)
    if chip is None:  # nothing can be said while the switch itself is wrong
        return 0
    if isinstance(value, str) and value not in names:
        mend = one_of(value, names) if names else f'Write `names = {{ "{value}" = 0 }}` with its number.'
        raise told("E1303", f"the switch has no port named `{value}`", PORT, mend)
    number = names[value] if isinstance(value, str) else value
    pipe, at = divmod(number, chip.ports_per_pipe)
    if 0 <= pipe < chip.pipes and chip.first_port <= at <= chip.last_port:
        return number
    raise told(
        "E1303",
        f"`{chip.name}` has no front-panel port {number}",
        f"Its device ports are {chip.first_port} to {chip.last_port} in pipe 0, {chip.ports_per_pipe} more "
        f"in each further one of {chip.pipes}.",
        "Give a device port of the pipe where the others are.",
    )


def _several(value: Any) -> Any:
    return value if isinstance(value, list) else [value]


Bytes = Annotated[int, Written(t.Quantity("bytes"))]
Duration = Annotated[int, Written(t.Quantity("duration"))]
BitRate = Annotated[int, Written(t.Quantity("bitrate"))]
Mac = Annotated[int, Written(t.Address("mac", 48))]
Ip = Annotated[int, Written(t.Address("ipv4", 32))]
Management = Annotated[str, BeforeValidator(_address)]
Endpoint = Annotated[str, BeforeValidator(_endpoint)]
TcpPort = Annotated[int, Field(ge=1, le=65_535)]
ArchitectureName = Annotated[str, BeforeValidator(_architecture)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
SomeShare = Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)]
DevicePort = Annotated[int, BeforeValidator(_device_port)]
DevicePorts = Annotated[list[DevicePort], BeforeValidator(_several), Field(min_length=1, examples=[0])]
Core = Annotated[int, Field(ge=0, le=1023)]
Label = Annotated[
    str,
    Form(
        r"[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?",
        "name of a machine",
        "It is a DNS name's label, since certificates have it: 1 to 40 of a-z, 0-9 and, inside, `-`.",
    ),
]
Interface = Annotated[
    str,
    Form(
        r"(?!\.\.?$)[A-Za-z0-9_.-]{1,15}",
        "network interface",
        "`ip link` lists them; Linux allows 15 characters.",
    ),
]
Setting = Annotated[
    str,
    Form(
        r"\S[^\n]{0,199}",
        "setting",
        "It is the name of the setting as people know it, in one line of up to 200 characters.",
    ),
]
NfNic = Annotated[
    str,
    Form(
        rf"{PCI}|(?!\.\.?$)[A-Za-z0-9_.-]{{1,15}}",
        "PCI address and no network interface",
        "For DPDK it is a PCI address as `lspci -D` shows it, 0000:3b:00.0; else an interface of `ip link`.",
    ),
]
RdmaNic = Annotated[
    str,
    Form(
        r"[A-Za-z0-9_-]{1,63}",
        "RDMA device",
        "`ibv_devices` lists them; `soft` is a program that answers like one.",
    ),
]
