"""Packets that follow from others: answers, errors that quote, others to the same end, and damage."""

from __future__ import annotations

from functools import lru_cache

from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.testing.traffic import customs, fresh
from polysome.testing.traffic.choices import Choices
from polysome.testing.traffic.constants import Wish
from polysome.testing.traffic.frames import Frame, Layer
from polysome.testing.traffic.headers import Shape
from polysome.testing.traffic.routes import Route, matched, route
from polysome.testing.traffic.world import Drawn, World, drawn


def reverse(program: ir.Program, frame: Frame) -> Frame:
    """The way back: the ends of every header change places, where the packet stays of its parse class by that."""
    found = frame.copy()
    for layer in found.layers:
        if layer.shape.instance.cut is not None:
            break
        _swap(program, layer)
    return found


def _swap(program: ir.Program, layer: Layer) -> None:
    for a, b in layer.shape.pairs:
        fixed = ((layer.shape.number, f, layer.values[f]) in matched(program) for f in (a, b))
        if not any(fixed):
            layer.values[a], layer.values[b] = layer.values[b], layer.values[a]


def hairpin(c: Choices, world: World, frame: Frame, public: Frame, port: int) -> Frame:
    """A packet from another host at `port` to where `public` came from: like `frame`, but to the source of `public`."""
    found = frame.copy()
    sources = {layer.shape.header.name: layer for layer in reversed(public.layers)}
    for layer in found.layers:
        other = sources.get(layer.shape.header.name)
        for a, b in layer.shape.pairs:
            type = layer.shape.header.fields[a].type
            if other is not None and type != t.MAC:
                layer.values[b] = other.values[a]
            if isinstance(type, t.Address) and type != t.MAC:
                layer.values[a] = c.early(world.hosts(type, port))
    return found


def touched(program: ir.Program, c: Choices, world: World, frame: Frame, port: int, peer: int) -> Frame:
    """The same frame with another value in one field of one header."""
    return _exchanged(c, world, frame, port, peer, _places(program, frame.path))


def beside(program: ir.Program, c: Choices, world: World, frame: Frame, port: int, peer: int) -> Frame:
    """The same frame with another address or port."""
    ends = [(n, field) for n, field in _places(program, frame.path) if field.role is not None]
    inner = [(n, field) for n, field in ends if field.type != t.MAC]
    return _exchanged(c, world, frame, port, peer, inner or ends)


def _exchanged(c: Choices, world: World, frame: Frame, port: int, peer: int, places: list[tuple[int, Drawn]]) -> Frame:
    found = frame.copy()
    if places:
        n, field = c.pick(places)
        found.layers[n].values[field.field] = world.value(c, field, port, peer)
    return found


@lru_cache(maxsize=4096)
def _places(program: ir.Program, path: tuple[int, ...]) -> list[tuple[int, Drawn]]:
    return [(n, field) for n, i in enumerate(path) for field in drawn(program)[i]]


