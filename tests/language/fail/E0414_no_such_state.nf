use net.ethernet;
use net.ipv4;

parser frame {
  state start {
    extract ethernet;
    select ethernet.ether_type { EtherType.ipv4 => ip; }
  }
  state ipv4 { extract ipv4; }
}

nf wire {
  port lan, wan;
  on packet { send wan; }
}
