use net.l4;

nf wire {
  port lan, wan;
  on packet from lan { Send wan; }
  on packet from wan { Drop "closed"; }
}
