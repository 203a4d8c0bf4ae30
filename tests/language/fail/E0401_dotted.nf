use net.tunnel;

nf gateway {
  port access, fabric;
  on packet {
    require outer.ipv4 and outer.udpp else drop "not UDP";
    send fabric;
  }
}
