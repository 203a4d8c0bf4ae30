/// A filter against forged sources: what each side may send is known by prefixes.
use net.l4;

nf acl_source {
  port inside, outside;
  config own: set<ipv4>;
  use test.acl;

  on packet from inside {
    require ipv4 and ipv4.src in own else drop "forged";
    require len <= 1514B else drop "long";
    send outside;
  }
  on packet from outside {
    require ipv4 and not (ipv4.src in own) else drop "forged";
    require ipv4.ttl > 1 else drop "expired";
    ipv4.ttl -= 1;
    send inside;
  }
}
