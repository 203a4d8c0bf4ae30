//# locals
action a() { }
table t {
    key = { hdr.ethernet.ether_type: exact; hdr.ethernet.dst: exact; }
    actions = { a; }
    const entries = {
        1: a();
        (1 &&& 3, 2): a();
    }
}
//# apply
t.apply();
