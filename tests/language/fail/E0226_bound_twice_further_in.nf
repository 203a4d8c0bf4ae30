use net.l4;

nf wire {
  port lan, wan;
  on packet { send ports - in_port; }
  property crosses {
    for p in trace where p.sent
    for q in trace where q.sent and q.at > p.at
    for p in trace where p.at > q.at
    expect p.out_port != p.in_port;
  }
}
