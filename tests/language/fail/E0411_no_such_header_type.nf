use net.tunnel;

nf gateway {
  port access, fabric;
  on packet {
    require outer.ethernet else drop "runt";
    push vlan_tag { vid: 7 } before outer.ethernet;
    send fabric;
  }
}
