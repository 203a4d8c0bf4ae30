use net.ethernet;
use net.ipv4;

parser frame {
  state start {
    extract ethernet;
    select ethernet.ether_type { EtherType.ipv4 => ipv4; }
  }
  state ipv4 { extract ipv4; }
  value source: ipv4 = ipv4.src;
}

nf wire {
  port lan, wan;
  on packet { send wan; }
}
