"""Frames that begin something: a parse class, values for its fields, a payload."""

from __future__ import annotations

from functools import lru_cache

from polysome.analysis.layout import WIRE, layout
from polysome.ir import program as ir
from polysome.ir.walk import walk
from polysome.testing.traffic import customs, rows
from polysome.testing.traffic.choices import Choices, Weighted
from polysome.testing.traffic.constants import Bits, constants
from polysome.testing.traffic.frames import Frame, Layer
from polysome.testing.traffic.groups import groups
from polysome.testing.traffic.headers import Shape, shapes, size_of, valid
from polysome.testing.traffic.routes import PEEK, Pins, Route, Step, route, selects
from polysome.testing.traffic.world import World, drawn

_FILL = bytes((n * 7 + (n >> 8)) & 0xFF for n in range(70_000))
_BROKEN = 0.09  # share of frames in which a header is announced, but not there
_LARGEST = 65_535 - 200  # bytes of payload: what fits under an IP length with options and tunnels


def fresh(program: ir.Program, c: Choices, world: World, port: int, peer: int, wanted: Route | None = None) -> Frame:
    """A well-formed frame that takes a route, any if none is wanted."""
    if wanted is None:
        wanted = route(program, c.of(c.of(groups(program, port)).classes))
    content = _content(program, c)
    broken = not wanted.chains or (bool(wanted.broken) and c.chance(_BROKEN))
    pins, chain = _pinned(c, wanted.broken if broken else wanted.chains)
    frame = Frame([], missing=broken)
    for i in wanted.path:
        frame.layers.append(_layer(program, c, world, shapes(program)[i], pins, port, peer))
    rows.meet(program, c, world, frame)
    _peeks(frame, chain)
    frame.payload = _cut_off(program, c, frame, chain) if broken else content
    return frame


def _pinned(c: Choices, chains: tuple[tuple[Step, ...], ...]) -> tuple[Pins, list[tuple[Step, Pins]]]:
    """Values that lead along one of the chains; those of later steps agree with those of earlier ones."""
    chain = chains[c.below(len(chains)) if len(chains) > 1 else 0]
    pins: Pins = {}
    taken = []
    for step in chain:
        fitting = [
            p for p in step.pins if all(leaf[0] == PEEK or pins.get(leaf, value) == value for leaf, value in p.items())
        ] or list(step.pins)
        chosen = c.pick(fitting[:2]) if len(fitting) <= 2 or not c.chance(0.3) else c.early(fitting)
        pins |= {leaf: value for leaf, value in chosen.items() if leaf[0] != PEEK}
        taken.append((step, chosen))
    return pins, taken


def _layer(program: ir.Program, c: Choices, world: World, shape: Shape, pins: Pins, port: int, peer: int) -> Layer:
    layer = Layer(shape, list(shape.base))
    for field in drawn(program)[shape.number]:
        layer.values[field.field] = world.value(c, field, port, peer)
    customs.begin(c, layer)
    for f in free_choices(program)[shape.number]:
        if (shape.number, f) not in pins and c.chance(0.12):
            layer.values[f] = c.below(1 << min(shape.header.fields[f].width, 16))
    for (i, f), value in pins.items():
        if i == shape.number:
            layer.values[f] = value
    set_rest(program, c, layer)
    return layer


@lru_cache(maxsize=64)
def free_choices(program: ir.Program) -> tuple[tuple[int, ...], ...]:
    """By instance: fields that select the way or the size, but not always, and no length: flags, next headers."""
    found = []
    for shape in shapes(program):
        valid = {n.field for n in walk(shape.header.valid) if isinstance(n, ir.HeaderField)}
        plain = {f for i, f in selects(program) if i == shape.number} | set(shape.rules)
        if shape.next is not None:
            plain.add(shape.next)
        found.append(tuple(sorted(f for f in plain - valid if f not in shape.lengths)))
    return tuple(found)


def set_rest(program: ir.Program, c: Choices, layer: Layer) -> None:
    """Options of a size that the header can have, mostly the least."""
    shape = layer.shape
    if shape.rest is None:
        return
    if shape.rests is None:
        size = max(0, size_of(program, shape.header, layer.values) - shape.header.fixed)
    else:
        size = shape.rests[0] if not c.chance(0.1) else c.pick(shape.rests)
    layer.rest = bytes(size) if not size or not c.chance(0.25) else _FILL[1 : 1 + size]  # zeros: padding, if options


