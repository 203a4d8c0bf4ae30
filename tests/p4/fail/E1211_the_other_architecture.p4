//# arch
t2na
