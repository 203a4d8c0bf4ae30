use net.l4;

block filter {
  relevant flow;
  action check() { require flow.protocol == 6 else drop "not TCP"; }
}
