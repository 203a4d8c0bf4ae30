//# apply
hdr.ethernet.dst = hdr.ethernet.ether_type;
hdr.ethernet.src = hdr.ethernet.src + hdr.ethernet.ether_type;
