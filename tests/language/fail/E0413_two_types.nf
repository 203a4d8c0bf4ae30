use net.ethernet;
use net.ipv4;
use net.ipv6;

parser frame {
  state start {
    extract ethernet;
    select ethernet.ether_type {
      EtherType.ipv4 => v4;
      EtherType.ipv6 => v6;
    }
  }
  state v4 { extract ipv4 as network; }
  state v6 { extract ipv6 as network; }
}

nf wire {
  port lan, wan;
  on packet { send wan; }
}
