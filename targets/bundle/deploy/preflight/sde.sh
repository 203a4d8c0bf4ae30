#!/bin/sh
# The vendor's SDE on a switch with a Tofino: compiler, driver, and the Python client of its gRPC. See common.sh.
. "${0%/*}/common.sh"
any_role switch && [ "$SOFT_SWITCH" = no ] || exit 0

# As it was installed with, where nothing else is said.
[ -n "${SDE:-}" ] || [ ! -r "$ETC/sde.env" ] || . "$ETC/sde.env"

# shellcheck disable=SC2016 # to be typed as it is
how='bf-sde 9.x is from the vendor of the chip; then: export SDE=... SDE_INSTALL=$SDE/install'
if [ -z "${SDE:-}" ]; then
    missing 'the environment variable SDE' '' "$how"
elif [ ! -d "$SDE" ]; then
    missing "the SDE: SDE names $SDE, which is no folder" '' "$how"
else
    ok "SDE in $SDE"
fi
install=${SDE_INSTALL:-${SDE:+$SDE/install}}
for file in bin/bf-p4c bin/bf_switchd; do
    if [ -n "$install" ] && [ -x "$install/$file" ]; then
        ok "$install/$file"
    else
        missing "${install:-\$SDE_INSTALL}/$file" '' 'Build the SDE with its p4studio: ./p4studio profile apply, with bf-p4c and the driver.'
    fi
done
client=
for path in "$install"/lib/python3*/site-packages/tofino/bfrt_grpc/client.py; do [ -e "$path" ] && client=$path; done
if [ -n "$client" ]; then
    ok "$client"
else
    missing "${install:-\$SDE_INSTALL}/lib/python3.*/site-packages/tofino/bfrt_grpc/client.py" '' 'Build the SDE with its gRPC client (p4studio: bf-driver with grpc).'
fi
queues=
for path in "$install"/share/bf_rt_shared/bf_rt_tm_*.json "$install"/share/bf_rt_shared/*/bf_rt_tm_*.json; do
    [ -e "$path" ] && queues=$path
done
if [ -n "$queues" ]; then
    ok 'tables of the traffic manager, by which queues get their limits'
else
    missing "${install:-\$SDE_INSTALL}/share/bf_rt_shared/bf_rt_tm_*.json" '' 'Tables by which queues get their limits: SDE 9.5 and newer have them.'
fi

# No table of the SDE's says whether a port appends ICRC; the controller finds out (runtime/PROTOCOL.md, rule 14).
if [ -n "${ICRC:-}" ]; then
    warning "switch ports $ICRC_PORTS must append ICRC by the setting '$ICRC', and no driver tells whether they do" '' \
        "Set it before the controller starts; without it, no queue pair comes up, and polysome status says so."
    ok "the controller proves it by $CPU_INTERFACE, at switch port $CPU_PORT"
fi
exit 0
