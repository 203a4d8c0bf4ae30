use net.l4;

nf limiter {
  port inside, outside;
  param rate: packetrate = 10pps;
  param burst: bytes = 64KB;
  use test.limiter;
  state { bucket: token_bucket(rate, 5); }
  on packet {
    require len <= burst and bucket.take(1) else drop "too much";
    send outside;
  }
}
