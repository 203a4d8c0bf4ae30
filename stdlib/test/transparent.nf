/// For every NF that passes packets as they are, or not at all.
///
/// It cannot know which packets should pass, or where to.
block transparent {
  /// What leaves is byte for byte what came.
  property unchanged {
    for p in trace where p.sent expect p.out == p.in;
  }

  /// No packet leaves by the port it came in: that would be a loop.
  property never_back {
    for p in trace where p.sent expect not (p.in_port in p.ports);
  }

  /// Nothing waits.
  property at_once {
    for p in trace where p.sent expect p.left == p.at;
  }
}
