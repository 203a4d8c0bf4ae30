#!/bin/bash
# Records the packet captures of the examples.
#
#   record.sh OUT [EXAMPLE...]
#
# Every example gets a small network of namespaces joined by veth pairs. Real programs (curl, nginx, dig,
# dnsmasq, ping, iperf3, nc) talk across it, and tcpdump records at the ports of the namespace that stands
# where the network function will stand. Files go to OUT/EXAMPLE/*.pcap, with nanosecond timestamps.
#
# Run as root. Nothing outside the namespaces is touched, and all of it is removed at the end.
# Needs (Debian): iproute2 ethtool tcpdump nftables nginx-light curl dnsmasq-base bind9-dnsutils
#                 iperf3 iputils-ping netcat-openbsd openssl procps python3

set -euo pipefail

readonly ALL="forwarder acl dns_guard port_scan slim_dpi conn_limiter load_balancer nat firewall policer shaper reframer telemetry bridge router6 vxlan_gateway"
readonly PREFIX="record$$"            # namespaces are called record<pid>-<name>

if [ $# -lt 1 ] || [[ $1 == -* ]]; then
  echo "usage: $0 OUT [EXAMPLE...]    examples: $ALL" >&2
  exit 2
fi
OUT=$1
shift
EXAMPLES=${*:-$ALL}
for example in $EXAMPLES; do
  [[ " $ALL " == *" $example "* ]] || { echo "$0: no example '$example'; there are: $ALL" >&2; exit 2; }
done

[ "$(id -u)" = 0 ] || { echo "$0: must run as root (it makes network namespaces)" >&2; exit 1; }
missing=
export PATH=$PATH:/usr/sbin:/sbin
for tool in ip ss sysctl ethtool tcpdump nft nginx curl dnsmasq dig iperf3 ping nc openssl python3; do
  command -v "$tool" >/dev/null || missing+=" $tool"
done
[ -z "$missing" ] || { echo "$0: missing:$missing (see the list of packages at the top of this file)" >&2; exit 1; }

WORK=$(mktemp -d)
NAMESPACES=()        # made by the present example
DAEMONS=()           # process ids of its servers
CAPTURES=()          # process ids of its tcpdumps

teardown() {
  local pid name
  for pid in "${CAPTURES[@]}" "${DAEMONS[@]}"; do kill "$pid" 2>/dev/null || true; done
  for pid in "${CAPTURES[@]}" "${DAEMONS[@]}"; do wait "$pid" 2>/dev/null || true; done
  for name in "${NAMESPACES[@]}"; do ip netns del "$PREFIX-$name" 2>/dev/null || true; done
  CAPTURES=() DAEMONS=() NAMESPACES=()
}
trap 'teardown; rm -rf "$WORK"' EXIT
trap 'exit 130' INT TERM

# ---------------------------------------------------------------------------------------- network

in_ns() { local name=$1; shift; ip netns exec "$PREFIX-$name" "$@"; }
ip_in() { local name=$1; shift; ip -n "$PREFIX-$name" "$@"; }

# namespace NAME [4|46]: IPv6 is off unless asked for, so that its own chatter stays out of IPv4 captures.
namespace() {
  local name=$1 families=${2:-4}
  ip netns add "$PREFIX-$name"
  NAMESPACES+=("$name")
  if [ "$families" = 46 ]; then
    in_ns "$name" sysctl -qw net.ipv6.conf.{all,default}.accept_dad=0 net.ipv6.conf.{all,default}.accept_ra=0 \
      net.ipv6.conf.{all,default}.router_solicitations=0
  else
    in_ns "$name" sysctl -qw net.ipv6.conf.{all,default}.disable_ipv6=1
  fi
  ip_in "$name" link set lo up
}

# link NS1 PORT1 MAC1 NS2 PORT2 MAC2: a cable. Offloads are off at both ends: frames have the size and the
# checksums that they would have on a wire.
link() {
  local ns1=$1 port1=$2 mac1=$3 ns2=$4 port2=$5 mac2=$6
  ip link add name "$port1" address "$mac1" netns "$PREFIX-$ns1" type veth \
    peer name "$port2" address "$mac2" netns "$PREFIX-$ns2"
  plain_frames "$ns1" "$port1"
  plain_frames "$ns2" "$port2"
  ip_in "$ns1" link set "$port1" up
  ip_in "$ns2" link set "$port2" up
}

plain_frames() { in_ns "$1" ethtool -K "$2" tso off gso off gro off tx off rx off >/dev/null 2>&1; }

# switch NS PORT...: joins the ports of a namespace by an ordinary Linux bridge.
switch() {
  local name=$1 port; shift
  ip_in "$name" link show br0 >/dev/null 2>&1 || {
    ip_in "$name" link add br0 type bridge stp_state 0 mcast_snooping 0
    ip_in "$name" link set br0 up
  }
  for port in "$@"; do ip_in "$name" link set "$port" master br0; done
}

# never_ask NS DEV ADDRESS MAC: a fixed neighbour, so that no ARP or neighbour discovery is needed.
never_ask() { ip_in "$1" neigh replace "$3" lladdr "$4" nud permanent dev "$2"; }

readonly INSIDE_MAC=02:00:00:00:00:01     # the two ports of the namespace "nf", where the function will stand
readonly OUTSIDE_MAC=02:00:00:00:00:02
readonly SERVER_MAC=02:00:00:00:02:14

# two_sides INSIDE_GATEWAY OUTSIDE_GATEWAY SERVER: hosts - sw - (inside) nf (outside) - server, all /24.
# The namespace nf is an ordinary Linux router.
two_sides() {
  INSIDE_GATEWAY=$1
  local outside=$2 server=$3 families=${4:-4}
  namespace nf "$families"
  namespace sw
  namespace server "$families"
  link nf inside $INSIDE_MAC sw uplink 02:00:00:00:0f:01
  link nf outside $OUTSIDE_MAC server eth0 $SERVER_MAC
  switch sw uplink
  ip_in nf addr add "$INSIDE_GATEWAY/24" dev inside
  ip_in nf addr add "$outside/24" dev outside
  ip_in server addr add "$server/24" dev eth0
  ip_in server route add default via "$outside"
  in_ns nf sysctl -qw net.ipv4.ip_forward=1
  never_ask nf outside "$server" $SERVER_MAC
  never_ask server eth0 "$outside" $OUTSIDE_MAC
}

# host NAME ADDRESS: a host behind two_sides; its MAC ends in the last byte of its address.
host() {
  local name=$1 address=$2 families=${3:-4} mac
  mac=$(printf '02:00:00:00:01:%02x' "${address##*.}")
  namespace "$name" "$families"
  link "$name" eth0 "$mac" sw "$name" "02:00:00:00:0f:${mac##*:}"
  switch sw "$name"
  ip_in "$name" addr add "$address/24" dev eth0
  ip_in "$name" route add default via "$INSIDE_GATEWAY"
  never_ask "$name" eth0 "$INSIDE_GATEWAY" $INSIDE_MAC
  never_ask nf inside "$address" "$mac"
}

# vlan NS VID ADDRESS: an interface that tags what leaves by eth0. Where the kernel has no 802.1Q, a small
# program does its work between a tap interface and eth0.
vlan() {
  local name=$1 vid=$2 address=$3
  if ! ip_in "$name" link add link eth0 name "vlan$vid" type vlan id "$vid" 2>/dev/null; then
    daemon "$name" python3 "$WORK/vlan.py" "vlan$vid" eth0 "$vid"
    wait_for in_ns "$name" ip link show "vlan$vid"
    ip_in "$name" link set "vlan$vid" address "$(in_ns "$name" cat /sys/class/net/eth0/address)"
  fi
  ip_in "$name" addr add "$address" dev "vlan$vid"
  ip_in "$name" link set "vlan$vid" up
}

cat >"$WORK/vlan.py" <<'PYTHON'
import fcntl, os, select, socket, struct, sys
tap_name, port, vid = sys.argv[1], sys.argv[2], int(sys.argv[3])
tap = os.open("/dev/net/tun", os.O_RDWR)
fcntl.ioctl(tap, 0x400454ca, struct.pack("16sH22x", tap_name.encode(), 0x1002))     # TUNSETIFF, TAP without header
wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))            # all protocols
wire.bind((port, 0))
wire.setsockopt(263, 8, 1)               # PACKET_AUXDATA: the kernel takes received tags out of the frame
while True:
    for ready in select.select([tap, wire], [], [])[0]:
        if ready == tap:
            frame = os.read(tap, 2048)
            wire.send(frame[:12] + struct.pack("!HH", 0x8100, vid) + frame[12:])
        else:
            frame, ancillary, _, source = wire.recvmsg(2048, 64)
            if source[2] == socket.PACKET_OUTGOING:
                continue
            for _, _, data in ancillary:
                status, tci = struct.unpack("I12xH2x", data[:20])
                if status & 0x10 and tci & 0xfff == vid:                            # TP_STATUS_VLAN_VALID
                    try:
                        os.write(tap, frame)
                    except OSError:
                        pass             # the tap is not up yet
