use net.l4;

nf firewall {
  port lan, wan;
  on packet {
    switch (flow.protocol) {
      case 6: send wan;
      default: drop "not TCP";
    }
    drop "other";
  }
}
