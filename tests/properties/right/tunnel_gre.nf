/// A bridge of two sites by frames in GRE (RFC 2784), from point to point, with nothing to look up.
use net.tunnel;

nf tunnel_gre {
  port access, fabric;
  param own:       ipv4 = 192.0.2.1;
  param other:     ipv4 = 192.0.2.2;
  param own_mac:   mac = 02:00:00:00:00:01;
  param other_mac: mac = 02:00:00:00:00:02;
  use test.tunnel;

  on packet from access {
    require outer.ethernet else drop "no frame";
    push ethernet { src: own_mac, dst: other_mac } before outer.ethernet;
    push ipv4 { src: own, dst: other } before outer.ethernet;
    push gre { } before outer.ethernet;
    send fabric;
  }
  on packet from fabric {
    require outer.ipv4 and gre and inner.ethernet else drop "no frame in GRE";
    require outer.ipv4.src == other and outer.ipv4.dst == own else drop "of somebody else";
    require not outer_fragment else drop "not whole";
    pop outer.ethernet..gre;
    send access;
  }
}
