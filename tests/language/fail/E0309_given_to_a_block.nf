use net.l4;

nf wire {
  port lan, wan;
  use test.telemetry { wan: lan, lan: wan, lan: lan };
  on packet { send wan; }
}
