//# locals
action a() { }
table t {
    actions = { a; }
    idle_timeout = true;
}
//# apply
t.apply();
