use net.l4;

nf firewall {
  port lan, wan;
  on packet {
    if tcp and tcp.dport = 80 { send wan; }
    drop "no web";
  }
}