PYTHON

# ---------------------------------------------------------------------------------------- programs

wait_for() {
  local try
  for try in $(seq 100); do "$@" >/dev/null 2>&1 && return; sleep 0.05; done
  echo "$0: gave up waiting for: $*" >&2
  exit 1
}

daemon() {
  local name=$1; shift
  ip netns exec "$PREFIX-$name" "$@" >/dev/null 2>&1 &
  DAEMONS+=($!)
}

text() { head -c "$1" < <(yes "The quick brown fox jumps over the lazy dog."); }

# web NS: nginx on port 80 (and 8080), with the pages p1..p9 (100 to 900 bytes), 20k, 40k and slow/20k.
web() {
  mkdir -p "$WORK/web/slow"
  local i
  for i in 1 2 3 4 5 6 7 8 9; do text "${i}00" >"$WORK/web/p$i"; done
  text 20000 >"$WORK/web/20k"
  text 40000 >"$WORK/web/40k"
  cp "$WORK/web/20k" "$WORK/web/slow/20k"
  cat >"$WORK/nginx.conf" <<NGINX
daemon off; master_process off; pid $WORK/nginx.pid; error_log $WORK/nginx.log;
events { worker_connections 256; }
http {
  access_log off; default_type text/plain;
  client_body_temp_path $WORK; proxy_temp_path $WORK; fastcgi_temp_path $WORK; uwsgi_temp_path $WORK; scgi_temp_path $WORK;
  server { listen 80; listen 8080; listen [::]:80; root $WORK/web; location /slow/ { limit_rate 8k; } }
}
NGINX
  daemon "$1" nginx -p "$WORK" -e "$WORK/nginx.log" -c "$WORK/nginx.conf"
  wait_for in_ns "$1" curl -s -o /dev/null http://127.0.0.1/p1
}

