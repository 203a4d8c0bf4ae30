//# apply
if (hdr.ethernet.dst == 1) { hdr.ethernet.dst = 2; }
