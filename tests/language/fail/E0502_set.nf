use net.l4;

nf firewall {
  port lan, wan;
  state { known: set<ipv6> { capacity 1K; idle 30s; when full evict oldest; } }
  on packet { known[flow.src] = true; send wan; }
}
