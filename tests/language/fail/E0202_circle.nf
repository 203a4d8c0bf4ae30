use net.l4;
use E0202_circle;

nf wire {
  port lan, wan;
  on packet { send wan; }
}
