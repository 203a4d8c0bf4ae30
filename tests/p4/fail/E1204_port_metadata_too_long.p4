//# types
struct port_t {
    bit<64> a;
    bit<8> b;
}
//# metadata
port_t port;
//# start
md.port = port_metadata_unpack<port_t>(pkt);
transition parse_ethernet;
