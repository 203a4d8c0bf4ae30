use net.l4;

nf policer {
  port lan, wan;
  state { limits: map<ipv6, token_bucket> { capacity 1K; idle 30s; when full evict oldest; } }
  on packet {
    require limits[flow.src].take(len) else drop "too fast";
    send wan;
  }
}
