use net.l4;

nf shaper {
  port lan, wan;
  schedule { class flow; shape 10Mbps, 64KB; idle 10s; buffer 16MB; when full drop; }
  on packet { send wan; }
}
