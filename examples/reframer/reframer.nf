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
    for p, q in trace where p.sent and q.sent and p.flow == q.flow and p.left == q.left and not p.fragment
      and not q.fragment and count(r in trace where r.left == p.left) <= most
    expect not (exists r in trace where r.flow != p.flow and not r.fragment and p.place < r.place
                and r.place < q.place);
  }

  /// All goes to the other side, as it came, and nothing is lost.
  property crosses {
    for p in trace where p.sent expect p.ports == {servers} and p.out == p.in;
    for p in trace where p.in_port == network expect not p.dropped or p.reason == "short frame";
  }

  /// Packets leave only when the window of the first of them is over, or the buffer is full.
  property waits {
    for p in trace where p.sent and p.left < p.at + window
    expect p.left >= p.at and (count(q in trace where q.left == p.left) >= most
                               or (exists q in trace where q.left == p.left and q.left == q.at + window));
  }
}
