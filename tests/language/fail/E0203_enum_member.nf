use net.l4;

enum Mode { strict, loose, strict }

nf wire {
  port lan, wan;
  on packet { send wan; }
}
