use net.l4;

struct Tried { last: ipv4, all: list<ipv4> }

nf retry {
  port a, b;
  config servers: list<ipv4>;
  state {
    lists: map<ipv4, list<ipv4>> { capacity 10; idle 5s; when full drop; }
    tried: array<Tried>[16];
    pairs: map<u16, (u8, set<u16>)> { capacity 10; idle 5s; when full drop; }
  }
  on packet { send b; }
}
