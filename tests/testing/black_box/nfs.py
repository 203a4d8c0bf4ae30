"""`nfs.py WHAT A B`: a network function between two interfaces, mostly a wrong one."""

import os
import select
import socket
import sys
import time

what, names = sys.argv[1], sys.argv[2:4]
sides = [socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) for _ in names]
if what == "never ready":
    time.sleep(100)
if what == "dead at once":
    print("the table is missing")
    sys.exit(3)
if what == "daemon" and os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(100)
    os._exit(0)
for side, name in zip(sides, names, strict=True):
    side.setsockopt(263, 8, 1)  # SOL_PACKET, PACKET_AUXDATA
    side.bind((name, 3))  # ETH_P_ALL
if what == "deaf":
    time.sleep(100)
if what == "says so":
    time.sleep(0.1)
    print("forwarding", flush=True)
if what == "chatty":
    print("x" * 300_000, flush=True)
if what == "hello":
    time.sleep(0.01)
    sides[0].send(bytes(60))


def received(side):
    """A frame as it was on the wire; None for what this machine sent."""
    data, auxiliary, _, address = side.recvmsg(65535, 64)
    if address[2] == socket.PACKET_OUTGOING:
        return None
    status, tag = auxiliary[0][2][:4], auxiliary[0][2][16:20]
    if status[0] & 16:  # TP_STATUS_VLAN_VALID: the kernel took a tag off
        data = data[:12] + tag[3:1:-1] + tag[1::-1] + data[12:]
    return data


count, asked = 0, {}
while True:
    for side in select.select(sides, [], [])[0]:
        if (data := received(side)) is None:
            continue
        count += 1
        came, other = (sides.index(side), 1 - sides.index(side))
        match what:
            case "dead in the middle" if count == 2:
                os.abort()
            case "flood":
                while True:
                    sides[other].send(data)
            case "echo":
                side.send(data)
            case "twice":
                sides[other].send(data)
                sides[other].send(data)
            case "garbage":
                sides[other].send(b"\xff\x00" * 700)
                sides[came].send(b"\x81\x00" * 30)
            case "too long":
                sides[other].send(data + bytes(20_000))
            case "first only" if count > 1:
                pass
            case "one more byte":
                sides[other].send(data + b"!")
            case "late":
                time.sleep(0.005)
                sides[other].send(data)
            case "sys":
                sides[other].send(data[:14] + ",".join(sorted(os.listdir("/sys/class/net"))).encode())
            case "memory" | "long memory":
                limit = 0.3 if what == "memory" else 100
                now = time.monotonic()
                if came == 0:
                    asked[data[6:12]] = now
                elif now - asked.get(data[0:6], -1e9) >= limit:
                    continue
                else:
                    asked[data[0:6]] = now
                sides[other].send(data)
            case _:
                sides[other].send(data)
