//# locals
apply { }
action a() { }
