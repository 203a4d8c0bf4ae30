use net.l4;

nf spreading {
  port a, b;
  config spread: maglev<ipv4> { size 256; }
  on packet { send b; }
}
