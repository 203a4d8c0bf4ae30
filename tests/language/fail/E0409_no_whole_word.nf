use net.l4;

header tag { kind: u8; sum: u16 checksum(header); spare: u8; }

nf wire {
  port lan, wan;
  on packet { send wan; }
}
