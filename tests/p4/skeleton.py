"""Small TNA programs, written as what differs between them."""

from __future__ import annotations

from string import Template

_PROGRAM = Template("""#include <core.p4>
#include <$arch.p4>

$types

header ethernet_h {
    bit<48> dst;
    bit<48> src;
    bit<16> ether_type;
}
struct headers_t {
    $headers
    ethernet_h ethernet;
    $inner
}
struct metadata_t {
    $metadata
    bit<8> spare;
}
parser IngressParser(packet_in pkt, out headers_t hdr, out metadata_t md, out ingress_intrinsic_metadata_t ig_intr_md) {
    $units
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        $start
    }
    $states
}
control Ingress(inout headers_t hdr, inout metadata_t md, in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t prsr,
                inout ingress_intrinsic_metadata_for_deparser_t dprsr, inout ingress_intrinsic_metadata_for_tm_t tm) {
    $locals
    apply {
        $apply
    }
}
control IngressDeparser(packet_out pkt, inout headers_t hdr, in metadata_t md,
                        in ingress_intrinsic_metadata_for_deparser_t dprsr) {
    $deparser_locals
    apply {
        $deparser
        pkt.emit(hdr);
    }
}
struct egress_headers_t {
    $egress_headers
}
parser EgressParser(packet_in pkt, out egress_headers_t hdr, out metadata_t md,
                    out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        pkt.extract(eg_intr_md);
        $egress_start
    }
    $egress_states
}
control Egress(inout egress_headers_t hdr, inout metadata_t md, in egress_intrinsic_metadata_t eg_intr_md,
               in egress_intrinsic_metadata_from_parser_t prsr,
               inout egress_intrinsic_metadata_for_deparser_t dprsr,
               inout egress_intrinsic_metadata_for_output_port_t oport) {
    $egress_locals
    apply {
        $egress_apply
    }
}
control EgressDeparser(packet_out pkt, inout egress_headers_t hdr, in metadata_t md,
                       in egress_intrinsic_metadata_for_deparser_t dprsr) {
    $egress_deparser_locals
    apply {
        $egress_deparser
        pkt.emit(hdr);
    }
}
Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(), EgressDeparser()) pipe;
Switch(pipe) main;
""")

_DEFAULTS = {
    "arch": "tna",
    "start": "transition parse_ethernet;",
    "states": "state parse_ethernet { pkt.extract(hdr.ethernet); transition accept; }",
    "egress_start": "transition accept;",
}
_EMPTY = (
    "types headers inner metadata units locals apply deparser_locals deparser egress_headers egress_states"
    " egress_locals egress_apply egress_deparser_locals egress_deparser"
)


def program(**parts: str) -> str:
    """A whole program. It parses Ethernet, drops what `apply` gives no port, and lets egress pass everything."""
    known = {**dict.fromkeys(_EMPTY.split(), ""), **_DEFAULTS}
    assert set(parts) <= set(known), set(parts) - set(known)
    return _PROGRAM.substitute(known | parts)
