/// A learning bridge (IEEE 802.1Q, clause 8): what is said here of known and unknown stations is said of frames without
/// a VLAN tag, and of bridges all of whose ports carry these.
///
/// It cannot know who is in which VLAN, nor which frames a bridge keeps for itself (link-local control, groups).
use test.tags;

block bridge {
  /// How long a station is remembered after it was last heard. That others send to it does not count.
  param ageing: duration;
  /// Does what is for a group go everywhere? Not in a bridge that knows who listens (RFC 4541).
  param floods_groups: bool = true;

  fn is_group(a: mac) -> bool { a[40:40] == 1 }

  /// No frame leaves by the port it came in: that would be a loop.
  property never_back {
    for p in trace where p.sent expect not (p.in_port in p.ports);
  }

  /// A bridge looks, and changes nothing.
  property unchanged {
    for p in trace where p.sent expect p.out == p.in;
  }

  /// A station that was heard, and not since then at another port, gets its frames there and nowhere else. (Whoever may
  /// not send frames like these, or so long ones, does not reach it.)
  property known_gets_its_frames {
    for p, q in trace where p.sent and q.in.ethernet.dst == p.in.ethernet.src and q.in_port != p.in_port
      and q.at - p.at < ageing and untagged(p.in.ethernet.ether_type) and untagged(q.in.ethernet.ether_type)
      and not is_group(q.in.ethernet.dst) and not is_group(q.in.ethernet.src)
      and q.in.ethernet.src != q.in.ethernet.dst and p.changes == q.changes
      and not full(p.at..p.at + 1ns) and not full(q.at..q.at + 1ns)
      and not evicted(p.at..q.at + 1ns) and not ended(End.removed, p.at..q.at + 1ns)
      and not (exists r in trace where r.number > p.number and r.number < q.number and r.in_port != p.in_port
               and r.in.ethernet.src == p.in.ethernet.src)
    expect q.out_port == p.in_port or q.held or q.reason == "short frame"
      or q.dropped and not (exists r in trace where r.sent and r.in_port == q.in_port and r.len >= q.len
                            and r.in.ethernet.src == q.in.ethernet.src and r.changes == q.changes
                            and r.in.ethernet.ether_type == q.in.ethernet.ether_type);
  }

  /// Frames for a station that was not heard, or too long ago, go out by all other ports: nobody knows where it is.
  property unknown_floods {
    for q in trace where q.sent and q.in.ethernet and untagged(q.in.ethernet.ether_type)
      and not is_group(q.in.ethernet.dst)
      and not (exists p in trace where p.number <= q.number and p.in.ethernet.src == q.in.ethernet.dst
               and q.at - p.at < ageing)
    expect q.ports == ports - q.in_port;
  }

  /// So does what is for all, or for a group.
  property groups_flood {
    for q in trace where q.sent and untagged(q.in.ethernet.ether_type) and is_group(q.in.ethernet.dst)
      and (floods_groups or q.in.ethernet.dst == ff:ff:ff:ff:ff:ff)
    expect q.ports == ports - q.in_port;
  }
}
