use net.l4;

nf firewall {
  port lan, wan;
  action check() {
    if tcp { return; }
    drop "not TCP";
  }
  on packet { check(); send wan; }
}
