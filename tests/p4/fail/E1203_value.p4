//# apply
hdr.ethernet.dst = mac;
