use net.l4;

nf counter {
  port lan, wan;
  state { slow: u64; }
  on packet { send wan; }
  every 1s { if len < 100B { slow += 1; } }
}
