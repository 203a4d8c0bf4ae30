/// A limiter of conversations with two slots for every client: nothing is counted, and nothing is ever cleaned up.
use net.l4;

struct Slot { talk: Flow, last: time }

nf connections_slots {
  port inside, outside;
  param quiet: duration = 30s;
  state { slots: map<(ipv6, u8), Slot> { capacity 4K; age 1h; when full drop; } }
  use test.connection_limiter { limit: 2, idle: 30s };

  on packet from inside {
    require l4 and not fragment else drop "not TCP or UDP";
    let free = Slot { talk: flow, last: now - quiet };
    let a = slots.peek((flow.src, 0)) else free;
    let b = slots.peek((flow.src, 1)) else free;
    let a_lives = now - a.last < quiet;
    let b_lives = now - b.last < quiet;
    let slot: u8 =
      if a_lives and a.talk == flow { 0 } else if b_lives and b.talk == flow { 1 }
      else if not a_lives { 0 } else if not b_lives { 1 } else { 2 };
    require slot < 2 else drop "too many";
    slots[(flow.src, slot)] = Slot { talk: flow, last: now };
    send outside;
  }
  on packet from outside { send inside; }
}
