use net.l4;

nf shaper {
  port lan, wan;
  schedule { class flow; shape 1Mbps, 1MB; classes 64K; idle 5s; buffer 16MB; when full drop; }
  on packet from lan { send wan; }
  on packet from wan { send lan; }
}
