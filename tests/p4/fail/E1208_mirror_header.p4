//# types
header long_h { bit<264> x; }
//# deparser_locals
Mirror() mirror;
//# deparser
if (dprsr.mirror_type == 1) {
    mirror.emit<long_h>(1, {0});
}
