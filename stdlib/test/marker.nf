/// What looks at packets, drops some, and changes nothing of the others but their DSCP.
///
/// It cannot know which packets should be dropped, or marked how.
block marker {
  /// Addresses, ports, payload and the rest are what they were.
  property only_dscp_changes {
    for p in trace where p.sent and p.in.ip
    expect p.out.flow == p.flow and p.out.len == p.in.len and p.out.payload == p.in.payload
      and p.out.ip.ecn == p.in.ip.ecn;
  }

  /// What has no DSCP passes as it is.
  property others_unchanged {
    for p in trace where p.sent and not p.in.ip expect p.out == p.in;
  }

  /// A packet that comes with right checksums leaves with right ones.
  property checksums_follow {
    for p in trace where p.sent expect checksums_valid(p);
  }

  /// Nothing waits.
  property at_once {
    for p in trace where p.sent expect p.left == p.at;
  }

  /// No packet leaves by the port it came in.
  property never_back {
    for p in trace where p.sent expect not (p.in_port in p.ports);
  }

  /// How often anything looks at the time makes no difference.
  property poll_invariance {
    expect outputs(steps: 10) == outputs();
  }
}
