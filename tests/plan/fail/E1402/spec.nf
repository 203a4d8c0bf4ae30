use net.l4;

nf fast {
  port lan, wan;
  relevant ipv4.dst else drop "not IPv4";
  traffic { rate 200Gbps; }
  on packet { ethernet.dst = 02:00:00:00:00:01; send wan; }
}
