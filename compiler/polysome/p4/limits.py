"""What a chip can do and how it counts, as far as checks and the translation need it.

The caller fills it from `targets/<name>/target.toml`: the compiler knows no hardware number.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ChipLimits:
    """Limits in bytes unless said otherwise, and conventions of the chip."""

    name: str
    arch: str  # "tna" or "t2na"
    ingress_parser_depth: int  # bytes of a frame that the ingress parser sees
    egress_parser_depth: int  # the egress parser, bridge or mirror header included
    mirror_header: int  # the longest mirror header
    mirror_sessions: int  # session numbers are 1 to this, exclusive
    gateway_bits: int  # bits that one comparison of a gateway may take
    stateful_compares: int  # comparisons in one stateful ALU
    stateful_operands: int  # fields that one stateful ALU reads besides its register
    stateful_wraps: bool  # does it compare sums modulo their width? If not, those of values without sign, exactly.
    length_extra: int  # what egress pkt_length counts more than the frame at ingress, of a copy that is no mirror copy
    mirror_length_extra: int  # what it counts more than mirror header and copied bytes
    mirror_cuts_header: bool  # does a session's max_length include the mirror header?
    mirror_cuts_fcs: int  # how many bytes of an FCS it includes
    queue_cell: int  # in which the traffic manager counts what waits
    residual_zero_is_ones: bool  # is a parser's checksum residual that is 0 all ones? If not, it may be either zero.
