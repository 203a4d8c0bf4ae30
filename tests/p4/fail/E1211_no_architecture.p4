header a_h { bit<8> x; }
