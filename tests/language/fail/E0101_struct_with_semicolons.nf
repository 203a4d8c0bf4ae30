use net.l4;

struct Entry { first: time; packets: u64; }

nf wire {
  port lan, wan;
  on packet { send wan; }
}
