/// A probe that keeps no flow: sketches, and a timer that clears them.
use net.l4;

nf probe_sketch {
  port lan, wan;
  state {
    octets:  count_min<Flow> { error 1%; confidence 90%; }
    talkers: top_k<ipv6> { k 4; error 1%; }
    hosts:   hyperloglog<ipv6> { error 5%; }
    packets: array<u64>[256];
  }
  use test.telemetry;

  on packet {
    octets.add(flow, len as u64);
    if ip {
      talkers.add(flow.src, 1);
      hosts.add(flow.src);
      packets[flow.protocol as u64] += 1;
    }
    send ports - in_port;
  }
  every 1s { octets.clear(); talkers.clear(); hosts.clear(); }
}
