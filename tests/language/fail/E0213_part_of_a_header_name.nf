use net.l4;

nf wire {
  port lan, wan;
  on packet {
    require vlan else drop "untagged";
    send wan;
  }
}
