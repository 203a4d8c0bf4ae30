use net.l4;

nf shaper {
  port lan, wan;
  schedule { class flow; weighted_fair 4; }
  on packet { send wan; }
}
