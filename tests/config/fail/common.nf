use net.l4;

struct Backend { ip: ipv4, mac: mac, uplink: port }
struct Plan { rate: bitrate, burst: bytes, idle: duration }
struct Ends { src: ipv4, dst: ipv4, dport: u16 }
enum Action { pass, deny }

nf common {
  port clients, servers;
  param vip: ipv4 = 10.0.0.100;
  config backends: list<Backend>;
  config plans:    map<ipv4, Plan>;
  config routes:   lpm<ipv6, port>;
  config rules:    acl<Ends, Action>;
  config spread:   maglev<Backend> { size 251; }
  config blocked:  set<mac>;
  config ratio:    (u8, bool) = (1, true);
  on packet { send servers; }
}
