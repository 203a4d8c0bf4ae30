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
#                 iperf3 iputils-ping netcat-openbsd procps python3

set -euo pipefail

readonly ALL="forwarder acl dns_guard load_balancer nat firewall policer shaper reframer telemetry bridge router6 vxlan_gateway"
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
for tool in ip ss sysctl ethtool tcpdump nft nginx curl dnsmasq dig iperf3 ping nc python3; do
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

# ---------------------------------------------------------------------------------------- examples

# any: what one host sends to its gateway, one of everything.
forwarder() {
  two_sides 192.168.1.1 198.51.100.1 198.51.100.20
  host h10 192.168.1.10
  web server
  resolver server
  ip_in h10 neigh del 192.168.1.1 dev eth0      # here the host has to ask
  capture nf inside any -Q in
  echo_request h10 -c 2 -i 0.1 198.51.100.20
  ask h10 198.51.100.20 www.example.net
  fetch h10 http://198.51.100.20/p5
  fetch_many h10 "http://198.51.100.20/p[1-3]"
  datagram h10 198.51.100.20 9
  ask h10 198.51.100.20 mail.example.net
  end_captures
}

# mixed: what two hosts send to one server, to open and closed ports.
acl() {
  two_sides 192.168.1.1 198.51.100.1 198.51.100.20
  host h10 192.168.1.10
  host h11 192.168.1.11
  web server
  resolver server
  local port
  for port in 22 25; do daemon server nc -l -k 198.51.100.20 "$port"; done
  capture nf inside mixed -Q in
  fetch h10 http://198.51.100.20/p3
  fetch h11 http://198.51.100.20:8080/p3
  for port in 22 23 25 443 3389; do
    in_ns h10 nc -z -w 1 198.51.100.20 "$port" || true
    in_ns h11 nc -z -w 1 198.51.100.20 "$port" || true
  done
  ask h10 198.51.100.20 www.example.net
  ask h11 198.51.100.20 mail.example.net
  for port in 9 161 514 5060; do datagram h11 198.51.100.20 "$port"; done
  echo_request h10 -c 2 -i 0.1 198.51.100.20
  fetch h11 http://198.51.100.20/p1
  end_captures
}

# dns: queries and replies at a resolver; queries and replies: the two directions of it.
dns_guard() {
  two_sides 192.168.1.1 198.51.100.1 198.51.100.20
  local i
  for i in 10 11 12; do host "h$i" "192.168.1.$i"; done
  resolver server
  capture nf inside dns
  for i in 10 11 12; do
    ask "h$i" 198.51.100.20 www.example.net A
    ask "h$i" 198.51.100.20 www.example.net AAAA
    ask "h$i" 198.51.100.20 mail.example.net A
    ask "h$i" 198.51.100.20 nowhere.example.net A
    ask "h$i" 198.51.100.20 +noedns +nocookie www.example.net TXT
  done
  together ask h10 198.51.100.20 www.example.net A -- ask h11 198.51.100.20 big.example.net MX \
    -- ask h12 198.51.100.20 big.example.net TXT
  for i in 1 2 3 4 5 6; do ask h12 198.51.100.20 big.example.net ANY +notcp; done       # one host asks for much
  for i in 1 2; do ask h11 198.51.100.20 www.example.net ANY +notcp; done
  ask h11 198.51.100.20 +noedns +nocookie big.example.net TXT                  # too big for 512 bytes: truncated
  for i in 1 2 3; do ask h10 198.51.100.20 "host$i.example.net" A; done
  end_captures
  part dns queries "ether dst $INSIDE_MAC"
  part dns replies "ether src $INSIDE_MAC"
}

