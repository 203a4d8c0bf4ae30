//# metadata
bit<8> a;
bit<8> a;
