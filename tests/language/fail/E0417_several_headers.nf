use net.tunnel;

nf stripper {
  port access, fabric;
  on packet {
    require outer.ip else drop "not IP";
    pop outer.ip;
    send access;
  }
}
