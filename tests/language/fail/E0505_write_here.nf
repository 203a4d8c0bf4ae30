use net.l4;

nf policer {
  port lan, wan;
  state { gold: token_bucket(10Mbps, 64KB); }
  schedule { priority if gold.take(len) { 0 } else { 1 }; serve 1Gbps; buffer 1MB; when full drop; }
  on packet { send wan; }
}
