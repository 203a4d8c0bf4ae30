use net.l4;

nf wire {
  port lan, wan;
  state { last: map<u16, Endpoint> { capacity 1K; idle 30s; when full evict oldest; } }
  on packet {
    require ipv4 and tcp else drop "not TCP over IPv4";
    last[tcp.sport] = EndPoint { ip: ipv4.src, port: tcp.sport };
    send wan;
  }
}
