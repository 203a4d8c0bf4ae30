//# apply
hdr.ethernet.ether_type = 0x10000;
