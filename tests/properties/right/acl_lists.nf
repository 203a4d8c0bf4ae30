/// A packet filter whose rules are a list that is gone through, for whatever crosses: the first that matches decides.
use net.l4;

enum Effect { deny, permit }
struct Rule { src: ipv6, mask: ipv6, protocol: u8, low: u16, high: u16, effect: Effect }

nf acl_lists {
  port inside, outside;
  config rules: list<Rule>;
  use test.acl;

  fn matches(r: Rule, f: Flow) -> bool {
    (f.src & r.mask) == (r.src & r.mask) and (r.protocol == 0 or r.protocol == f.protocol) and f.dport >= r.low
      and f.dport <= r.high
  }

  action judge(to: port) {
    require ip else drop "not IP";
    require not fragment else drop "fragment";
    for r in rules {
      if matches(r, flow) {
        require r.effect == Effect.permit else drop "denied";
        send to;
      }
    }
    drop "no rule";
  }

  on packet from inside { judge(outside); }
  on packet from outside { judge(inside); }
}
