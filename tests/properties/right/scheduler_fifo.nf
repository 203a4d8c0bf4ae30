/// A slow line with a queue for each direction.
use net.l4;

nf scheduler_fifo {
  port lan, wan;
  use test.scheduler { hold: 13324us };                     // a full buffer, behind the packet that is being sent
  schedule { class in_port; fifo; serve 10Mbps; buffer 15140B; when full drop; }

  action forward(to: port) {
    require len <= 1514B else drop "longer than the MTU";
    send to;
  }
  on packet from lan { forward(wan); }
  on packet from wan { forward(lan); }
}
