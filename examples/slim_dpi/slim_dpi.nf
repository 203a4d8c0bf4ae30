/// What a flow carries, told by the first 8 bytes of its payload; packets leave with the DSCP of their service.
use net.l4;

enum Service: u8 { other, http, tls, ssh, dns, quic }

nf slim_dpi {
  port inside, outside;
  /// A service without a row keeps the DSCP that it has.
  config marks: map<Service, bit<6>>;

  relevant flow, payload[0..8] when l4;

  state {
    /// By `flow.canonical`, so that both directions are one.
    services: map<Flow, Service> { capacity 1M; idle 5min; when full pass; }
    packets:  array<u64>[6];
  }
  schedule { class flow; fifo; }

  fn over_tcp(head: bit<64>) -> Service {
    let text = head[63:32];
    // A record of type handshake, version 3.0 to 3.4, that begins with a Client Hello (RFC 8446, sections 4 and 5.1).
    if head[63:40] in {0x160300, 0x160301, 0x160302, 0x160303, 0x160304} and head[23:16] == 1 { Service.tls }
    // "SSH-" (RFC 4253, section 4.2).
    else if text == 0x5353482d { Service.ssh }
    // GET, HEAD, POST, PUT, DELETE, OPTIONS, CONNECT, TRACE (RFC 9110, section 9.3) and PATCH (RFC 5789).
    else if text in {0x47455420, 0x48454144, 0x504f5354, 0x50555420, 0x44454c45, 0x4f505449, 0x434f4e4e, 0x54524143,
                     0x50415443} { Service.http }
    else { Service.other }
  }

  fn over_udp(head: bit<64>) -> Service {
    // A long header with the fixed bit, version 1 or 2 (RFC 9000, section 17.2; RFC 9369).
    if head[63:62] == 3 and (head[55:24] == 1 or head[55:24] == 0x6b3343cf) { Service.quic }
    // A standard query with one question and no answer (RFC 1035, section 4.1.1).
    else if head[47:43] == 0 and head[31:0] == 0x00010000 { Service.dns }
    else { Service.other }
  }

  on packet {
    if l4 {
      let service = services[flow.canonical] else {
        let found = if tcp { over_tcp(payload[0..8]) } else { over_udp(payload[0..8]) };
        if payload.len > 0B { services[flow.canonical] = found; }
        found
      };
      packets[service as u64] += 1;
      if let dscp = marks[service] { ip.dscp = dscp; }
    }
    send ports - in_port;
  }

  /// The first payload of a flow decides.
  property told_by_the_first_payload {
    for p in trace where p.in.l4 and p.in.payload.len > 0B
      and not (p.flow.canonical in p.before.services) and p.flow.canonical in p.after.services
    let service = p.after.services[p.flow.canonical];
    let text = p.in.payload[0..4];
    let tls = p.in.payload[0..2] == 0x1603 and p.in.payload[2..3] <= 4 and p.in.payload[5..6] == 1;
    let method = text in {0x47455420, 0x48454144, 0x504f5354, 0x50555420, 0x44454c45, 0x4f505449, 0x434f4e4e,
                          0x54524143, 0x50415443};
    let quic = p.in.payload[0..1] >= 0xc0 and (p.in.payload[1..5] == 1 or p.in.payload[1..5] == 0x6b3343cf);
    let query = p.in.payload[2..3] < 8 and p.in.payload[4..8] == 0x00010000;
    expect (service == Service.tls) == (p.in.tcp and tls);
    expect (service == Service.ssh) == (p.in.tcp and text == 0x5353482d);
    expect (service == Service.http) == (p.in.tcp and method);
    expect (service == Service.quic) == (p.in.udp and quic);
    expect (service == Service.dns) == (p.in.udp and query and not quic);
  }

  /// It is told at once, unless the table is full.
  property told_at_once {
    for p in trace where p.in.l4 and p.in.payload.len > 0B and p.before.services.len == 0
    expect p.flow.canonical in p.after.services;
  }

  /// What is told once stays, in both directions, for 5 minutes after the last packet; no payload, nothing told.
  property stays {
    for p in trace where p.in.l4 and p.flow.canonical in p.before.services
    expect p.after.services[p.flow.canonical] == p.before.services[p.flow.canonical];
    for p in trace where p.in.l4 and not (p.flow.canonical in p.before.services)
    expect p.in.payload.len > 0B or not (p.flow.canonical in p.after.services);
    for p, q in trace where p.in.l4 and q.in.l4 and p.flow.canonical == q.flow.canonical
      and not (exists r in trace where r.in.l4 and r.flow.canonical == p.flow.canonical
               and p.number < r.number and r.number < q.number)
    expect not (p.flow.canonical in p.after.services)
      or (q.flow.canonical in q.before.services) == (q.at - p.at < 5min);
  }

  /// The packets of a flow have its service's DSCP, and are counted under it; before the first payload that is `other`.
  property marked {
    for p in trace where p.in.l4 and (p.flow.canonical in p.after.services or p.in.payload.len == 0B)
    let service = if p.flow.canonical in p.after.services { p.after.services[p.flow.canonical] } else { Service.other };
    let mark = p.before.marks[service];
    expect p.after.packets[service as u64] == p.before.packets[service as u64] + 1;
    expect not p.sent or p.out.ip.dscp == mark or not (service in p.before.marks) and p.out.ip.dscp == p.in.ip.dscp;
  }

  use test.marker;

  /// Nothing is dropped, and without another DSCP nothing changes at all.
  property all_passes {
    for p in trace
    expect p.reason == "short frame" or p.sent
      and (p.in_port == inside and p.ports == {outside} or p.in_port == outside and p.ports == {inside});
    for p in trace where p.sent and (not p.in.l4 or p.out.ip.dscp == p.in.ip.dscp) expect p.out == p.in;
  }
}
