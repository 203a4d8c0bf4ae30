//# locals
action a() { }
table t {
    key = { hdr.ethernet.dst: exact; }
    actions = { a; }
    entries = { 5: a(); }
}
//# apply
t.apply();