# clients: what four clients send to the VIP.
load_balancer() {
  two_sides 192.0.2.1 10.0.0.1 10.0.0.100
  local i
  for i in 11 12 13 14; do host "c$i" "192.0.2.$i"; done
  web server
  resolver server
  capture nf inside clients -Q in ip dst host 10.0.0.100
  together \
    fetch c11 http://10.0.0.100/slow/20k -- \
    fetch_many c12 "http://10.0.0.100/p[1-4]" -- \
    fetch_many c13 "http://10.0.0.100/p[5-9]"
  for i in 1 2; do
    together \
      fetch_many c11 "http://10.0.0.100/p[1-3]" -- fetch_many c12 "http://10.0.0.100/p[2-5]" -- \
      fetch_many c13 "http://10.0.0.100/p[6-8]" -- fetch c14 "http://10.0.0.100/p9" -- \
      ask c11 10.0.0.100 www.example.net -- ask c14 10.0.0.100 mail.example.net
  done
  echo_request c12 -c 2 -i 0.1 10.0.0.100
  ask c12 10.0.0.100 www.example.net
  ask c13 10.0.0.100 www.example.net
  fetch c14 "http://10.0.0.100/p[1-3]"
  end_captures
}

# inside and outside: both directions on either side of a source NAT. inside_only and outside_only: what
# enters the NAT there. The public endpoints are those a NAT chooses that takes ports of 203.0.113.1 from 1024
# upwards, for TCP and UDP apart, in the order in which the flows begin.
nat() {
  two_sides 192.168.1.1 198.51.100.1 198.51.100.20
  host h10 192.168.1.10
  host h11 192.168.1.11
  web server
  resolver server
  ip_in nf route add blackhole 203.0.113.0/24
  in_ns nf nft -f - <<NFT
table ip nat {
  chain postrouting {
    type nat hook postrouting priority srcnat;
    ip saddr 192.168.1.10 tcp sport 40001 snat to 203.0.113.1:1024
    ip saddr 192.168.1.11 tcp sport 40001 snat to 203.0.113.1:1025
    ip saddr 192.168.1.10 tcp sport 40003 snat to 203.0.113.1:1026
    ip saddr 192.168.1.10 udp sport 40011 snat to 203.0.113.1:1024
    ip saddr 192.168.1.11 udp sport 40012 snat to 203.0.113.1:1025
    ip saddr 192.168.1.10 udp sport 40013 snat to 203.0.113.1:1026
    ip saddr 192.168.1.11 udp sport 40014 snat to 203.0.113.1:1027
    ip protocol icmp snat to 203.0.113.1
  }
}
NFT
  capture nf inside inside
  capture nf outside outside
  fetch h10 --local-port 40001 http://198.51.100.20/slow/20k &             # takes about two seconds
  local download=$!
  sleep 0.3
  ask h10 198.51.100.20 -b 192.168.1.10#40011 www.example.net
  fetch h11 --local-port 40001 http://198.51.100.20/p3
  echo_request h10 -c 1 -e 1024 198.51.100.20
  ask h11 198.51.100.20 -b 192.168.1.11#40012 mail.example.net
  fetch h10 --local-port 40003 http://198.51.100.20/p7
  ask h10 198.51.100.20 -b 192.168.1.10#40013 www.example.net AAAA
  echo_request h11 -c 1 -e 1025 198.51.100.20
  datagram h11 -s 192.168.1.11 -p 40014 198.51.100.20 9999                 # closed: an ICMP error comes back
  fetch server --max-time 0.5 http://203.0.113.1:5000/ || true             # nobody asked for this one
  wait $download
  end_captures
  part inside inside_only "ether dst $INSIDE_MAC"
  part outside outside_only "ether dst $OUTSIDE_MAC"
}

