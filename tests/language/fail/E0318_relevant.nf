use net.l4;

nf firewall {
  port lan, wan;
  relevant payload[4..0];
  on packet { send wan; }
}
