use net.l4;

enum Mode: bool { strict, loose }

nf wire {
  port lan, wan;
  state { mode: Mode; }
  on packet {
    require mode == Mode.loose else drop "strict";
    send wan;
  }
}
