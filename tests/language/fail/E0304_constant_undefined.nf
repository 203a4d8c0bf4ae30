use net.l4;

const LINKS: u64 = 0;

nf policer {
  port lan, wan;
  param share: bitrate = 10Gbps / LINKS;
  state { limit: token_bucket(share, 64KB); }
  on packet {
    require limit.take(len) else drop "too fast";
    send wan;
  }
}
