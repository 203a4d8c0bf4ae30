//# locals
action set(bit<48> mac) { hdr.ethernet.dst = mac; }
//# apply
set();
