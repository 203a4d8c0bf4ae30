//# apply
hdr.ethernet.dst = hdr.ethernet.dst * hdr.ethernet.src;
