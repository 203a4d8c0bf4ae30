use net.l4;

nf firewall {
  port lan, wan;
  on packet {
    require 60B < len < 1500B else drop "length";
    send wan;
  }
}