def _peeks(frame: Frame, chain: list[tuple[Step, Pins]]) -> None:
    """What the parser looks at behind headers."""
    done = -1
    for step, pins in chain:
        done += step.extracts
        for (i, bits), value in pins.items():
            if i == PEEK:
                frame.peeks.append((done, bits, step.peeked, value & step.peeked))


def _cut_off(program: ir.Program, c: Choices, frame: Frame, chain: list[tuple[Step, Pins]]) -> bytes:
    """What is there of a header that is announced: nothing only where the one that announces it may be the last thing
    (an IPv6 header with nothing of its hop-by-hop header would be a jumbogram's).
    """
    missing = _missing(program, chain)
    size = c.below(missing)
    if not size and missing > 1 and frame.layers:
        last = frame.layers[-1]
        header, lengths = last.shape.header, last.shape.lengths
        size = 0 if valid(program, header, lengths, list(last.values), header.fixed + len(last.rest), 0) else 1
    return _FILL[:size]


def _missing(program: ir.Program, chain: list[tuple[Step, Pins]]) -> int:
    """How many bytes are too few for the header that should come."""
    target = chain[-1][0].target if chain else 0
    instance = program.parser.nodes[target].instance
    if instance is None:
        return 1
    found = program.parser.instances[instance]
    least = found.header.fixed if found.cut is None else min(found.cut, found.header.fixed)
    return max(1, least)


# ---------------------------------------------------------------- payload


@lru_cache(maxsize=64)
def _lengths(program: ir.Program) -> tuple[Weighted[int], Weighted[int], Weighted[int]]:
    """Lengths of payloads; of whole frames; and of large frames."""
    found = constants(program)
    reads = sorted({n for length in found.lengths for n in (length - 1, length, length + 1) if n >= 0})
    payloads = Weighted([(8, 5.0), (0, 2.0), (1, 1.0), (40, 1.0), (100, 1.0), *((n, 0.7) for n in reads)])
    splits = sorted({WIRE.frame(one.fields_size) for one in layout(program).classes if one.whole is None})
    edges = dict.fromkeys(n + d for n in (WIRE.minimum, *splits[:4]) for d in (0, -1, 1))
    frames = Weighted([*((n, 1.0) for n in edges), (1514, 3.0), (576, 1.0), (1280, 0.5)])
    parts = [size // part for size in found.sizes for part in (1, 2, 4)]  # so that few packets are a burst
    sizes = [n + d for n in parts for d in (0, 14, -1, 1) if 0 < n <= _LARGEST]
    large = Weighted([(1514, 6.0), (1300, 2.0), (9014, 1.0), *((n, 6.0 / len(sizes)) for n in sizes)])
    return payloads, frames, large


def set_length(program: ir.Program, c: Choices, frame: Frame, mood: str) -> None:
    """Another length of the payload: `mood` is small, any or large."""
    payloads, frames, large = _lengths(program)
    if mood == "small" or (mood == "any" and c.chance(0.6)):
        size = c.of(payloads)
    else:
        head = sum(layer.shape.header.fixed + len(layer.rest) for layer in frame.layers)
        size = c.of(large if mood == "large" else frames) - head
    size = max(0, min(size, _LARGEST))
    have = frame.payload[:size]
    frame.payload = have + _FILL[len(have) : size]


def _near(c: Choices, bits: Bits) -> int:
    """What is looked for, mostly; one more or less, or with another bit, rather where there are few."""
    near = bits.value + c.pick((0, 0, 0, 0, 0, 0, 1, -1))
    if bits.width and c.chance(0.25 if bits.width <= 8 else 0.1):
        near ^= 1 << c.below(bits.width)
    return near & ((1 << bits.width) - 1)


def _content(program: ir.Program, c: Choices) -> bytes:
    """A short payload, with what the program looks for in it."""
    payload = bytearray(_FILL[:8])
    for (low, high), several in constants(program).looked_for.items():
        if several and c.chance(0.6):
            value = c.byte() if c.chance(0.2) else 0
            for bits in (bits for _ in range(c.pick((1, 1, 2))) for bits in c.pick(several)):
                mask = (1 << bits.width) - 1
                value = value & ~(mask << bits.low) | _near(c, bits) << bits.low
            payload.extend(_FILL[len(payload) : high])
            payload[low:high] = (value & ((1 << 8 * (high - low)) - 1)).to_bytes(high - low, "big")
    return bytes(payload)
