use net.l4;

nf firewall {
  port lan, wan;
  use nf.conntrack as ct;
  on packet { ct.opne(); send wan; }
}
