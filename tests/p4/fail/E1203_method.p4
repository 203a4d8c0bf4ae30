//# locals
Hash<bit<16>>(HashAlgorithm_t.CRC16) h;
//# apply
hdr.ethernet.ether_type = h.compute({hdr.ethernet.dst});
