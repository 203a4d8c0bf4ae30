use net.tunnel;

nf gateway {
  port access, fabric;
  on packet {
    require outer.ethernet else drop "runt";
    push ethernet { src: 02:00:00:00:00:01, dst: 02:00:00:00:00:02 } before outer.ethernet;
    push ipv4 { dst: 192.0.2.1 } before outer.ethernet;
    send fabric;
  }
}
