#!/bin/sh
# The RDMA device of a server that lends memory: an Ethernet port that is active, with a RoCE v2 address. See common.sh.
. "${0%/*}/common.sh"
[ -n "${DEVICE:-}" ] && [ "$DEVICE" != soft ] || exit 0

at=/sys/class/infiniband/$DEVICE
if [ ! -e "$at" ]; then
    known=
    for path in /sys/class/infiniband/*; do [ -e "$path" ] && known="$known ${path##*/}"; done
    missing "RDMA device $DEVICE" 'rdma-core ibverbs-providers' "The site file names it; this machine has:${known:- none}."
    exit 0
fi
ok "RDMA device $DEVICE"
port=$at/ports/$DEVICE_PORT
if [ ! -e "$port" ]; then
    missing "port $DEVICE_PORT of $DEVICE" '' "The site file names it; $at/ports lists them."
    exit 0
fi
read -r state <"$port/state"
case $state in
    *ACTIVE*) ok "$DEVICE port $DEVICE_PORT is active" ;;
    *) missing "an active port $DEVICE_PORT of $DEVICE (it is ${state#*: })" '' 'Cable, transceiver, port of the switch; ip link set INTERFACE up.' ;;
esac
read -r layer <"$port/link_layer"
if [ "$layer" = Ethernet ]; then
    ok "$DEVICE port $DEVICE_PORT speaks Ethernet"
else
    missing "$DEVICE port $DEVICE_PORT as Ethernet (it is $layer)" '' 'mlxconfig -d DEVICE set LINK_TYPE_P1=2, then restart.'
fi
found=
for type in "$port"/gid_attrs/types/*; do
    read -r kind 2>/dev/null <"$type" || continue
    read -r gid <"$port/gids/${type##*/}"
    case $kind:$gid in 'RoCE v2':0000:0000:0000:0000:0000:ffff:*) found=$gid ;; esac
done
if [ -n "$found" ]; then
    ok "RoCE v2 over IPv4: $found"
else
    missing "a RoCE v2 address over IPv4 on $DEVICE" '' "ip address add ${IP:-198.18.0.21}/16 dev $INTERFACE"
fi
# A Tofino appends four bytes in place of the ICRC (runtime/PROTOCOL.md): the NIC must not look at them.
if [ "$SOFT_SWITCH" = yes ]; then
    ok 'ICRC: the soft switch computes it'
else
    warning "$DEVICE must accept any ICRC by the setting '$NIC_ICRC', and no driver tells whether it does" '' \
        "Set it before the agent starts; with the check on, every request is lost and no queue pair comes up."
fi
exit 0
