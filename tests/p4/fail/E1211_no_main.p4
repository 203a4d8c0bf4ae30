#include <core.p4>
#include <tna.p4>
header a_h { bit<8> x; }
