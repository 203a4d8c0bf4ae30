/// A router that rewrites: the catalogue's properties of the machinery that runs it.
use net.l4;

nf router {
  port lan, wan;

  state {
    counts: map<Flow, u64> { capacity 1K; idle 30s; when full evict oldest; }
  }

  on packet from lan {
    require ipv4 and ipv4.ttl > 1 else drop "not forwarded";
    counts[flow] += 1;
    ipv4.ttl = ipv4.ttl - 1;
    ipv4.src = 192.0.2.1;
    send wan;
  }

  property batch_is_single {
    expect outputs(engine: native, batch: 32) == outputs(engine: native, batch: 1);
  }

  property shards_are_sequential {
    expect outputs(cores: 4) == outputs(cores: 1);
  }

  property split_is_invisible {
    expect outputs(engine: system, split: true) == outputs(engine: system, split: false);
    for p in trace where p.sent expect p.out.len == p.in.len and p.out.payload == p.in.payload;
  }

  property rewrites_have_valid_checksums {
    for p in trace where p.sent expect checksums_valid(p) and (p.in.ipv4.ihl == 5 or p.out.ipv4.ihl == p.in.ipv4.ihl);
    for p in trace where p.sent and checksums_valid(p.in) and p.in.fragment expect checksums_valid(p.out);
  }

  property time_jumps {
    expect outputs(engine: native, jump: 24h) == outputs(engine: interp, jump: 24h);
  }

  property equal_timestamps {
    expect outputs(engine: native, ties: 16) == outputs(engine: interp, ties: 16);
  }

  property long_idleness {
    for p, q in trace where p.flow == q.flow and q.at - p.at >= 30s
      and not (exists r in trace where r.flow == p.flow and p.number < r.number and r.number < q.number)
    expect not (q.flow in q.before.counts) and (not q.sent or q.after.counts[q.flow] == 1);
  }

  property full_tables {
    expect outputs(engine: native, capacity: 2) == outputs(engine: interp, capacity: 2);
    for p in trace expect p.after.counts.len <= 1K;
  }

  property hash_collisions {
    expect outputs(engine: native, collisions: true) == outputs(engine: native);
  }

  property links_lose_packets_and_nothing_else {
    expect outputs(engine: system, faults: {loss, duplication, reordering}) <= outputs(engine: system)
      and outputs(faults: loss) <= outputs() and outputs(scramble: true) != outputs(split: false, scramble: false);
  }
}
