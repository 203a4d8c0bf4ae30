"""The chips that the tests of the P4 front end are for."""

from __future__ import annotations

from dataclasses import replace

from polysome.p4.limits import ChipLimits

TOFINO = ChipLimits(
    name="Tofino",
    arch="tna",
    ingress_parser_depth=256,
    egress_parser_depth=160,
    mirror_header=32,
    mirror_sessions=1016,
    gateway_bits=44,
    stateful_compares=2,
    stateful_operands=2,
    stateful_wraps=False,
    length_extra=4,
    mirror_length_extra=4,
    mirror_cuts_header=True,
    mirror_cuts_fcs=0,
    queue_cell=80,
    residual_zero_is_ones=True,
)
TOFINO2 = replace(
    TOFINO, name="Tofino 2", arch="t2na", mirror_sessions=256, stateful_compares=4, mirror_cuts_fcs=4, queue_cell=176
)
