use net.l4;

nf wire {
  port lan, wan;
  use test.telemetry { wan: 1 };
  on packet { send wan; }
}
