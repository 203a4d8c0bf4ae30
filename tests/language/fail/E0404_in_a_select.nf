use net.ethernet;
use net.ipv4;

parser frame {
  state start {
    extract ethernet;
    select ethernet.ether_type { EtherType.ipv4 => v4; _ => last; }
  }
  state v4 { extract ipv4; goto last; }
  state last { select ipv4.protocol { IpProtocol.ipv4 => inner; } }
  state inner { extract ipv4 as inner.ipv4; }
}

nf wire {
  port lan, wan;
  on packet { send wan; }
}
