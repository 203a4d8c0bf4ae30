/// A VLAN-aware learning bridge (IEEE 802.1Q-2018, clause 8), without spanning tree.
/// Every port carries every VLAN; frames without a tag belong to `pvid`.
use net.ethernet;

/// A bridge looks no further than the tag, so that what IP says about lengths is none of its business.
parser frame {
  state start {
    extract ethernet;
    select ethernet.ether_type { EtherType.vlan => tag; }
  }
  state tag { extract vlan; }
}

nf bridge {
  port p1, p2, p3;
  param pvid:   bit<12>  = 1;
  param ageing: duration = 300s;                             // 802.1Q, table 8-6
  use test.bridge;

  relevant ethernet.{src, dst}, vlan.vid when vlan else drop "runt";

  state {
    /// The filtering database: where a station was heard last. Being looked up keeps no entry alive: `age`, not `idle`.
    stations: map<(bit<12>, mac), port> { capacity 16K; age ageing; when full evict oldest; }
  }
  schedule { class (ethernet.src, ethernet.dst); fifo; }

  fn is_group(a: mac) -> bool { a[40:40] == 1 }

  /// 01:80:c2:00:00:00 to 01:80:c2:00:00:0f: spanning tree, LACP, LLDP, pause (802.1Q, table 8-1).
  fn is_link_local(a: mac) -> bool { a[47:4] == 0x0180c200000 }

  on packet {
    require not is_link_local(ethernet.dst) else drop "link-local control";
    require not is_group(ethernet.src) else drop "group address as source";
    let tag = if vlan { vlan.vid } else { 0 };               // 0: priority only (802.1Q, table 9-2)
    require tag != 0xfff else drop "reserved VLAN ID";
    let vid = if tag == 0 { pvid } else { tag };

    stations[(vid, ethernet.src)] = in_port;                 // learning (8.7)
    let station = stations[(vid, ethernet.dst)] else send ports - in_port;
    require station != in_port else drop "already there";    // filtering (8.6.3)
    send station;
  }

  /// VLANs are apart: a station that was not heard in this VLAN is unknown in it, and its frames go everywhere.
  property apart {
    for q in trace where q.sent and q.in.vlan and not (q.in.vlan.vid in {0, pvid}) and not is_group(q.in.ethernet.dst)
      and not (exists p in trace where p.number <= q.number and p.in.vlan.vid == q.in.vlan.vid
               and p.in.ethernet.src == q.in.ethernet.dst)
    expect q.ports == ports - q.in_port;
  }
}
