"""What the architectures TNA (Tofino 1) and T2NA (Tofino 2) declare, as data: facts of their public headers.

Widths of ports, queues and mirror sessions; the intrinsic metadata with their fields; the parameters of each block
of a pipe, in order; constants. What the externs do is told where they are checked (`externs.py`) and run
(`runtime/switch`).
"""

from __future__ import annotations

from dataclasses import dataclass

from polysome.p4.types import Bits, Composite, Type

EXTERNS = {
    # name: number of type arguments
    "Register": 2,
    "RegisterAction": 3,
    "Hash": 1,
    "Random": 1,
    "Counter": 2,
    "Meter": 1,
    "Mirror": 0,
    "Checksum": 0,
    "packet_in": 0,
    "packet_out": 0,
}
# Known to the architecture, outside the subset, and what does instead.
NOT_READ = {
    "Resubmit": "Recirculate through a loopback port.",
    "Digest": "Count, or write to a register that the controller reads.",
    "DirectCounter": "Use a Counter with an index.",
    "DirectMeter": "Use a Meter with an index.",
    "DirectRegister": "Use a Register with an index.",
    "DirectRegisterAction": "Use a Register with an index.",
    "Lpf": "Use a Meter.",
    "Wred": "Use a Meter.",
    "DirectLpf": "Use a Meter.",
    "DirectWred": "Use a Meter.",
    "ActionProfile": "Use two tables: the first gives an index, the second matches on it.",
    "ActionSelector": "Use two tables: a hash gives an index, the second matches on it.",
    "SelectorAction": "Use two tables: a hash gives an index, the second matches on it.",
    "ParserCounter": "Use one state for each length.",
    "ParserPriority": "Leave it out.",
    "RegisterParam": "Write the constant into the register action.",
    "MathUnit": "Use sums and comparisons.",
    "CRCPolynomial": "Use one of HashAlgorithm_t.CRC8, CRC16 and CRC32.",
    "Atcam": "Leave it out.",
    "Alpm": "Leave it out.",
}

HASHES = {"IDENTITY": None, "CRC8": 8, "CRC16": 16, "CRC32": 32}  # the bits that they yield
COUNTER_TYPES = ("PACKETS", "BYTES", "PACKETS_AND_BYTES")
METER_TYPES = ("PACKETS", "BYTES")

# Of each block, in order: what we call the parameter, and its type (H, M: the program's own headers and metadata).
PARAMS = {
    "ingress_parser": ("pkt", "hdr", "md", "ig_intr_md", "tm", "prsr"),
    "ingress": ("hdr", "md", "ig_intr_md", "prsr", "dprsr", "tm"),
    "ingress_deparser": ("pkt", "hdr", "md", "dprsr", "ig_intr_md"),
    "egress_parser": ("pkt", "hdr", "md", "eg_intr_md", "prsr", "dprsr"),
    "egress": ("hdr", "md", "eg_intr_md", "prsr", "dprsr", "oport"),
    "egress_deparser": ("pkt", "hdr", "md", "dprsr", "eg_intr_md", "prsr"),
}
# How many of them must be there: the others are optional.
NEEDED = {
    "tna": dict.fromkeys(("ingress_parser", "egress_parser", "ingress_deparser", "egress_deparser"), 3)
    | dict.fromkeys(("ingress", "egress"), 2),
    "t2na": {
        "ingress_parser": 4, "ingress": 6, "ingress_deparser": 4, "egress_parser": 4, "egress": 6, "egress_deparser": 4,
    },
}  # fmt: skip
BLOCKS = ("ingress_parser", "ingress", "ingress_deparser", "egress_parser", "egress", "egress_deparser")

_ERRORS = ("NO_MATCH", "PARTIAL_HDR", "CTR_RANGE", "TIMEOUT_USER", "TIMEOUT_HW", "SRC_EXT", "DST_CONT", "PHV_OWNER")


@dataclass(frozen=True)
class Architecture:
    name: str
    include: str
    port_metadata: int  # bits that port_metadata_unpack has; PORT_METADATA_SIZE, to be skipped, may be more
    typedefs: dict[str, Type]
    constants: dict[str, tuple[int, Type]]
    structs: dict[str, Composite]

    def intrinsic(self, block: str, param: str) -> str:
        """The type's name of a parameter that we call `param`."""
        gress = "ingress" if block.startswith("ingress") else "egress"
        return f"{gress}_intrinsic_metadata{_SUFFIX[param]}_t"


_SUFFIX = {
    "ig_intr_md": "",
    "eg_intr_md": "",
    "tm": "_for_tm",
    "prsr": "_from_parser",
    "dprsr": "_for_deparser",
    "oport": "_for_output_port",
}


def _composite(name: str, header: bool, fields: str, typedefs: dict[str, Type]) -> Composite:
    """Fields as `name:width` or `name:type`."""
    made = []
    for item in fields.split():
        field, kind = item.split(":")
        made.append((field, Bits(int(kind)) if kind.isdigit() else typedefs[kind]))
    return Composite(name, header, tuple(made), intrinsic=True)


