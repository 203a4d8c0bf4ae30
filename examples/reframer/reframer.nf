/// Reframer (NSDI'22): every packet waits a little, so that packets of one flow leave together. What comes after,
/// from a NIC's receive offload to a server's caches, then sees trains instead of single packets.
use net.l4;

nf reframer {
  port network, servers;
  param window: duration = 100us;
  param most:   u64      = 64;              // packets in the buffer

  relevant flow;
  schedule { class flow; reframe window, most; }

  on packet from network { send servers; }

  /// Nothing waits longer than the window.
  property bounded_delay {
    for p in trace where p.sent expect p.left - p.at <= window;
  }

  /// Packets of a flow leave in the order they came.
  property order {
    for p, q in trace where p.sent and q.sent and p.class == q.class expect p.left <= q.left and p.place < q.place;
  }

  /// Of what leaves together, nothing stands between two packets of one flow.
  property trains {
    for p, q in trace where p.sent and q.sent and p.class == q.class and p.left == q.left
    expect not (exists r in trace where r.class != p.class and p.place < r.place and r.place < q.place);
  }
}
