/// A filter at the access: who may send is known by the MAC address, and only untagged frames pass.
use net.l4;

nf acl_stations {
  port access, core;
  config stations: set<mac>;
  use test.acl;

  on packet from access {
    require ethernet else drop "runt";
    require ethernet.src in stations else drop "unknown station";
    require not vlan[0] else drop "tagged";
    require not (udp and flow.sport == 67) else drop "DHCP server";
    send core;
  }
  on packet from core { send access; }
}
