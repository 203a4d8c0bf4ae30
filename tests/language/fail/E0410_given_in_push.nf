use net.tunnel;

nf gateway {
  port access, fabric;
  on packet {
    require outer.ethernet else drop "runt";
    push ethernet { src: 02:00:00:00:00:01, dst: 02:00:00:00:00:02, ether_type: 0x0800 } before outer.ethernet;
    send fabric;
  }
}
