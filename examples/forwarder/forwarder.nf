/// The smallest network function: what comes in at one port goes out at the other, with its MAC addresses swapped.
use net.l4;

nf forwarder {
  port left, right;

  relevant ethernet.{src, dst} else drop "runt";

  action swap() {
    let sender = ethernet.src;
    ethernet.src = ethernet.dst;
    ethernet.dst = sender;
  }

  on packet from left { swap(); send right; }
  on packet from right { swap(); send left; }

  /// Every frame leaves by the other port, at once.
  property forwards {
    for p in trace where p.in.ethernet
    expect p.reason == "short frame" or p.sent and p.left == p.at
      and (p.in_port == left and p.ports == {right} or p.in_port == right and p.ports == {left});
    for p in trace where not p.in.ethernet expect p.reason == "runt";
  }

  /// Its addresses are swapped, and nothing else has changed.
  property swaps {
    for p in trace where p.sent
    expect p.out.ethernet.src == p.in.ethernet.dst and p.out.ethernet.dst == p.in.ethernet.src
      and p.out.ethernet.ether_type == p.in.ethernet.ether_type and p.out.len == p.in.len
      and p.out.flow == p.in.flow and p.out.payload == p.in.payload and checksums_valid(p);
  }
}
