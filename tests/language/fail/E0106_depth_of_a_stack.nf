use net.ethernet;

parser frame {
  state start {
    extract ethernet;
    select ethernet.ether_type { EtherType.vlan => tag; }
  }
  state tag {
    extract vlan as vlan[..100];
    select vlan[last].ether_type { EtherType.vlan => tag; }
  }
}

nf wire {
  port lan, wan;
  on packet { send wan; }
}
