use net.l4;

struct Deep { of: map<u8, u8> }
struct Long { all: list<ipv4> }

nf odd {
  port a, b;
  config deep:   list<Deep>;
  config bucket: token_bucket(1Mbps, 1KB);
  config macs:   lpm<mac, port>;
  config spread: maglev<Long>;
  on packet { send b; }
}
