//# apply
hdr.ethernet.dst = 1
hdr.ethernet.src = 2;
