/// A probe in the line: it looks at packets, and nobody notices.
///
/// It cannot know what is counted: a recount of the trace beside the spec's state is for the spec's own properties.
block telemetry {
  port lan, wan;

  /// No packet is dropped, held up or changed: what comes in at one side leaves at once by the other. (A copy may go to
  /// whoever collects them.)
  property passes_everything {
    for p in trace where p.in_port in {lan, wan} and not (p.reason == "short frame")
    expect p.sent and p.left == p.at and p.out == p.in and not (p.in_port in p.ports)
      and (if p.in_port == lan { wan } else { lan }) in p.ports;
  }
}
