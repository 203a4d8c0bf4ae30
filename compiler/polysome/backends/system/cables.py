"""The cables of a simulated system."""

from __future__ import annotations

from polysome.backends.system import structs

DEEP = 1 << 30  # bytes of a queue that no trace fills
CABLE = 100  # ns: some 20 m in a rack, a meter for each 5 ns


def cable(port: int, rate: int) -> structs.Cable:
    """What comes in waits at its sender, however much there is."""
    link = structs.Link(rate=rate, delay=CABLE, queue=DEEP)
    return structs.Cable(out=link, in_=link, port=port)
