use net.l4;

nf firewall {
  port lan, wan;
  use nf.conntrack as ct { close: 10s };
  on packet { ct.open(); send wan; }
}
