//# apply
hdr.ethernet.destination = 1;
