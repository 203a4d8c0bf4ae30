use net.l4;

nf forwarder {
  port lan, wan;
  relevant ipv4.dst else drop "not IPv4";
  traffic { rate 10Gbps; }
  schedule { class flow; fifo; }
  on packet from lan { ethernet.dst = 02:00:00:00:00:01; send wan; }
  on packet from wan { require ipv4.dst != 10.0.0.1 else drop "not for us"; send lan; }
}
