//# types
const bit<8> = 5;
//# apply
if hdr.ethernet.isValid() { }
