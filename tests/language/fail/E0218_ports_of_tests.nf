use net.l4;

nf nat {
  port lan, wan;
  use test.nat as promise { idle: 5min };
  on packet from lan { send wan; }
  on packet from wan { send lan; }
}