def varied(c: Choices, frame: Frame) -> None:
    """Any value in a field that mostly has its default."""
    if not frame.layers:
        return
    layer = c.pick(frame.layers)
    shape = layer.shape
    fields = [f for f in range(len(layer.values)) if _harmless(shape, f)]
    if fields:
        f = c.pick(fields)
        layer.values[f] = c.number((shape.header.fields[f].width + 7) // 8) & ((1 << shape.header.fields[f].width) - 1)


@lru_cache(maxsize=4096)
def _harmless(shape: Shape, f: int) -> bool:
    field = shape.header.fields[f]
    ends = {end for pair in shape.pairs for end in pair}
    return not (field.read_only or f in shape.rules or f in ends or isinstance(field.type, t.Address))


# ---------------------------------------------------------------- quotes


@lru_cache(maxsize=64)
def quoting(program: ir.Program) -> tuple[Route, ...]:
    """Routes to packets that quote another one, the short ones first."""
    instances = program.parser.instances
    found = [n for n, path in enumerate(program.parser.classes) if any(instances[i].cut is not None for i in path)]
    return tuple(route(program, n) for n in sorted(found, key=lambda n: len(program.parser.classes[n])))


@lru_cache(maxsize=4096)
def _errors_about(program: ir.Program, path: tuple[int, ...]) -> tuple[Route, ...]:
    """The routes that quote as much as there is of a packet with this path."""
    instances = program.parser.instances
    names = [instances[i].header.name for i in path]
    best: dict[int, list[Route]] = {}
    for one in quoting(program):
        quoted = [instances[i].header.name for i in one.path if instances[i].cut is not None]
        if quoted == names[len(names) - len(quoted) :] or quoted == names[-len(quoted) - 1 : -1]:
            best.setdefault(len(quoted), []).append(one)
    return tuple(best[max(best)]) if best else ()


def error(
    program: ir.Program, c: Choices, world: World, about: Frame, port: int, peer: int, quoted: bytes
) -> Frame | None:
    """An error about a packet, to whom sent it; `quoted` are its bytes. None if the parser knows no quotes of such."""
    routes = _errors_about(program, about.path)
    if not routes:
        return None
    wanted = routes[0] if not c.chance(0.1) else c.early(routes)
    found = fresh.fresh(program, c, world, port, peer, wanted)
    about_layers = list(about.layers)
    inside = [layer for layer in found.layers if layer.shape.instance.cut is not None]
    names = [layer.shape.header.name for layer in inside]
    while about_layers and [layer.shape.header.name for layer in about_layers[: len(names)]] != names:
        about_layers.pop(0)
    for layer, other in zip(inside, about_layers, strict=False):
        layer.values, layer.rest = list(other.values), other.rest
    if not c.chance(0.1):  # else it goes to somebody whom it is not about
        _to_sender(c, found, about)
    keep = c.pick((1, 1, 0, 2))
    if keep == 0 and inside:  # the least that RFC 792 demands: 8 bytes of what follows the IP header
        _cut(found, inside)
    elif keep == 2:
        found.payload = quoted[-min(len(quoted), 64) :]
    return found


def _cut(frame: Frame, inside: list[Layer]) -> None:
    """The last quoted header with its first 8 bytes only, and nothing behind it."""
    last = inside[-1]
    least = last.shape.instance.cut
    if least is not None and last.shape.header.fixed > max(8, least):
        frame.cut, frame.payload, last.rest = max(8, least), b"", b""


def _to_sender(c: Choices, frame: Frame, about: Frame) -> None:
    """The error's own addresses: to the source of what it quotes, from its destination or somebody on the way."""
    sources = {layer.shape.header.name: layer for layer in reversed(about.layers)}
    for layer in frame.layers:
        if layer.shape.instance.cut is not None:
            return
        other = sources.get(layer.shape.header.name)
        for a, b in layer.shape.pairs if other is not None else ():
            assert other is not None
            if not c.chance(0.05):
                layer.values[b] = other.values[a]
            if c.chance(0.5):
                layer.values[a] = other.values[b]


# ---------------------------------------------------------------- damage


def damaged(program: ir.Program, c: Choices, frame: Frame) -> None:
    """Something wrong in the model of a frame; what is computed is computed as if it were right."""
    kind = c.below(6)
    if kind == 0:
        frame.trailer = bytes(c.pick((6, 1, 18, 46)))
    elif kind == 1:
        frame.wrong = c.pick((1, 0x100, 0xFFFE, 0x7FFF))
    elif kind == 2:
        frame.unsummed = True
    elif kind == 3 and any(layer.values for layer in frame.layers):
        n = c.pick([n for n, layer in enumerate(frame.layers) if layer.values])
        f = c.below(len(frame.layers[n].values))
        field = frame.layers[n].shape.header.fields[f]
        if not field.rest:
            most = (1 << field.width) - 1
            frame.forced[n, f] = c.pick((0, most, 1, 4, 5, 6, most >> 1, c.byte())) & most
            frame.repaired = c.chance(0.5)
    elif kind == 4 and len(frame.layers) > 1:  # the next header is announced, but not there
        keep = 1 + c.below(len(frame.layers) - 1)
        frame.payload = frame.payload[: c.below(8)]
        frame.layers, frame.cut = frame.layers[:keep], None
        frame.peeks = [peek for peek in frame.peeks if peek[0] < keep]
    else:
        for layer in frame.layers:
            if c.chance(0.5):
                fresh.set_rest(program, c, layer)


def mangled(c: Choices, data: bytes) -> bytes:
    """A frame cut anywhere, or with a few bytes changed."""
    if not data:
        return data
    if c.chance(0.5):
        return data[: c.below(len(data))]
    found = bytearray(data)
    for _ in range(1 + c.below(3)):
        found[c.below(min(len(data), 80))] ^= 1 << c.below(8) if c.chance(0.6) else c.byte()
    return bytes(found)


def answer(program: ir.Program, c: Choices, frame: Frame) -> Frame:
    """What the other end says next."""
    found = reverse(program, frame)
    customs.go_on(c, found, True)
    for layer in found.layers:
        for field in drawn(program)[layer.shape.number]:
            wanted = field.pool.values[Wish.WANTED] if field.pool is not None else []
            if len(wanted) > 1 and layer.values[field.field] in wanted and field.role is None and c.chance(0.6):
                layer.values[field.field] = c.pick([v for v in wanted if v != layer.values[field.field]])
    return found


def following(c: Choices, frame: Frame) -> Frame:
    """What the same end says next."""
    found = frame.copy()
    customs.go_on(c, found, False)
    return found
