//# types
enum bit<8> kind_t { A = 1 }
