use net.tunnel;

nf gateway {
  port access, fabric;
  on packet {
    require vxlan else drop "not VXLAN";
    pop ethernet..vxlan;
    send access;
  }
}
