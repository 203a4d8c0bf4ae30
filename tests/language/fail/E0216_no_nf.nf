use net.l4;

const LIMIT: u64 = 100;
