/// Whatever delays packets: when something leaves is its business, not what.
///
/// It cannot know the order between classes.
block scheduler {
  /// No packet waits longer.
  param hold: duration;

  /// Every packet that came is sent, dropped for a reason, or waiting: none is lost, none comes from nowhere.
  property conservation {
    expect count(p in trace) == count(p in trace where p.sent) + count(p in trace where p.dropped)
           + count(p in trace where p.held);
  }

  /// Packets of one class leave in the order they came.
  property order_within_a_class {
    for p, q in trace where p.sent and q.sent and p.class == q.class and p.ports == q.ports
    expect p.left <= q.left and p.place < q.place;
  }

  /// No packet waits longer than `hold`.
  property bounded_hold {
    for p in trace where p.sent expect p.left >= p.at and p.left - p.at <= hold;
    for p, q in trace where p.held expect q.at - p.at < hold;
  }

  /// Only when packets leave is decided: they are what they were.
  property unchanged {
    for p in trace where p.sent expect p.out == p.in;
  }

  /// How often anything looks at the time makes no difference.
  property poll_invariance {
    expect outputs(steps: 10) == outputs();
  }
}
