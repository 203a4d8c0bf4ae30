/// VLAN tags as tests see them: in which VLANs a port is, only the NF knows.
use net.ethernet;

/// Does no VLAN tag follow this type (IEEE 802.1Q, clause 9)?
fn untagged(ether_type: u16) -> bool { ether_type != EtherType.vlan and ether_type != EtherType.service_vlan }
