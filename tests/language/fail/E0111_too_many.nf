use net.l4;

nf firewall {
  port lan, wan;
  on packet {
    if tcp
      send wan;
    }
    drop "not TCP";
  }
}
