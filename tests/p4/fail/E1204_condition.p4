//# apply
if (hdr.ethernet.ether_type) { }
