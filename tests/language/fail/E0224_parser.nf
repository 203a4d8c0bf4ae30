use net.ethernet;

parser frames {
  state start { extract ethernet; }
}

nf nat {
  port inside, outside;
  use test.nat { idle: 5min };
  on packet { send outside; }
}
