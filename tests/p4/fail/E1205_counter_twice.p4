//# locals
Counter<bit<32>, bit<1>>(2, CounterType_t.PACKETS) c;
//# apply
c.count(0);
c.count(1);
