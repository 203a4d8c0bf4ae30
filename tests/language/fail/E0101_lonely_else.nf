use net.l4;

nf firewall {
  port lan, wan;
  on packet {
    require tcp else drop "not TCP";
    else { drop "UDP"; }
    send wan;
  }
}
