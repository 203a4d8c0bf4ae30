//# egress_start
transition select(pkt.lookahead<bit<8>>()) { 1: longer; default: accept; }
//# egress_states
state longer {
    pkt.advance(1288);
    transition accept;
}