# inside and outside: what enters a stateful firewall, IPv4 and IPv6. The router lets only connections from
# inside pass, so nothing answers to what it dropped.
firewall() {
  two_sides 192.168.1.1 198.51.100.1 198.51.100.20 46
  host h10 192.168.1.10 46
  host h11 192.168.1.11 46
  in_ns nf sysctl -qw net.ipv6.conf.all.forwarding=1
  ip_in nf addr add 2001:db8:1::1/64 dev inside
  ip_in nf addr add 2001:db8:2::1/64 dev outside
  ip_in server addr add 2001:db8:2::20/64 dev eth0
  ip_in server route add default via 2001:db8:2::1
  never_ask nf outside 2001:db8:2::20 $SERVER_MAC
  never_ask server eth0 2001:db8:2::1 $OUTSIDE_MAC
  local i
  for i in 10 11; do
    ip_in "h$i" addr add "2001:db8:1::$i/64" dev eth0
    ip_in "h$i" route add default via 2001:db8:1::1
    never_ask "h$i" eth0 2001:db8:1::1 $INSIDE_MAC
    never_ask nf inside "2001:db8:1::$i" "$(in_ns "h$i" cat /sys/class/net/eth0/address)"
  done
  web server
  resolver server
  in_ns nf nft -f - <<NFT
table inet firewall {
  chain forward {
    type filter hook forward priority filter; policy drop;
    ct state established,related accept
    iifname inside ct state new accept
  }
}
NFT
  # A connection from before the capture, which the firewall then forgets: its later packets are strays.
  daemon server python3 -c "$(cat <<'PYTHON'
import signal, socket, struct, time
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
connection, _ = socket.create_server(("198.51.100.20", 7000)).accept()
signal.sigwait({signal.SIGUSR1})
connection.send(b"late\n")
time.sleep(0.1)
connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))     # close by RST
connection.close()
PYTHON
)"
  local stray=$!
  sleep 2.5                                              # also lets the hosts' multicast reports pass
  daemon h11 nc -d 198.51.100.20 7000
  sleep 0.3
  in_ns nf nft insert rule inet firewall forward tcp sport 7000 drop

  capture nf inside inside -Q in
  capture nf outside outside -Q in
  fetch h10 http://198.51.100.20/p9
  fetch h10 "http://[2001:db8:2::20]/p9"
  kill -USR1 $stray
  ask h10 198.51.100.20 www.example.net
  ask h11 2001:db8:2::20 www.example.net AAAA
  echo_request h10 -c 2 -i 0.1 198.51.100.20
  echo_request h11 -c 2 -i 0.1 2001:db8:2::20
  fetch server --max-time 1.5 http://192.168.1.10/ || true
  fetch server --max-time 0.5 "http://[2001:db8:1::11]:8080/" || true
  echo_request server -c 1 192.168.1.10
  echo_request server -c 1 2001:db8:1::10
  datagram server -p 40000 192.168.1.11 33000
  datagram h10 198.51.100.20 9999                        # closed ports: ICMP errors belong to the flow
  datagram h11 2001:db8:2::20 9999
  together fetch_many h11 "http://198.51.100.20/p[1-3]" -- fetch_many h10 "http://[2001:db8:2::20]/p[1-2]"
  end_captures
}

iperf_server() { daemon "$1" iperf3 -s -1 -p "$2"; wait_for iperf_listens "$1" "$2"; }
iperf_listens() { in_ns "$1" ss -Hltn "sport = :$2" | grep -q .; }
iperf() { local name=$1; shift; in_ns "$name" iperf3 -c 198.51.100.20 "$@" >/dev/null; }

# subscribers: three subscribers send UDP at 100, 300 and 900 kbit/s for about 0.4 s.
policer() {
  two_sides 100.64.0.254 198.51.100.1 198.51.100.20
  local i
  for i in 1 2 3; do
    host "s$i" "100.64.0.$i"
    iperf_server server "520$i"
  done
  capture nf inside subscribers -Q in
  together \
    iperf s1 -u -p 5201 --cport 41001 -b 100k -l 200 -n 5000 -- \
    iperf s2 -u -p 5202 --cport 41002 -b 300k -l 300 -n 15000 -- \
    iperf s3 -u -p 5203 --cport 41003 -b 900k -l 450 -n 45000
  end_captures
}

# lan: a UDP flow in bursts of 12 packets and a TCP upload in bursts of 9 KB.
shaper() {
  two_sides 192.168.1.1 198.51.100.1 198.51.100.20
  host h10 192.168.1.10
  host h11 192.168.1.11
  iperf_server server 5201
  daemon server nc -l 198.51.100.20 5000
  capture nf inside lan -Q in
  together iperf h10 -u -p 5201 --cport 41001 -b 800k/12 -l 400 -n 24000 -- upload_in_bursts h11
  end_captures
}

