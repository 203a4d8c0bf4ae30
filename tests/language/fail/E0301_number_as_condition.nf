use net.l4;

nf firewall {
  port lan, wan;
  on packet {
    require tcp else drop "not TCP";
    if tcp.syn { send wan; }
    drop "no SYN";
  }
}
