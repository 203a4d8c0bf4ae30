"""How many packets are split and how many go whole, as far as somebody knows, and at worst where nobody does."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from polysome.plan import frames
from polysome.plan.model import Frames, Mix, Traffic, Window
from polysome.plan.numbers import Number, ceil_div
from polysome.plan.site import Site
from polysome.syntax.diagnostics import listed

SAY = "`whole` under `[plan]` of a site file says how many there are"


def mix(site: Site, load: Traffic, found: Sequence[Frames], window: Window | None) -> Mix:
    """What is planned for on the NF link, and on the links of RDMA servers.

    Where the site does not say how many packets go whole, all may be of any kind that is usual: what some of these
    kinds ask of a link, it must carry for all packets.
    """
    packets, mean = load.packets.value, load.mean.value
    if window is None:
        return _mix(packets, 0, "all: no packet is split", "none: no packet is split")
    if not window.threshold.value < mean <= window.longest.value:
        why = "short" if mean <= window.threshold.value else "long"
        words = f"packets of the mean length are too {why} to be split"
        return _mix(packets, 0, f"all: {words}", f"none: {words}")
    if site.whole is not None:
        return _said(site, load, window, site.whole)
    split = [f for f in found if f.usual and f.number is not None]
    whole = [f for f in found if f.usual and f.number is None]
    if whole:
        may = f"all, at worst: {_named(whole)} {'go' if len(whole) > 1 else 'goes'} whole, and {SAY}"
        if not split:
            return _mix(packets, 0, may, "none: no usual kind of packets is split")
        return _mix(packets, packets, may, f"all, at best for the NF: {_named(split)}", window, mean)
    none = f"none is assumed: all usual kinds are split, {_named(split)}; of others, fragments and options too, {SAY}"
    return _mix(0, packets, none, "all", window, mean)


def _said(site: Site, load: Traffic, window: Window, share: float) -> Mix:
    packets = load.packets.value
    exact = Fraction(str(share))
    whole = ceil_div(packets * exact.numerator, exact.denominator)
    words = f"{share} × {packets} packets/s, as the site says"
    left = f"{packets} packets/s less those that go whole"
    return _mix(whole, packets - whole, words, left, window, load.mean.value, (site.name,))


def _mix(
    whole: int,
    split: int,
    why_whole: str,
    why_split: str,
    window: Window | None = None,
    mean: int = 0,
    sources: tuple[str, ...] = (),
) -> Mix:
    short = Number(0, "packets/s", "none is split")
    if window is not None:
        longest, least = window.longest.value, window.threshold.value
        short = Number(
            ceil_div(split * (longest - mean), longest - least),
            "packets/s",
            f"at worst, if none is longer than {longest} B: of {split} packets/s with a mean of {mean} B, no more than "
            f"({longest} - {mean}) / ({longest} - {least}) are up to {least} B long, too short to be parked",
        )
    return Mix(Number(whole, "packets/s", why_whole, sources), Number(split, "packets/s", why_split, sources), short)


def _named(kinds: Sequence[Frames]) -> str:
    return listed(dict.fromkeys(f.headers for f in kinds))


def on_nf_link(load: Traffic, found: Sequence[Frames], mixed: Mix, window: Window | None) -> tuple[Number, Number]:
    """Bit/s to and from the server that has the traffic."""
    to_nf, back = (_direction(load, found, mixed, window, name) for name in ("to_nf", "from_nf"))
    return to_nf, back


def _direction(load: Traffic, found: Sequence[Frames], mixed: Mix, window: Window | None, direction: str) -> Number:
    whole = [f for f in found if f.number is None]
    size = max((getattr(f, direction) for f in whole if f.usual), default=0)
    size = size or max((getattr(f, direction) for f in whole), default=frames.whole(load.mean.value))
    parts = [(mixed.whole.value, size)]
    if window is not None:
        own = max(getattr(f, direction) for f in found if f.number is not None)
        short = max(own, frames.whole(window.threshold.value))
        rest = load.packets.value - mixed.whole.value
        few = min(rest, mixed.short.value)
        parts += [(few, short), (rest - few, own)]
    parts = [part for part in parts if part[0]] or parts[:1]
    total = sum(count * (length + frames.GAP) * 8 for count, length in parts)
    words = " + ".join(f"{_packets(count)} × ({length} + {frames.GAP} B)" for count, length in parts)
    return Number(total, "bit/s", f"({words}) × 8" if len(parts) > 1 else f"{words} × 8")


def _packets(count: int) -> str:
    return f"{count:,} packets/s".replace(",", " ")
