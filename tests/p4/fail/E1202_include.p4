//# types
#include "other.p4"
