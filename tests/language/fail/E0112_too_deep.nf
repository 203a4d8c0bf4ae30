use net.l4;

nf firewall {
  port lan, wan;
  on packet {
    require (((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((tcp))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))) else drop "no";
    send wan;
  }
}
