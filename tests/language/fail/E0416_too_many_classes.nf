use net.ethernet;
use net.ipv4;
use net.ipv6;

parser frame {
  state start {
    extract ethernet;
    select ethernet.ether_type { EtherType.ipv4 => four; EtherType.ipv6 => six; }
  }
  state four {
    extract ipv4 as four[..8];
    select four[last].protocol { IpProtocol.ipv4 => four; IpProtocol.ipv6 => six; }
  }
  state six {
    extract ipv6 as six[..8];
    select six[last].next_header { IpProtocol.ipv4 => four; IpProtocol.ipv6 => six; }
  }
}

nf wire {
  port lan, wan;
  on packet { send wan; }
}
