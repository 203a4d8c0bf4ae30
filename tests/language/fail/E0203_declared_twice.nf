use net.l4;

nf counter {
  port lan, wan;
  param wan: bytes = 1500B;
  on packet {
    require len <= 1500B else drop "long";
    send lan;
  }
}
