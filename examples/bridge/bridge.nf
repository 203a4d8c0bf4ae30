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

  /// The whole bridge, frame by frame: who may be learned is, and a frame goes where its destination was heard last, or
  /// everywhere else.
  property learns_and_forwards {
    for p in trace where p.in.ethernet
    let vid = if p.in.vlan.vid != 0 { p.in.vlan.vid } else { 1 };
    let dst = p.in.ethernet.dst;
    let control = dst >= 01:80:c2:00:00:00 and dst <= 01:80:c2:00:00:0f;
    let group = p.in.ethernet.src[40:40] == 1;
    let refused = control or group or vid == 0xfff;
    let at = p.after.stations[(vid, dst)];
    let everywhere = if p.in_port == p1 { {p2, p3} } else if p.in_port == p2 { {p1, p3} } else { {p1, p2} };
    expect refused or p.after.stations[(vid, p.in.ethernet.src)] == p.in_port;
    expect not refused or p.dropped and p.after.stations.len == p.before.stations.len;
    expect refused or (if (vid, dst) in p.after.stations { at == p.in_port and p.dropped or p.ports == {at} }
                       else { p.ports == everywhere });
  }

  /// A station is forgotten 300 s after it was last heard; that frames for it pass keeps nothing.
  property ages {
    for p, q in trace where p.sent and p.in.ethernet.src == q.in.ethernet.src and not p.in.vlan and not q.in.vlan
      and not evicted(stations[(pvid, p.in.ethernet.src)], p.at..q.at + 1ns)
      and not (exists r in trace where p.number < r.number and r.number < q.number
               and r.in.ethernet.src == p.in.ethernet.src)
    expect ((pvid, p.in.ethernet.src) in q.before.stations) == (q.at - p.at < 300s);
  }
}
