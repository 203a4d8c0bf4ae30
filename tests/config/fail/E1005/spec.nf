use net.l4;

struct Vtep { vni: bit<24>, ip: ipv4 }

nf needy {
  port a, b;
  config vtep: Vtep;
  config idle: duration = 30s;
  config rows: list<Vtep>;
  on packet { send b; }
}
