#!/bin/sh
# The links between a machine and the switch: their interfaces are there, up, and take the frames. See common.sh.
. "${0%/*}/common.sh"

if [ "${NF_HOST:-}" = dpdk ]; then
    if [ -e "/sys/bus/pci/devices/$DEVICE" ]; then
        ok "PCI device $DEVICE"
    else
        missing "PCI device $DEVICE" '' 'The site file names it; lspci -D lists those of this machine.'
    fi
    if [ -e /sys/module/vfio_pci ] || [ -e /sys/module/mlx5_core ]; then
        ok 'a driver by which DPDK reaches it'
    else
        missing 'a driver by which DPDK reaches it' '' "modprobe vfio-pci && dpdk-devbind.py --bind=vfio-pci $DEVICE (ConnectX: its own, mlx5_core)"
    fi
fi

link() { # INTERFACE LEAST-MTU
    at=/sys/class/net/$1
    if [ ! -e "$at" ]; then
        known=
        for path in /sys/class/net/*; do known="$known ${path##*/}"; done
        if [ "$SOFT_SWITCH" = yes ] && [ "$1" = "${CPU_INTERFACE:-}" ]; then
            missing "network interface $1, by which the controller proves queue pairs" '' \
                "ip link add port$CPU_PORT mtu $2 type veth peer name $1 mtu $2; ip link set port$CPU_PORT up; ip link set $1 up"
            return
        fi
        missing "network interface $1" '' "The site file names it (a soft switch calls its own portN); this machine has:${known:- none}."
        return
    fi
    ok "network interface $1"
    state=unknown
    read -r state <"$at/operstate" || :
    case $state in
        up | unknown) ok "$1: its link is $state" ;;
        *) missing "a link on $1 (it is $state)" '' "ip link set $1 up; then cable, transceiver, port of the switch." ;;
    esac
    read -r mtu <"$at/mtu"
    if [ "$mtu" -ge "$2" ]; then
        ok "$1: MTU $mtu, at least $2 is needed"
    else
        missing "MTU $2 on $1 (it is $mtu)" '' "ip link set $1 mtu $2"
    fi
}

for pair in ${LINKS:-}; do
    link "${pair%:*}" "${pair##*:}"
done

if [ -n "${MAC:-}" ] && [ -e "/sys/class/net/$INTERFACE" ]; then
    read -r has <"/sys/class/net/$INTERFACE/address"
    if [ "$has" = "$MAC" ]; then
        ok "$INTERFACE: MAC address $MAC"
    else
        missing "MAC address $MAC on $INTERFACE (it is $has)" '' "ip link set $INTERFACE address $MAC, or give the site file its own."
    fi
fi
if [ -n "${IP:-}" ] && [ -e "/sys/class/net/$INTERFACE" ]; then
    case "$(ip -4 -oneline address show dev "$INTERFACE" 2>/dev/null) " in
        *" inet $IP/"*) ok "$INTERFACE: address $IP" ;;
        *) missing "address $IP on $INTERFACE" '' "ip address add $IP/24 dev $INTERFACE, or give the site file its own." ;;
    esac
fi
exit 0
