use net.l4;

nf policer {
  port lan, wan;
  schedule { class flow; police 10Mbps; classes 64K; idle 10s; when full drop; }
  on packet { send wan; }
}
