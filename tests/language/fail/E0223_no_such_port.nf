use net.l4;

nf wire {
  port lan, wan;
  on packet from lam { send wan; }
  on packet from wan { send lan; }
}
