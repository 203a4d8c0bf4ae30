//# types
header odd_h {
    bit<100> a;
    bit<100> b;
}
