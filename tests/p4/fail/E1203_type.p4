//# metadata
bit<8> a;
mac_t mac;
