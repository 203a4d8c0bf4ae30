# shellcheck shell=bash
# What record.sh records: one function per example, which lays out its network and lets programs talk.

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

# clients: two ordinary clients of two servers, and one that tries which ports are open.
port_scan() {
  two_sides 192.0.2.1 198.51.100.1 198.51.100.20
  local i port
  for i in 10 11 12; do host "h$i" "192.0.2.$i"; done
  ip_in server addr add 198.51.100.21/24 dev eth0
  never_ask nf outside 198.51.100.21 $SERVER_MAC
  web server
  resolver server
  capture nf inside clients -Q in
  fetch_many h10 "http://198.51.100.20/p[1-4]"
  fetch h11 http://198.51.100.21/p3
  for port in 22 80 443 445 3306 3389 5432 8080; do
    in_ns h12 nc -z -w 1 198.51.100.20 "$port" || true
    [ "$port" != 443 ] || fetch h10 http://198.51.100.21:8080/p1
    [ "$port" != 3306 ] || ask h12 198.51.100.20 www.example.net
  done
  for port in 22 445; do in_ns h12 nc -z -w 1 198.51.100.21 "$port" || true; done
  fetch h12 http://198.51.100.20/p2                      # one of the ports that it had tried
  fetch_many h11 "http://198.51.100.20/p[5-6]"
  echo_request h12 -c 1 198.51.100.20
  end_captures
}

# mixed: both directions of HTTP, TLS, SSH and DNS, not always at their usual ports.
slim_dpi() {
  two_sides 192.168.1.1 198.51.100.1 198.51.100.20
  host h10 192.168.1.10
  host h11 192.168.1.11
  web server
  secure_web server 443
  resolver server
  local port
  for port in 22 2222; do
    daemon server sh -c "printf 'SSH-2.0-OpenSSH_9.2p1\r\n' | nc -l -q 1 198.51.100.20 $port"
    wait_for listens server "$port"
  done
  daemon server sh -c "printf '220 mail.example.net ESMTP\r\n' | nc -l -q 1 198.51.100.20 25"
  wait_for listens server 25
  capture nf inside mixed
  fetch h10 http://198.51.100.20/p3
  fetch h11 http://198.51.100.20:8080/p1
  fetch h10 --insecure https://198.51.100.20/
  for port in 22 2222; do greet h11 'SSH-2.0-OpenSSH_9.7' 198.51.100.20 "$port"; done
  greet h10 'EHLO h10.example.net' 198.51.100.20 25
  ask h10 198.51.100.20 www.example.net
  ask h11 198.51.100.20 mail.example.net AAAA
  fetch h11 -X PROPFIND http://198.51.100.20/p1 || true
  echo_request h10 -c 1 198.51.100.20
  datagram h11 198.51.100.20 9
  end_captures
}

greet() { local name=$1 text=$2; shift 2; printf '%s\r\n' "$text" | in_ns "$name" nc -q 1 -w 1 "$@" >/dev/null || true; }

# clients and servers: two clients of a web server. The router lets no more than four connections of a client through
# at a time, and drops the SYNs of more.
conn_limiter() {
  two_sides 192.0.2.1 198.51.100.1 198.51.100.20
  host c11 192.0.2.11
  host c12 192.0.2.12
  web server
  in_ns nf nft -f - <<NFT
table ip limiter {
  set connections { type ipv4_addr; flags dynamic; }
  chain forward {
    type filter hook forward priority filter;
    iifname inside ct state new add @connections { ip saddr ct count over 4 } drop
  }
}
NFT
  capture nf inside both
  fetch_many c11 "http://198.51.100.20/p[1-3]"
  together \
    fetch_many c11 --max-time 2 "http://198.51.100.20/p[1-6]" -- \
    fetch_many c12 "http://198.51.100.20/p[7-9]" || true
  fetch c11 http://198.51.100.20/p7
  echo_request c11 -c 1 198.51.100.20
  end_captures
  part both clients "ether dst $INSIDE_MAC"
  part both servers "ether src $INSIDE_MAC"
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

iperf_server() { daemon "$1" iperf3 -s -1 -p "$2"; wait_for listens "$1" "$2"; }
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
