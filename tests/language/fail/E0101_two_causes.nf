use net.l4;

nf firewall {
  port lan, wan;
  on packet from lan {
    let count = ;
    send wan;
  }
  on packet from wan {
    require tcp, udp else drop "neither";
    send lan;
  }
}
