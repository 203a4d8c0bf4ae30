//# types
struct port_t {
    bit<4> a;
    bit<60> b;
}
//# metadata
port_t port;
//# start
md.port = port_metadata_unpack<port_t>(pkt);
transition parse_ethernet;
