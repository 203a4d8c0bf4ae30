//# locals
action a() { }
action a() { }
