//# apply
dprsr.mtu_trunc_len = 100;
