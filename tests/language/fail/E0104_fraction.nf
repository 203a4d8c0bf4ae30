use net.l4;

nf policer {
  port lan, wan;
  param share: u64 = 1.5;
  param pause: duration = 0.1ns;
  on packet {
    require hash(flow) % share != 0 or now > 0 as time + pause else drop "unlucky";
    send wan;
  }
}
