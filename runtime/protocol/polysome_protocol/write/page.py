"""The tables of PROTOCOL.md: each stands behind a line that names it, up to the next empty line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from polysome_protocol import (
    AETH,
    BTH,
    CLOCK,
    CONTENT,
    ETHERNET,
    FRAMES,
    HASHES,
    IPV4,
    LAST_SEQ,
    MOST_SUFFIX,
    OPCODES,
    QUEUES,
    REQUESTS,
    RETH,
    ROCE,
    SYNDROMES,
    TAG,
    TOLD,
    UDP,
    VERDICTS,
    Role,
)
from polysome_protocol.headers import Field, Header

_PLACE = re.compile(r"(<!-- protocol\.toml: (\w+) -->\n)((?:\|[^\n]*\n)*)")


def written(page: str) -> str:
    """The page with all its tables as the data says. KeyError for a table that there is not."""
    return _PLACE.sub(lambda found: found[1] + "".join(f"{line}\n" for line in TABLES[found[2]]()), page)


def names(page: str) -> list[str]:
    """Of the tables that it has."""
    return [found[2] for found in _PLACE.finditer(page)]


def _headers(*headers: Header) -> Iterator[str]:
    yield "| byte | bits | field | |"
    yield "|---|---|---|---|"
    before = 0
    for header in headers:
        for field in header.fields:
            yield f"| {'' if field.first % 8 else before + field.at} {_row(field)}"
        before += header.size
    yield f"| {before} | | content | |"


def _row(field: Field) -> str:
    title = field.title or field.name.replace("_", " ")
    bits = f"{field.spare} + {field.bits - field.spare}" if field.spare else str(field.bits)
    return f"| {bits} | {'0, ' if field.spare else ''}{title} | {_about(field)} |"


class _Section:
    """`section.name` of a text stands for that number."""

    def __init__(self, numbers: Mapping[str, int]) -> None:
        self.__dict__.update(numbers)


def _about(field: Field) -> str:
    return field.about.format(**{name: _Section(told) for name, told in TOLD.items() if name != "headers"})


def _verdicts() -> Iterator[str]:
    yield "| verdict | where |"
    yield "|---|---|"
    yield f"| 0 to {VERDICTS.ports - 1} | the port of the spec with this number |"
    yield f"| {VERDICTS.set:#06x} + a mask of ports (bit i: port i) | all of these |"
    like = f"what else begins with its first {VERDICTS.proof_bits} bits is no verdict of an NF"
    yield f"| {VERDICTS.proof:#06x}, `proof` | the controller, of what it answered itself (rule 14); {like} |"
    yield f"| {VERDICTS.controller}, `controller` | the controller (rule 15) |"


def _requests() -> Iterator[str]:
    shared = IPV4.size + UDP.size + BTH.size + REQUESTS.icrc
    read, answer = shared + RETH.size, shared + AETH.size
    head, pad = TAG["seq"].size, "pad + frame"
    yield "| frame | BTH opcode | after BTH | IPv4 total length |"
    yield "|---|---|---|---|"
    yield f"| WRITE | {_hex(OPCODES.write)} | RETH {RETH.size}, the cell: {head} + {pad} | {read} + D |"
    yield f"| READ | {_hex(OPCODES.read)} | RETH {RETH.size} | {read} |"
    yield f"| response | {_hex(OPCODES.response)} | AETH {AETH.size}, the cell's first D' bytes | {answer} + D' |"
    yield f"| ACK, NAK | {_hex(OPCODES.acknowledge)} | AETH {AETH.size} | {answer} |"


def _hex(opcode: int) -> str:
    return f"0x{opcode:02X}"


def _roles() -> Iterator[str]:
    yield "| role | of a port |"
    yield "|---|---|"
    yield from (f"| {role.value} | {role.name} |" for role in Role)


def _numbers() -> Iterator[str]:
    number, psn = BTH["queue_pair"].bits, BTH["psn"].bits
    yield "| what | number |"
    yield "|---|---|"
    yield f"| the shortest frame | {FRAMES.smallest}, of which {FRAMES.smallest - CONTENT} behind the tag |"
    yield f"| `seq` | {TAG['seq'].bits - TAG['seq'].spare} bits, 1 to {LAST_SEQ:#x} |"
    yield f"| queue pair numbers, PSNs | {number} bits, {psn} bits |"
    yield f"| RoCE's UDP port, and the one that requests are from | {ROCE.port}, {ROCE.source_port:#06x} |"
    yield f"| requests' TTL, BTH flags, partition | {ROCE.ttl}, {ROCE.flags:#04x}, {ROCE.partition:#06x} |"
    yield f"| requests that ask for an acknowledgement | PSN a multiple of {REQUESTS.ack_every} |"
    yield f"| AETH's syndrome | {_syndromes()} |"
    yield f"| a cell's pad | {REQUESTS.most_pad} bytes at most |"
    yield f"| what follows a packet that was parked | {MOST_SUFFIX} bytes at most |"
    yield f"| a tick of the switch's clock | {CLOCK.tick / 1000} us, {CLOCK.bits} bits of them |"
    yield f"| queues of a port | {QUEUES.all}, and the first one, {QUEUES.first} |"
    yield f"| the hash that chooses a bucket | {HASHES.bucket} |"
    yield f"| by what programs, NFs and configs are known | {HASHES.text} |"


def _syndromes() -> str:
    of = SYNDROMES
    return f"ACK {of.ack:#04x}, NAK {of.nak:#04x} by the bits {of.kind:#04x}; of a sequence NAK {of.sequence_nak:#04x}"


TABLES: Mapping[str, Callable[[], Iterator[str]]] = {
    "tag": lambda: _headers(ETHERNET, TAG),
    "verdicts": _verdicts,
    "requests": _requests,
    "roles": _roles,
    "numbers": _numbers,
}
