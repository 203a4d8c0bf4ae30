use net.ethernet;

parser frame {
  state first { extract ethernet; }
}

nf wire {
  port lan, wan;
  on packet { send wan; }
}
