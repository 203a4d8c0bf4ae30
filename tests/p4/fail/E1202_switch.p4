//# apply
switch (hdr.ethernet.ether_type) { default: { } }
