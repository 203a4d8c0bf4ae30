use net.l4;

nf probe {
  port lan, wan;
  on packet {
    require ipv4 else drop "not IPv4";
    emit ethernet { src: 02:00:00:00:00:01, dst: 02:00:00:00:00:02 } payload ipv4.dscp to lan;
    send wan;
  }
}
