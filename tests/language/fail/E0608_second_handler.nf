use net.l4;

nf firewall {
  port lan, wan;
  on packet from lan { send wan; }
  on packet from lan, wan { drop "closed"; }
}
