//# types
control Sub(inout bit<48> mac) {
    apply { mac = 1; }
}
//# locals
Sub() sub;
//# apply
sub.apply(hdr.ethernet.dst);
sub.apply(hdr.ethernet.src);