def _architecture(name: str, queue: int, mirror_type: int, mirror_id: int, port_metadata: int) -> Architecture:
    widths = {
        "PortId_t": 9,
        "MulticastGroupId_t": 16,
        "QueueId_t": queue,
        "MirrorType_t": mirror_type,
        "MirrorId_t": mirror_id,
        "ResubmitType_t": 3,
        "DigestType_t": 3,
        "ReplicationId_t": 16,
        "L1ExclusionId_t": 16,
        "L2ExclusionId_t": 9,
        "MeterColor_t": 8,
    }
    typedefs: dict[str, Type] = {n: Bits(w) for n, w in widths.items()}
    two = name == "t2na"
    more = (
        " mirror_io_select:1 mirror_hash:13 mirror_ingress_cos:3 mirror_deflect_on_drop:1 mirror_multicast_ctrl:1"
        " mirror_egress_port:PortId_t mirror_qid:QueueId_t mirror_coalesce_length:8 adv_flow_ctl:32 mtu_trunc_len:14"
        " mtu_trunc_err_f:1"
        if two
        else ""
    )
    stamp = 32 if two else 18
    described = [
        (
            "ingress_intrinsic_metadata_t",
            True,
            "resubmit_flag:1 packet_version:2 ingress_port:PortId_t ingress_mac_tstamp:48",
        ),
        (
            "ingress_intrinsic_metadata_for_tm_t",
            False,
            "ucast_egress_port:PortId_t bypass_egress:1 deflect_on_drop:1 ingress_cos:3 qid:QueueId_t"
            " icos_for_copy_to_cpu:3 copy_to_cpu:1 packet_color:2 disable_ucast_cutthru:1 enable_mcast_cutthru:1"
            " mcast_grp_a:MulticastGroupId_t mcast_grp_b:MulticastGroupId_t level1_mcast_hash:13 level2_mcast_hash:13"
            " level1_exclusion_id:L1ExclusionId_t level2_exclusion_id:L2ExclusionId_t rid:16",
        ),
        ("ingress_intrinsic_metadata_from_parser_t", False, "global_tstamp:48 global_ver:32 parser_err:16"),
        (
            "ingress_intrinsic_metadata_for_deparser_t",
            False,
            "drop_ctl:3 digest_type:DigestType_t resubmit_type:ResubmitType_t mirror_type:MirrorType_t"
            + more
            + (" pktgen:1 pktgen_address:14 pktgen_length:10" if two else ""),
        ),
        (
            "egress_intrinsic_metadata_t",
            True,
            f"egress_port:PortId_t enq_qdepth:19 enq_congest_stat:2 enq_tstamp:{stamp} deq_qdepth:19 deq_congest_stat:2"
            f" app_pool_congest_stat:8 deq_timedelta:{stamp} egress_rid:16 egress_rid_first:1 egress_qid:QueueId_t"
            " egress_cos:3 deflection_flag:1 pkt_length:16",
        ),
        ("egress_intrinsic_metadata_from_parser_t", False, "global_tstamp:48 global_ver:32 parser_err:16"),
        (
            "egress_intrinsic_metadata_for_deparser_t",
            False,
            "drop_ctl:3 mirror_type:MirrorType_t coalesce_flush:1 coalesce_length:7" + more,
        ),
        ("egress_intrinsic_metadata_for_output_port_t", False, "capture_tstamp_on_tx:1 update_delay_on_tx:1"),
        *_generated("4" if two else "3"),
    ]
    structs = {n: _composite(n, header, fields, typedefs) for n, header, fields in described}
    constants: dict[str, tuple[int, Type]] = {"PORT_METADATA_SIZE": (port_metadata, Bits(32))}
    constants |= {f"PARSER_ERROR_{e}": (1 << i, Bits(16)) for i, e in enumerate(_ERRORS)}
    constants |= {"PARSER_ERROR_OK": (0, Bits(16)), "PARSER_ERROR_MULTIWRITE": (0x100, Bits(16))}
    constants |= {"PARSER_ERROR_ARAM_MBE": (0x400, Bits(16)), "PARSER_ERROR_FCS": (0x800, Bits(16))}
    return Architecture(name, f"{name}.p4", 128 if two else 64, typedefs, constants, structs)


def _generated(app: str) -> list[tuple[str, bool, str]]:
    """What the packet generator puts before its packets; unlike the other metadata it is in the frame, padding too."""
    first = f"_pad1:{6 - int(app)} pipe_id:2 app_id:{app}"
    return [("pktgen_timer_header_t", True, f"{first} _pad2:8 batch_id:16 packet_id:16")]


ARCHITECTURES = {
    "tna": _architecture("tna", queue=5, mirror_type=3, mirror_id=10, port_metadata=64),
    "t2na": _architecture("t2na", queue=7, mirror_type=4, mirror_id=8, port_metadata=192),
}
