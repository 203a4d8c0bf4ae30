/// Ports that send at a rate (`serve`): a port never stands idle while a packet waits for it.
///
/// It cannot know which of several waiting packets should leave first.
block link {
  /// What a port sends per second.
  param rate: bitrate;

  /// A port never sends faster than its rate: the next packet's sending starts when that of the one before has ended.
  property never_faster {
    for p, q in trace where p.sent and q.sent and p.out_port == q.out_port and p.left < q.left
    let sent =
      sum(r in trace where r.sent and r.out_port == p.out_port and r.left >= p.left and r.left < q.left: r.out.len);
    expect sent / (q.left - p.left) <= rate;
  }

  /// While a packet waits, its port is sending: what left since it came, and what was being sent then, take that long.
  property work_conservation {
    for q in trace where q.sent and q.left > q.at + 1ns
    let since =
      sum(r in trace where r.sent and r.out_port == q.out_port and r.left >= q.at and r.left < q.left: r.out.len);
    let before = sum(r in trace where r.sent and r.out_port == q.out_port and r.left < q.at
                       and not (exists s in trace where s.sent and s.out_port == q.out_port
                                and s.left > r.left and s.left < q.at): r.out.len);
    expect (since + before) / (q.left - q.at - 1ns) >= rate;
  }
}