upload_in_bursts() {
  { for _ in 1 2 3; do text 9000; sleep 0.1; done; } | in_ns "$1" nc -N -p 41002 198.51.100.20 5000 >/dev/null
}

# mixed: many short flows at the same time, both directions.
reframer() {
  two_sides 192.168.1.1 198.51.100.1 198.51.100.20
  local i
  for i in 10 11 12; do host "h$i" "192.168.1.$i"; done
  web server
  resolver server
  capture nf inside mixed
  together \
    fetch_many h10 "http://198.51.100.20/p[1-7]" -- fetch_many h11 "http://198.51.100.20/p[4-9]" -- \
    fetch_many h12 "http://198.51.100.20/p[1-5]" -- ask h10 198.51.100.20 www.example.net -- \
    ask h11 198.51.100.20 mail.example.net -- ask h12 198.51.100.20 www.example.net AAAA -- \
    ask h12 198.51.100.20 www.example.net TXT -- ask h10 198.51.100.20 big.example.net
  end_captures
}

# mixed: some 30 flows, one of them heavy, both directions.
telemetry() {
  two_sides 192.168.1.1 198.51.100.1 198.51.100.20
  local i
  for i in 10 11 12; do host "h$i" "192.168.1.$i"; done
  web server
  resolver server
  capture nf inside mixed
  together \
    fetch h10 --limit-rate 100k http://198.51.100.20/40k -- fetch_many h11 "http://198.51.100.20/p[1-6]" -- \
    fetch_many h12 "http://198.51.100.20/p[5-9]" -- ask h11 198.51.100.20 www.example.net -- \
    ask h12 198.51.100.20 mail.example.net -- echo_request h12 -c 4 -i 0.05 198.51.100.20
  for i in 10 11 12; do
    ask "h$i" 198.51.100.20 www.example.net
    fetch_many "h$i" "http://198.51.100.20/p[1-3]"
    ask "h$i" 198.51.100.20 nowhere.example.net
  done
  echo_request h11 -c 3 -i 0.05 198.51.100.20
  datagram h12 198.51.100.20 9999
  end_captures
}

# p1, p2, p3: what enters each port of a bridge with three hosts, untagged and in the VLANs 10 and 20.
bridge() {
  namespace nf
  local i
  for i in 1 2 3; do
    namespace "h$i"
    link nf "p$i" "02:00:00:00:00:0$i" "h$i" eth0 "02:00:00:00:01:0$i"
    switch nf "p$i"
    ip_in "h$i" addr add "10.1.0.$i/24" dev eth0
  done
  for i in 1 2; do vlan "h$i" 10 "10.10.0.$i/24"; done
  for i in 1 2 3; do vlan "h$i" 20 "10.20.0.$i/24"; done
  web h2
  web h3
  sleep 0.3
  for i in 1 2 3; do capture nf "p$i" "p$i" -Q in; done
  echo_request h1 -c 2 -i 0.1 10.1.0.2
  fetch h1 http://10.1.0.2/p9
  echo_request h3 -c 1 10.1.0.1
  echo_request h1 -c 2 -i 0.1 10.10.0.2
  fetch h1 http://10.10.0.2/p5
  echo_request h2 -c 1 10.20.0.3
  fetch h1 http://10.20.0.3/p2
  fetch h2 http://10.1.0.3/p1
  echo_request h1 -c 1 10.1.0.9                          # nobody has this address: the request is flooded
  echo_request h3 -c 1 -b 10.1.0.255
  end_captures
}

