use net.l4;

const FIRST: u8 = SECOND + 1;
const SECOND: u8 = FIRST - 1;

nf wire {
  port lan, wan;
  on packet {
    require ipv4 and ipv4.ttl != FIRST else drop "first";
    send wan;
  }
}
