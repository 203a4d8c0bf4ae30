/// A shaper: every class gets its rate, and what comes too early waits. To be used with a schedule whose `idle` is at
/// least burst / rate; a class that has to give way to others (`when full evict oldest`, `pass`) may get more.
///
/// It cannot know how packets are told into classes.
block shaper {
  /// What every class gets: `burst` at once after a silence, and `rate` in the long run.
  param rate:  bitrate;
  param burst: bytes;
  /// No packet waits longer: at most the time in which `rate` sends what the queue of a class holds.
  param hold: duration;

  use test.scheduler;

  /// A frame is never shorter than its Ethernet header (SCHEDULE.md, P1.1).
  fn size(length: bytes) -> bytes { max(length, 14B) }

  fn above(passed: bytes, time: duration) -> bool {
    passed > burst and (time == 0s or (passed - burst) / time > rate)
  }

  /// In no span of time does a class get more than the burst and what the rate gives.
  property never_above {
    for p, q in trace where p.sent and q.sent and p.class == q.class
    expect not above(bytes(class: p.class, p.left..q.left + 1ns), q.left - p.left);
  }

  /// A packet waits no nanosecond longer than it has to: one earlier, it would have been too much for the rate.
  /// (Each port's copy counts. Said of packets that have a class: what lacks what the NF demands has none, which is then
  /// equal to no other.)
  property no_longer_than_needed {
    for q in trace where q.sent and q.left > q.at and q.class == q.class
    expect exists p in trace where p.sent and p.class == q.class and p.number < q.number
      and above(size(q.out.len) + sum(r in trace where r.sent and r.class == q.class and r.number >= p.number
                                        and r.number < q.number: size(r.out.len) * r.ports.len),
                if q.left > p.left { q.left - 1ns - p.left } else { 0s });
  }

  /// A packet is dropped only if there is no room for it to wait, or it could never leave. (Said of packets no longer
  /// than one that left: the NF may have a limit of its own.)
  property dropped_only_for_want_of_room {
    for p, q in trace where p.sent and q.dropped and p.class == q.class and p.ports.len == 1 and p.number < q.number
      and p.in_port == q.in_port and p.len >= q.len and p.changes == q.changes
    expect q.reason in {"queue full", "buffer full", "longer than burst", "rate too low", "no free class",
                        "short frame"};
  }
}