# secure_web NS PORT: a web page over TLS.
secure_web() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=www.example.net -days 3650 \
    -keyout "$WORK/key.pem" -out "$WORK/certificate.pem" 2>/dev/null
  daemon "$1" openssl s_server -accept "$2" -cert "$WORK/certificate.pem" -key "$WORK/key.pem" -www
  wait_for listens "$1" "$2"
}

# resolver NS: dnsmasq, which knows hosts of example.net and the large name big.example.net.
resolver() {
  local i texts=()
  for i in 1 2 3 4 5 6; do texts+=("--txt-record=big.example.net,record $i $(text 120 | tr "\n" " ")"); done
  daemon "$1" dnsmasq --keep-in-foreground --conf-file=/dev/null --user=root --pid-file= --no-resolv --no-hosts \
    --host-record=www.example.net,198.51.100.20,2001:db8:2::20 --host-record=mail.example.net,198.51.100.25 \
    --host-record=big.example.net,198.51.100.30,2001:db8:2::30 --mx-host=big.example.net,mail.example.net,10 \
    --txt-record=www.example.net,"a short text" "${texts[@]}"
  wait_for in_ns "$1" dig +tries=1 +time=1 @127.0.0.1 www.example.net
}

listens() { in_ns "$1" ss -Hltn "sport = :$2" | grep -q .; }
fetch() { local name=$1; shift; in_ns "$name" curl -s -o /dev/null --max-time 10 "$@" 2>/dev/null; }
fetch_many() { local name=$1; shift; fetch "$name" --parallel --parallel-immediate --parallel-max 20 "$@"; }
ask() { local name=$1 server=$2; shift 2; in_ns "$name" dig +tries=1 +time=2 +ignore "@$server" "$@" >/dev/null; }
echo_request() { local name=$1; shift; in_ns "$name" ping -n -q -W 1 "$@" >/dev/null 2>&1 || true; }
datagram() { local name=$1; shift; echo "hello" | in_ns "$name" nc -u -w 1 "$@" >/dev/null 2>&1 || true; }

# together COMMAND... -- COMMAND... -- ...: runs commands side by side and waits for all.
together() {
  local command=() pids=() word pid
  for word in "$@" --; do
    if [ "$word" = -- ]; then "${command[@]}" & pids+=($!); command=(); else command+=("$word"); fi
  done
  for pid in "${pids[@]}"; do wait "$pid"; done
}

# capture NS PORT FILE [TCPDUMP ARGUMENTS]: starts recording; "-Q in" is what enters the port.
capture() {
  local name=$1 port=$2 file=$OUT/$EXAMPLE/$3.pcap; shift 3
  mkdir -p "$OUT/$EXAMPLE"
  local log=$WORK/tcpdump-${#CAPTURES[@]}.log
  : >"$log"
  ip netns exec "$PREFIX-$name" tcpdump -Z root -n -i "$port" -s 0 --time-stamp-precision=nano --immediate-mode -U \
    -w "$file" "$@" 2>"$log" &
  CAPTURES+=($!)
  wait_for grep -q '^tcpdump: listening' "$log"
}

end_captures() {
  local pid log
  sleep 0.3
  for pid in "${CAPTURES[@]}"; do kill "$pid"; done
  for pid in "${CAPTURES[@]}"; do wait "$pid" || true; done
  for log in "$WORK"/tcpdump-*.log; do
    grep -q '^0 packets dropped by kernel' "$log" || { echo "$0: a capture lost packets:" >&2; cat "$log" >&2; exit 1; }
  done
  CAPTURES=()
}

# part FROM TO FILTER: the packets of one capture that match.
part() {
  tcpdump -Z root -n -r "$OUT/$EXAMPLE/$1.pcap" --time-stamp-precision=nano -w "$OUT/$EXAMPLE/$2.pcap" "$3" 2>/dev/null
}

# shellcheck source=examples/record_examples.sh
. "$(dirname "${BASH_SOURCE[0]}")/record_examples.sh"

for EXAMPLE in $EXAMPLES; do
  echo "$EXAMPLE"
  "$EXAMPLE"
  teardown
done
