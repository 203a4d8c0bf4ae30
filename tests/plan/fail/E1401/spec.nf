use net.l4;

nf slow {
  port lan, wan;
  relevant ipv4.{src, dst, protocol}, l4.{sport, dport} else drop "not TCP or UDP";
  schedule { class flow; shape 1Mbps, 64KB; classes 64K; idle 10s; buffer 16MB; queue 256KB; when full drop; }
  on packet from lan { send wan; }
}
