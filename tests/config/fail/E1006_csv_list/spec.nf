use net.l4;

struct Group { vlan: bit<12>, members: list<port> }

nf groups {
  port a, b;
  config groups: list<Group>;
  on packet { send b; }
}
