#!/bin/sh
# Huge pages on the right NUMA node, and the right to lock memory. See common.sh.
. "${0%/*}/common.sh"
[ -n "${HUGE_PAGES:-}" ] || exit 0

if [ -z "${NUMA:-}" ]; then # DPDK: where its NIC is
    NUMA=0
    [ ! -r "/sys/bus/pci/devices/$DEVICE/numa_node" ] || read -r NUMA <"/sys/bus/pci/devices/$DEVICE/numa_node"
    [ "$NUMA" -ge 0 ] || NUMA=0
fi
at=/sys/devices/system/node/node$NUMA/hugepages/hugepages-2048kB
if [ ! -e "$at/free_hugepages" ]; then
    missing "NUMA node $NUMA with huge pages of 2 MiB" '' "The site file says numa = $NUMA; /sys/devices/system/node lists the nodes."
else
    read -r free <"$at/free_hugepages"
    read -r all <"$at/nr_hugepages"
    # A part that runs already has its pages: what counts is how many there are.
    if [ "$free" -ge "$HUGE_PAGES" ] || { have systemctl && systemctl is-active --quiet "$UNIT" 2>/dev/null && [ "$all" -ge "$HUGE_PAGES" ]; }; then
        ok "$free free huge pages of 2 MiB on NUMA node $NUMA, $HUGE_PAGES are needed"
    else
        missing "$HUGE_PAGES free huge pages of 2 MiB on NUMA node $NUMA (there are $free)" '' "echo $((all - free + HUGE_PAGES)) >$at/nr_hugepages (at boot: by /etc/tmpfiles.d)"
    fi
fi
# shellcheck disable=SC3045 # dash, bash and busybox have it
limit=$(ulimit -H -l 2>/dev/null) || limit=unknown
case $limit in
    unlimited) ok 'memory may be locked without limit' ;;
    unknown) warning 'the limit of locked memory is not known' '' "$UNIT sets LimitMEMLOCK=infinity; by hand: ulimit -l unlimited" ;;
    *) warning "locked memory is limited to $limit KiB in this shell" '' "$UNIT sets LimitMEMLOCK=infinity; by hand: ulimit -l unlimited" ;;
esac
exit 0
