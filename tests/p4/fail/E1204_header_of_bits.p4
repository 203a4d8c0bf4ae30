//# types
header odd_h { bit<7> x; }
