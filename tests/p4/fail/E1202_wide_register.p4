//# locals
Register<bit<64>, bit<4>>(16) r;
