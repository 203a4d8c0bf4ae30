use net.ethernet;

parser tags {
  state start {
    extract ethernet;
    select ethernet.ether_type { EtherType.vlan => tag; }
  }
  state tag {
    extract vlan;
    select vlan.ether_type { EtherType.vlan => tag; }
  }
}

nf wire {
  port lan, wan;
  on packet { send wan; }
}
