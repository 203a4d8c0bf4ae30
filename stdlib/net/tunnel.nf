/// Tunnels: an outer packet and the one inside it.
use net.ethernet;
use net.arp;
use net.ipv4;
use net.ipv6;
use net.tcp;
use net.udp;
use net.icmp;
use net.icmpv6;
use net.gre;
use net.vxlan;
use net.geneve;
use net.gtpu;
use net.mpls;
use net.pppoe;
use net.flow;

/// IP in IP (RFC 2003, RFC 2473, RFC 4213), GRE, VXLAN, GENEVE, GTP-U, MPLS and PPPoE, one of them per packet.
///
/// Opaque, that is, part of the payload: what `l4` calls opaque; outer IPv6 extension headers other than the destination
/// options before IP in IP (RFC 2473, section 4.1.1), and all inner ones; what follows a GRE header with a checksum,
/// because that covers it; a second VLAN tag inside; tunnels in tunnels; quotes in ICMP errors.
parser tunnel {
  state start {
    extract ethernet as outer.ethernet;
    select outer.ethernet.ether_type {
      EtherType.vlan, EtherType.service_vlan => outer_vlan;
      EtherType.ipv4 => outer_ipv4;
      EtherType.ipv6 => outer_ipv6;
      EtherType.mpls => mpls;
      EtherType.pppoe => pppoe;
    }
  }
  state outer_vlan {
    extract vlan as outer.vlan[..2];
    select outer.vlan[last].ether_type {
      EtherType.vlan, EtherType.service_vlan => outer_vlan;
      EtherType.ipv4 => outer_ipv4;
      EtherType.ipv6 => outer_ipv6;
      EtherType.mpls => mpls;
      EtherType.pppoe => pppoe;
    }
  }
  state outer_ipv4 {
    extract ipv4 as outer.ipv4;
    select (outer.ipv4.more_fragments, outer.ipv4.fragment_offset, outer.ipv4.protocol) {
      (_, 0, IpProtocol.ipv4) => inner_ipv4;
      (_, 0, IpProtocol.ipv6) => inner_ipv6;
      (_, 0, IpProtocol.gre) => gre;
      (_, 0, IpProtocol.tcp) => outer_tcp;
      (_, 0, IpProtocol.udp) => outer_udp;
      (_, 0, IpProtocol.icmp) => outer_icmp;
    }
  }
  state outer_ipv6 {
    extract ipv6 as outer.ipv6;
    select outer.ipv6.next_header {
      IpProtocol.destination_options => outer_ipv6_ext;
      IpProtocol.ipv4 => inner_ipv4;
      IpProtocol.ipv6 => inner_ipv6;
      IpProtocol.gre => gre;
      IpProtocol.tcp => outer_tcp;
      IpProtocol.udp => outer_udp;
      IpProtocol.icmpv6 => outer_icmpv6;
    }
  }
  state outer_ipv6_ext {
    extract ipv6_ext as outer.ipv6_ext;
    select outer.ipv6_ext.next_header {
      IpProtocol.ipv4 => inner_ipv4;
      IpProtocol.ipv6 => inner_ipv6;
    }
  }
  state outer_tcp { extract tcp as outer.tcp; }
  state outer_icmp { extract icmp as outer.icmp; }
  state outer_icmpv6 { extract icmpv6 as outer.icmpv6; }
  state outer_udp {
    extract udp as outer.udp;
    select outer.udp.dport {
      VXLAN_PORT => vxlan;
      GENEVE_PORT => geneve;
      GTPU_PORT => gtpu;
    }
  }

  state gre {
    extract gre;
    select (gre.checksum_present, gre.protocol) {
      (0, EtherType.ethernet) => inner_ethernet;
      (0, EtherType.ipv4) => inner_ipv4;
      (0, EtherType.ipv6) => inner_ipv6;
    }
  }
  state vxlan {
    extract vxlan;
    goto inner_ethernet;
  }
  state geneve {
    extract geneve;
    select geneve.protocol {
      EtherType.ethernet => inner_ethernet;
      EtherType.ipv4 => inner_ipv4;
      EtherType.ipv6 => inner_ipv6;
    }
  }
  state gtpu {
    extract gtpu;
    select (gtpu.message_type, gtpu.extension_flag, gtpu.sequence_flag, gtpu.n_pdu_flag) {
      (GtpuMessage.g_pdu, 0, 0, 0) => inner_ip;
      (GtpuMessage.g_pdu, _, _, _) => gtpu_optional;
    }
  }
  state gtpu_optional {
    extract gtpu_optional;
    select (gtpu.extension_flag, gtpu_optional.next_extension) {
      (0, _), (_, 0) => inner_ip;
      _ => gtpu_extension;
    }
  }
  state gtpu_extension {
    extract gtpu_extension;
    select gtpu_extension.next_extension {
      0 => inner_ip;
    }
  }
  state mpls {
    extract mpls as mpls[..4];
    select mpls[last].s {
      0 => mpls;
      1 => inner_ip;
    }
  }
  state pppoe {
    extract pppoe;
    select pppoe.protocol {
      PppProtocol.ipv4 => inner_ipv4;
      PppProtocol.ipv6 => inner_ipv6;
    }
  }

  // What is inside GTP-U and MPLS is known only by its version.
  state inner_ip {
    select peek(4) {
      4 => inner_ipv4;
      6 => inner_ipv6;
    }
  }
  state inner_ethernet {
    extract ethernet as inner.ethernet;
    select inner.ethernet.ether_type {
      EtherType.vlan, EtherType.service_vlan => inner_vlan;
      EtherType.arp => inner_arp;
      EtherType.ipv4 => inner_ipv4;
      EtherType.ipv6 => inner_ipv6;
    }
  }
  state inner_vlan {
    extract vlan as inner.vlan;
    select inner.vlan.ether_type {
      EtherType.ipv4 => inner_ipv4;
      EtherType.ipv6 => inner_ipv6;
    }
  }
  state inner_arp { extract arp as inner.arp; }
  state inner_ipv4 {
    extract ipv4 as inner.ipv4;
    select (inner.ipv4.more_fragments, inner.ipv4.fragment_offset, inner.ipv4.protocol) {
      (_, 0, IpProtocol.tcp) => inner_tcp;
      (_, 0, IpProtocol.udp) => inner_udp;
      (_, 0, IpProtocol.icmp) => inner_icmp;
    }
  }
  state inner_ipv6 {
    extract ipv6 as inner.ipv6;
    select inner.ipv6.next_header {
      IpProtocol.tcp => inner_tcp;
      IpProtocol.udp => inner_udp;
      IpProtocol.icmpv6 => inner_icmpv6;
    }
  }
  state inner_tcp { extract tcp as inner.tcp; }
  state inner_udp { extract udp as inner.udp; }
  state inner_icmp { extract icmp as inner.icmp; }
  state inner_icmpv6 { extract icmpv6 as inner.icmpv6; }

  group outer.ip = outer.ipv4 | outer.ipv6;
  group outer.l4 = outer.tcp | outer.udp;
  group inner.ip = inner.ipv4 | inner.ipv6;
  group inner.l4 = inner.tcp | inner.udp;

  /// The outer five-tuple; all 0 if the tunnel is MPLS or PPPoE.
  value outer_flow: Flow = Flow {
    src: if outer.ipv4 { outer.ipv4.src as ipv6 } else if outer.ipv6 { outer.ipv6.src } else { :: },
    dst: if outer.ipv4 { outer.ipv4.dst as ipv6 } else if outer.ipv6 { outer.ipv6.dst } else { :: },
    sport: if outer.l4 { outer.l4.sport }
      else if outer.icmp { icmp_port(outer.icmp.type, outer.icmp.identifier) }
      else if outer.icmpv6 { icmpv6_port(outer.icmpv6.type, outer.icmpv6.identifier) }
      else { 0 },
    dport: if outer.l4 { outer.l4.dport }
      else if outer.icmp { icmp_port(outer.icmp.type, outer.icmp.identifier) }
      else if outer.icmpv6 { icmpv6_port(outer.icmpv6.type, outer.icmpv6.identifier) }
      else { 0 },
    protocol: if outer.ipv4 { outer.ipv4.protocol }
      else if outer.ipv6_ext { outer.ipv6_ext.next_header }
      else if outer.ipv6 { outer.ipv6.next_header }
      else { 0 }
  };

  /// The inner five-tuple; all 0 without an inner IP header.
  value inner_flow: Flow = Flow {
    src: if inner.ipv4 { inner.ipv4.src as ipv6 } else if inner.ipv6 { inner.ipv6.src } else { :: },
    dst: if inner.ipv4 { inner.ipv4.dst as ipv6 } else if inner.ipv6 { inner.ipv6.dst } else { :: },
    sport: if inner.l4 { inner.l4.sport }
      else if inner.icmp { icmp_port(inner.icmp.type, inner.icmp.identifier) }
      else if inner.icmpv6 { icmpv6_port(inner.icmpv6.type, inner.icmpv6.identifier) }
      else { 0 },
    dport: if inner.l4 { inner.l4.dport }
      else if inner.icmp { icmp_port(inner.icmp.type, inner.icmp.identifier) }
      else if inner.icmpv6 { icmpv6_port(inner.icmpv6.type, inner.icmpv6.identifier) }
      else { 0 },
    protocol: if inner.ipv4 { inner.ipv4.protocol } else if inner.ipv6 { inner.ipv6.next_header } else { 0 }
  };

  /// The innermost five-tuple.
  value flow: Flow = if inner.ip { inner_flow } else { outer_flow };

  /// Whether the outer packet is a part of a larger one, the first part too.
  value outer_fragment: bool =
    if outer.ipv4 { outer.ipv4.more_fragments == 1 or outer.ipv4.fragment_offset != 0 } else { false };
  value inner_fragment: bool =
    if inner.ipv4 { inner.ipv4.more_fragments == 1 or inner.ipv4.fragment_offset != 0 } else { false };

  /// Fragments have what all fragments of their packet have in common: those of the outer packet nothing that is inside.
  class outer_flow: Flow = if outer_fragment { without_ports(outer_flow) } else { outer_flow };
  class flow: Flow = if outer_fragment { without_ports(outer_flow) }
    else if inner_fragment { without_ports(inner_flow) }
    else { flow };
}
