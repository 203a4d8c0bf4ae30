use net.ethernet;

parser frame {
  state start { extract ethernet; goto look; }
  state look { select peek(8) { 0 => again; } }
  state again { goto look; }
}

nf wire {
  port lan, wan;
  on packet { send wan; }
}
