#!/bin/sh
# TCP ports that the machine's parts listen on: nobody else does. See common.sh.
. "${0%/*}/common.sh"
[ -n "${LISTEN:-}" ] || exit 0

# Does somebody listen on port $1? The kernel's tables: local address and port in hexadecimal, state 0A.
listening() {
    hex=$(printf ':%04X' "$1")
    for table in /proc/net/tcp /proc/net/tcp6; do
        [ -r "$table" ] || continue
        while read -r _ local _ state _; do
            case $state$local in 0A*"$hex") return 0 ;; esac
        done <"$table"
    done
    return 1
}

for port in $LISTEN; do
    if ! listening "$port"; then
        ok "TCP port $port is free"
    elif have systemctl && systemctl is-active --quiet "$UNIT" 2>/dev/null; then
        ok "TCP port $port is in use, and $UNIT runs"
    else
        missing "TCP port $port: another program listens there" '' "ss -ltnp 'sport = :$port' names it; the site file may give another port."
    fi
done
exit 0
