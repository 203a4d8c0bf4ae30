use net.ethernet;
use net.ipv4;
use net.udp;

parser frame {
  state start {
    extract ethernet;
    select ethernet.ether_type { EtherType.ipv4 => ipv4; }
  }
  state ipv4 {
    extract ipv4;
    select (ipv4.fragment_offset, ipv4.protocol) { IpProtocol.udp => udp; }
  }
  state udp { extract udp; }
}

nf wire {
  port lan, wan;
  on packet { send wan; }
}
