//# locals
action forward() { }
table t { actions = { froward; } }
//# apply
t.apply();
