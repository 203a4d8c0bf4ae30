/// Ethernet up to layer 4: what most network functions use.
use net.ethernet;
use net.arp;
use net.ipv4;
use net.ipv6;
use net.tcp;
use net.udp;
use net.icmp;
use net.icmpv6;
use net.esp;
use net.ah;
use net.flow;

/// Opaque, that is, part of the payload: later fragments; ICMP in IPv6 and ICMPv6 in IPv4; what follows ESP and AH, a
/// third VLAN tag, a fifth IPv6 extension header, any other extension header behind a fragment header.
parser l4 {
  state start {
    extract ethernet;
    select ethernet.ether_type {
      EtherType.vlan, EtherType.service_vlan => vlan;
      EtherType.arp => arp;
      EtherType.ipv4 => ipv4;
      EtherType.ipv6 => ipv6;
    }
  }
  state vlan {
    extract vlan as vlan[..2];
    select vlan[last].ether_type {
      EtherType.vlan, EtherType.service_vlan => vlan;
      EtherType.arp => arp;
      EtherType.ipv4 => ipv4;
      EtherType.ipv6 => ipv6;
    }
  }
  state arp { extract arp; }

  // Both fragment fields are looked at, so that `fragment` costs nothing more.
  state ipv4 {
    extract ipv4;
    select (ipv4.more_fragments, ipv4.fragment_offset, ipv4.protocol) {
      (_, 0, IpProtocol.tcp) => tcp;
      (_, 0, IpProtocol.udp) => udp;
      (_, 0, IpProtocol.icmp) => icmp;
      (_, 0, IpProtocol.esp) => esp;
      (_, 0, IpProtocol.ah) => ah;
    }
  }

  // The last byte that `peek` sees is a routing header's `segments left` (RFC 8200, section 4.4). Unless it is 0, the
  // layer-4 checksum covers a destination that is not `ipv6.dst`, so the routing header and the rest are opaque.
  state ipv6 {
    extract ipv6;
    select (ipv6.next_header, peek(32)[7:0]) {
      (IpProtocol.hop_by_hop, _), (IpProtocol.destination_options, _), (IpProtocol.routing, 0) => ipv6_ext;
      (IpProtocol.ipv6_fragment, _) => ipv6_fragment;
      (IpProtocol.tcp, _) => tcp;
      (IpProtocol.udp, _) => udp;
      (IpProtocol.icmpv6, _) => icmpv6;
      (IpProtocol.esp, _) => esp;
      (IpProtocol.ah, _) => ah;
    }
  }
  state ipv6_ext {
    extract ipv6_ext as ipv6_ext[..4];
    select (ipv6_ext[last].next_header, peek(32)[7:0]) {
      (IpProtocol.destination_options, _), (IpProtocol.routing, 0) => ipv6_ext;
      (IpProtocol.ipv6_fragment, _) => ipv6_fragment;
      (IpProtocol.tcp, _) => tcp;
      (IpProtocol.udp, _) => udp;
      (IpProtocol.icmpv6, _) => icmpv6;
      (IpProtocol.esp, _) => esp;
      (IpProtocol.ah, _) => ah;
    }
  }
  state ipv6_fragment {
    extract ipv6_fragment;
    select (ipv6_fragment.more_fragments, ipv6_fragment.fragment_offset, ipv6_fragment.next_header) {
      (_, 0, IpProtocol.tcp) => tcp;
      (_, 0, IpProtocol.udp) => udp;
      (_, 0, IpProtocol.icmpv6) => icmpv6;
      (_, 0, IpProtocol.esp) => esp;
      (_, 0, IpProtocol.ah) => ah;
    }
  }

  state tcp { extract tcp; }
  state udp { extract udp; }
  state esp { extract esp; }
  state ah { extract ah; }

  // RFC 792, RFC 1812 section 4.3.2.3: an error quotes the packet's IP header and at least 8 bytes after it.
  state icmp {
    extract icmp;
    select icmp.type {
      IcmpType.unreachable, IcmpType.source_quench, IcmpType.redirect, IcmpType.time_exceeded,
      IcmpType.parameter_problem => icmp_quoted_ipv4;
    }
  }
  state icmp_quoted_ipv4 {
    extract ipv4 as icmp.quoted.ipv4 cut 20;
    select (icmp.quoted.ipv4.fragment_offset, icmp.quoted.ipv4.protocol) {
      (0, IpProtocol.tcp) => icmp_quoted_tcp;
      (0, IpProtocol.udp) => icmp_quoted_udp;
      (0, IpProtocol.icmp) => icmp_quoted_icmp;
    }
  }
  state icmp_quoted_tcp { extract tcp as icmp.quoted.tcp cut 4; }
  state icmp_quoted_udp { extract udp as icmp.quoted.udp cut 4; }
  state icmp_quoted_icmp { extract icmp as icmp.quoted.icmp cut 4; }

  // RFC 4443, section 2.4 (c). Extension headers in a quote are opaque.
  state icmpv6 {
    extract icmpv6;
    select icmpv6.type {
      Icmpv6Type.unreachable, Icmpv6Type.packet_too_big, Icmpv6Type.time_exceeded,
      Icmpv6Type.parameter_problem => icmpv6_quoted_ipv6;
    }
  }
  state icmpv6_quoted_ipv6 {
    extract ipv6 as icmpv6.quoted.ipv6 cut 40;
    select icmpv6.quoted.ipv6.next_header {
      IpProtocol.tcp => icmpv6_quoted_tcp;
      IpProtocol.udp => icmpv6_quoted_udp;
      IpProtocol.icmpv6 => icmpv6_quoted_icmpv6;
    }
  }
  state icmpv6_quoted_tcp { extract tcp as icmpv6.quoted.tcp cut 4; }
  state icmpv6_quoted_udp { extract udp as icmpv6.quoted.udp cut 4; }
  state icmpv6_quoted_icmpv6 { extract icmpv6 as icmpv6.quoted.icmpv6 cut 4; }

  /// What both have: `ip.dscp`, `ip.ecn`.
  group ip = ipv4 | ipv6;
  group l4 = tcp | udp;
  group icmp.quoted.l4 = icmp.quoted.tcp | icmp.quoted.udp;
  group icmpv6.quoted.l4 = icmpv6.quoted.tcp | icmpv6.quoted.udp;

  /// Whether the packet is a part of a larger one, the first part too. An IPv6 packet that is its own only fragment
  /// (RFC 6946) is not.
  value fragment: bool =
    if ipv4 { ipv4.more_fragments == 1 or ipv4.fragment_offset != 0 }
    else if ipv6_fragment { ipv6_fragment.more_fragments == 1 or ipv6_fragment.fragment_offset != 0 }
    else { false };

  /// The five-tuple. The protocol is the one behind IPv6 extension headers.
  value flow: Flow = Flow {
    src: if ipv4 { ipv4.src as ipv6 } else if ipv6 { ipv6.src } else { :: },
    dst: if ipv4 { ipv4.dst as ipv6 } else if ipv6 { ipv6.dst } else { :: },
    sport: if l4 { l4.sport }
      else if icmp { icmp_port(icmp.type, icmp.identifier) }
      else if icmpv6 { icmpv6_port(icmpv6.type, icmpv6.identifier) }
      else { 0 },
    dport: if l4 { l4.dport }
      else if icmp { icmp_port(icmp.type, icmp.identifier) }
      else if icmpv6 { icmpv6_port(icmpv6.type, icmpv6.identifier) }
      else { 0 },
    protocol: if ipv4 { ipv4.protocol }
      else if ipv6_fragment { ipv6_fragment.next_header }
      else if ipv6_ext[3] { ipv6_ext[3].next_header }
      else if ipv6_ext[2] { ipv6_ext[2].next_header }
      else if ipv6_ext[1] { ipv6_ext[1].next_header }
      else if ipv6_ext[0] { ipv6_ext[0].next_header }
      else if ipv6 { ipv6.next_header }
      else { 0 }
  };

  /// Later fragments have no ports, so the first one must not have them either.
  class flow: Flow = if fragment { without_ports(flow) } else { flow };

  /// The five-tuple of the packet that an ICMP error quotes (RFC 792, RFC 4443); all 0 where nothing is quoted.
  value quoted_flow: Flow = Flow {
    src: if icmp.quoted.ipv4 { icmp.quoted.ipv4.src as ipv6 }
      else if icmpv6.quoted.ipv6 { icmpv6.quoted.ipv6.src } else { :: },
    dst: if icmp.quoted.ipv4 { icmp.quoted.ipv4.dst as ipv6 }
      else if icmpv6.quoted.ipv6 { icmpv6.quoted.ipv6.dst } else { :: },
    sport: if icmp.quoted.l4 { icmp.quoted.l4.sport }
      else if icmp.quoted.icmp { icmp_port(icmp.quoted.icmp.type, icmp.quoted.icmp.identifier) }
      else if icmpv6.quoted.l4 { icmpv6.quoted.l4.sport }
      else if icmpv6.quoted.icmpv6 { icmpv6_port(icmpv6.quoted.icmpv6.type, icmpv6.quoted.icmpv6.identifier) }
      else { 0 },
    dport: if icmp.quoted.l4 { icmp.quoted.l4.dport }
      else if icmp.quoted.icmp { icmp_port(icmp.quoted.icmp.type, icmp.quoted.icmp.identifier) }
      else if icmpv6.quoted.l4 { icmpv6.quoted.l4.dport }
      else if icmpv6.quoted.icmpv6 { icmpv6_port(icmpv6.quoted.icmpv6.type, icmpv6.quoted.icmpv6.identifier) }
      else { 0 },
    protocol: if icmp.quoted.ipv4 { icmp.quoted.ipv4.protocol }
      else if icmpv6.quoted.ipv6 { icmpv6.quoted.ipv6.next_header }
      else { 0 }
  };
}
