"""What the tests of LANGUAGE.md section 10 share: one packet through a spec."""

from __future__ import annotations

from rules.harness import nf, run
from rules.packets import ethernet, ipv4, udp

# A header whose checksum covers itself, and one in front of it whose checksum covers both; neither is ever all zeros.
SUMS = """
header outer { x: u16; check: u16 checksum(header, rest); valid x != 0; }
header sum { a: u16; b: u16; check: u16 checksum(header); valid a != 0 or b != 0; }
header maybe { a: u16; b: u16; check: u16 checksum(header) zero is none; }
"""


def own(body: str, parser: str, headers: str = SUMS) -> str:
    """A spec with headers of its own."""
    return f"{headers}\nparser own {{ {parser} }}\nnf tiny {{ port a, b;\n on packet {{ {body} }} }}\n"


def sent(spec: str, data: bytes) -> bytes:
    """The one packet that leaves."""
    outcome = run(spec, [(0, "a", data)])
    assert outcome.dropped == {}
    (left,) = outcome.bytes
    return left


def words(*values: int) -> bytes:
    return b"".join(v.to_bytes(2, "big") for v in values)


UDP4 = ethernet(ipv4(udp(b"abcdef")))


def l4(body: str, data: bytes, more: str = "") -> bytes:
    return sent(nf(body + "\nsend b;", declarations=more), data)
