//# locals
action a() { }
table t {
    key = { hdr.ethernet.dst: range; }
    actions = { a; }
}
//# apply
t.apply();
