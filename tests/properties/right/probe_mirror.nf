/// A probe that mirrors: a collector gets a copy of what opens and closes TCP connections, and counts for itself.
use net.l4;

nf probe_mirror {
  port lan, wan, collector;
  use test.telemetry;

  action forward(to: port) {
    if tcp {
      if tcp.syn == 1 or tcp.fin == 1 or tcp.rst == 1 { send {to, collector}; }
    }
    send to;
  }
  on packet from lan { forward(wan); }
  on packet from wan { forward(lan); }
  on packet from collector { drop "the collector only listens"; }
}
