use net.l4;

nf untagger {
  port trunk, access;
  on packet {
    require vlan[1] else drop "not tagged twice";
    pop vlan[1]..vlan[0];
    send access;
  }
}
