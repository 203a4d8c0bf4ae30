/// Reframer (NSDI'22): every packet waits a little, so that packets of one flow leave together. What comes after,
/// from a NIC's receive offload to a server's caches, then sees trains instead of single packets.
use net.l4;

nf reframer {
  port network, servers;
  param window: duration = 100us;
  param most:   u64      = 64;              // packets in the buffer
  use test.scheduler { hold: window };

  relevant flow;
  schedule { class flow; reframe window, most; }

  on packet from network { send servers; }

  /// Of what leaves together, of one buffer, nothing stands between two packets of one flow.
  property trains {
    for p, q in trace where p.sent and q.sent and p.class == q.class and p.left == q.left
      and count(r in trace where r.left == p.left) <= most
    expect not (exists r in trace where r.class != p.class and p.place < r.place and r.place < q.place);
  }
}
