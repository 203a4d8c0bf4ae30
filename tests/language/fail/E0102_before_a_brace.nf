use net.l4;

nf counter {
  port lan, wan;
  on packet {
    require tcp else { drop "not TCP" };
    send wan
  }
}
