use net.l4;

nf wire {
  port lan, wan;
  on packet { send ports - in_port; }
  property crosses {
    for p in trace where p.sent
    let to = p.out_port;
    expect to != p.in_port;
    for p in trace expect not p.dropped;
  }
}
