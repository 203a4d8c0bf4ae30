block limits {
  config most: u8 = 1;
  action check() { require most > 0; }
}
