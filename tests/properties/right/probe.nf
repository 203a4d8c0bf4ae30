/// A probe that counts the bytes of every flow.
use net.l4;

struct Count { packets: u64, octets: bytes }

nf probe {
  port lan, wan;
  state { counts: map<Flow, Count> { capacity 1K; idle 1min; when full pass; } }
  use test.telemetry;

  action count() {
    let c = counts.peek(flow) else Count { packets: 0, octets: 0B };
    counts[flow] = Count { packets: c.packets + 1, octets: c.octets + len };
  }
  on packet from lan { count(); send wan; }
  on packet from wan { count(); send lan; }
}
