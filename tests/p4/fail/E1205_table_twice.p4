//# locals
action a() { }
table t { actions = { a; } default_action = a(); }
//# apply
if (hdr.ethernet.ether_type == 1) { t.apply(); } else { t.apply(); }
