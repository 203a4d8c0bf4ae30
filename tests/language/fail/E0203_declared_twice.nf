use net.l4;

nf counter {
  port lan, wan;
  param wan: u64 = 10;
  on packet { send lan; }
}