# west and east: what enters each port of an IPv6 router.
router6() {
  namespace nf 46
  namespace west 46
  namespace east 46
  link nf west 02:00:00:00:00:01 west eth0 02:00:00:00:01:10
  link nf east 02:00:00:00:00:02 east eth0 02:00:00:00:02:20
  in_ns nf sysctl -qw net.ipv6.conf.all.forwarding=1
  ip_in nf addr add 2001:db8:1::1/64 dev west
  ip_in nf addr add 2001:db8:2::1/64 dev east
  ip_in west addr add 2001:db8:1::10/64 dev eth0
  ip_in east addr add 2001:db8:2::20/64 dev eth0
  ip_in west route add default via 2001:db8:1::1
  ip_in east route add default via 2001:db8:2::1
  web west
  web east
  sleep 2.5                                              # lets the hosts' multicast reports pass
  capture nf west west -Q in
  capture nf east east -Q in
  echo_request west -c 2 -i 0.1 2001:db8:2::20
  echo_request east -c 2 -i 0.1 2001:db8:1::10
  fetch west "http://[2001:db8:2::20]/p9"
  fetch east "http://[2001:db8:1::10]/20k"
  echo_request west -c 1 -t 1 2001:db8:2::20             # ends at the router
  echo_request east -c 1 -t 1 2001:db8:1::10
  echo_request west -c 1 -t 2 2001:db8:2::20
  echo_request west -c 1 -s 2000 2001:db8:2::20          # two fragments each way
  echo_request west -c 1 2001:db8:1::1                   # for the router itself
  echo_request west -c 1 2001:db8:99::1                  # no route
  datagram east 2001:db8:1::10 9999
  fetch_many west "http://[2001:db8:2::20]/p[1-2]"
  end_captures
}

# access: Ethernet frames from two hosts; fabric: VXLAN from a far tunnel endpoint with two hosts behind it.
vxlan_gateway() {
  namespace nf
  namespace sw
  namespace far
  link nf access 02:00:00:00:00:01 sw uplink 02:00:00:00:0f:01
  link nf fabric 02:00:00:00:00:02 far fabric 02:00:00:00:09:02
  ip_in nf addr add 10.9.0.1/24 dev fabric
  ip_in far addr add 10.9.0.2/24 dev fabric
  ip_in nf link add vxlan100 address 02:00:00:00:0e:01 type vxlan id 100 local 10.9.0.1 remote 10.9.0.2 dstport 4789
  ip_in far link add vxlan100 address 02:00:00:00:0e:02 type vxlan id 100 local 10.9.0.2 remote 10.9.0.1 dstport 4789
  ip_in far link add vxlan200 address 02:00:00:00:0e:03 type vxlan id 200 local 10.9.0.2 remote 10.9.0.1 dstport 4789
  local name
  for name in nf far; do plain_frames $name vxlan100; ip_in $name link set vxlan100 up; done
  plain_frames far vxlan200
  ip_in far link set vxlan200 up
  ip_in far addr add 10.60.0.2/24 dev vxlan200
  switch nf access vxlan100
  switch far vxlan100
  switch sw uplink
  local i side
  for i in 1 2 11 12; do
    if [ $i -lt 10 ]; then side=sw; else side=far; fi
    namespace "h$i"
    link "h$i" eth0 "$(printf '02:00:00:00:01:%02x' $i)" $side "h$i" "$(printf '02:00:00:00:0f:%02x' $((i + 16)))"
    switch $side "h$i"
    ip_in "h$i" link set eth0 mtu 1450                   # leaves room for the tunnel's headers
    ip_in "h$i" addr add "10.50.0.$i/24" dev eth0
  done
  web h1
  web h11
  capture nf access access -Q in
  capture nf fabric fabric -Q in
  echo_request h1 -c 2 -i 0.1 10.50.0.11
  echo_request h12 -c 2 -i 0.1 10.50.0.2
  fetch h1 http://10.50.0.11/p9
  fetch h2 http://10.50.0.11/20k
  fetch h12 http://10.50.0.1/p3
  echo_request h2 -c 1 10.50.0.99                        # nobody has this address
  echo_request far -c 1 10.60.0.9                        # another network: VNI 200
  echo_request far -c 1 10.9.0.1                         # not VXLAN at all
  end_captures
}

for EXAMPLE in $EXAMPLES; do
  echo "$EXAMPLE"
  "$EXAMPLE"
  teardown
done
