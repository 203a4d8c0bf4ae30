"""What hosts usually do next, by the protocols of the standard library: so that conversations get somewhere.

Only how likely a value is; every value can come.
"""

from __future__ import annotations

from functools import lru_cache

from polysome.testing.traffic.choices import Choices
from polysome.testing.traffic.frames import Frame, Layer
from polysome.testing.traffic.headers import Shape

_FLAGS = ("syn", "ack", "fin", "rst")
SYN, ACK, FIN, RST = 1, 2, 4, 8
# The answer to a type of message, both ways (RFC 792, RFC 4443, RFC 826).
_ANSWERS = {
    ("icmp", "type"): {8: 0, 0: 8, 13: 14, 14: 13},
    ("icmpv6", "type"): {128: 129, 129: 128},
    ("arp", "operation"): {1: 2, 2: 1},
}
_FIRST = (SYN, SYN, SYN, SYN, SYN, SYN, ACK, SYN | ACK, RST, FIN | ACK, 0, SYN | FIN)
_LATER = (ACK, ACK, FIN | ACK, ACK, FIN, RST, SYN, SYN | ACK, RST | ACK, 0)


@lru_cache(maxsize=1024)
def flags_of(shape: Shape) -> tuple[int, ...]:
    """The fields syn, ack, fin and rst (RFC 9293, section 3.1); empty if a header does not have them all as bits."""
    found = [shape.header.index(name) for name in _FLAGS]
    if any(f is None or shape.header.fields[f].width != 1 for f in found):
        return ()
    return tuple(f for f in found if f is not None)


def begin(c: Choices, layer: Layer) -> None:
    """The first packet of a conversation."""
    if flags := flags_of(layer.shape):
        _set(layer, flags, c.pick(_FIRST))


def go_on(c: Choices, frame: Frame, answering: bool) -> None:
    """The next packet after one like `frame`: from the other side (`answering`) or the same."""
    for layer in frame.layers:
        if layer.shape.instance.cut is not None:
            return
        if flags := flags_of(layer.shape):
            last = sum(bool(layer.values[f]) << n for n, f in enumerate(flags))
            _set(layer, flags, _next(c, last, answering))
        elif answering:
            _answer(layer)


def _next(c: Choices, last: int, answering: bool) -> int:
    if c.chance(0.25):
        return c.pick(_LATER) if c.chance(0.7) else c.below(16)
    if last & SYN:
        return (ACK if last & ACK else SYN | ACK) if answering else SYN if not last & ACK else last
    if last & FIN and answering:
        return FIN | ACK if c.chance(0.6) else ACK
    return ACK if not c.chance(0.2) else c.pick((FIN | ACK, RST, SYN))


def _set(layer: Layer, flags: tuple[int, ...], value: int) -> None:
    for n, f in enumerate(flags):
        layer.values[f] = value >> n & 1


def _answer(layer: Layer) -> None:
    for (header, name), answers in _ANSWERS.items():
        if layer.shape.header.name == header:
            f = layer.shape.header.index(name)
            if f is not None:
                layer.values[f] = answers.get(layer.values[f], layer.values[f])
