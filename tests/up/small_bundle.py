"""A bundle for what `up` itself does: programs that only wait, and a controller that says that all is up."""

from __future__ import annotations

import json
from pathlib import Path

from polysome.backends import manifest
from polysome.plan.site import Site

ROOT = Path(__file__).parents[2]
ABOUT = {"kind": "bundle", "architecture": Site.architecture, "machines": {}}
SITE = """
[switch]
model = "software"
address = "192.0.2.1"

[ports]
left = 0
right = [1, 2]

[[nf_servers]]
name = "nf1"
switch_port = 32
address = "192.0.2.11"
nic = "wide"

[[rdma_servers]]
name = "memory1"
switch_port = 40
address = "192.0.2.21"
nic = "mlx5_0"
interface = "lent"
memory = "64MiB"
ip = "198.51.100.7"
mac = "02:00:00:00:00:21"
"""
WAITS = """#include <csignal>
#include <cstdio>
int main(int, char** argv) {
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigprocmask(SIG_BLOCK, &ends, nullptr);
    std::fprintf(stderr, "started with %s\\n", argv[1]);
    int number = 0;
    sigwait(&ends, &number);
    return 0;
}
"""
CMAKE = """cmake_minimum_required(VERSION 3.18)
project({target} CXX)
add_executable({target} ../{up}runtime/waits.cpp)
"""
REQUEST = """set -e
folder=$1
shift
for name in "$@"; do : > "$folder/$name.key"; : > "$folder/$name.csr"; done
"""
CERTIFICATES = """set -e
for name in authority operator revoked switch controller nf1 memory1; do : > "$2/$name.pem"; done
: > "$2/operator.key"
"""
CONTROLLER = """import json, os, signal, sys
from concurrent import futures

import grpc
from polysome_controller import control_pb2 as pb

config = json.load(open(sys.argv[1]))
parts = [pb.Part(name=s["name"], role=r, state="up") for r in ("nf", "rdma") for s in config[f"{r}_servers"]]
links = [pb.LinkLoad(name=t["name"], port=p, up=True, in_rate=1250.0) for t in config["traffic"] for p in t["ports"]]
answer = pb.ControllerStatus(nf=config["nf"], active="nf1", parts=parts, links=links)
answer.drops.add(name="ttl expired", value=3)
handler = grpc.unary_unary_rpc_method_handler(lambda request, context: answer, pb.Nothing.FromString,
                                              pb.ControllerStatus.SerializeToString)
server = grpc.server(futures.ThreadPoolExecutor(1))
service = grpc.method_handlers_generic_handler("polysome.control.Controller", {"Status": handler})
server.add_generic_rpc_handlers((service,))
server.add_insecure_port("unix:" + config["admin"])
signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
server.start()
server.wait_for_termination()
"""


def write(folder: Path, nf: str) -> Path:
    """The bundle, ready for `polysome up`."""
    texts = {
        "plan.json": json.dumps({"out_frame": {"value": 1522}, "nf_link": {"value": 1548}}),
        "source/site.toml": SITE,
        "runtime/waits.cpp": WAITS,
        "deploy/certificates.sh": CERTIFICATES,
        "deploy/request.sh": REQUEST,
        "nf/config.bin": "",
        "switch/controller.json": json.dumps(_controller(nf)),
        "switch/soft.json": json.dumps({"ports": [{"port": 69}], "listen": "192.0.2.1:50052"}),
        "rdma/memory1.json": json.dumps({"server": "memory1", "device": "mlx5_0", "interface": "lent", "user": "none"}),
        "nf/nf1.json": json.dumps({"server": "nf1", "interface": "0000:3b:00.0", "listen": "0.0.0.0:50061"}),
        "switch/controller/polysome_controller/__main__.py": CONTROLLER,
        "switch/soft/CMakeLists.txt": CMAKE.format(target=f"{nf}_switch", up="../"),
        "rdma/agent/CMakeLists.txt": CMAKE.format(target="polysome-agent", up="../"),
        "nf/CMakeLists.txt": CMAKE.format(target=f"{nf}_fields_af_packet", up=""),
    }
    package = Path("runtime", "controller", "polysome_controller")
    ours = Path("switch", "controller", "polysome_controller")
    files = {name: text.encode() for name, text in texts.items()}
    files[str(ours / "__init__.py")] = b""
    files[str(ours / "control_pb2.py")] = (ROOT / package / "control_pb2.py").read_bytes()
    manifest.write(folder, files, ABOUT)
    return folder


def rewrite(folder: Path, name: str, text: str | None) -> None:
    """A bundle that was made with another file, or without it."""
    there = {str(path.relative_to(folder)): path for path in folder.rglob("*") if path.is_file()}
    files = {one: path.read_bytes() for one, path in there.items() if one not in (name, manifest.MANIFEST)}
    manifest.write(folder, files if text is None else files | {name: text.encode()}, ABOUT)


def _controller(nf: str) -> dict[str, object]:
    return {
        "nf": nf,
        "model": "tofino",
        "switch": "192.0.2.1:50052",
        "traffic": [{"name": "left", "ports": [0]}, {"name": "right", "ports": [1, 2]}],
        "nf_servers": [{"name": "nf1", "address": "192.0.2.11:50061", "port": 32}],
        "rdma_servers": [{"name": "memory1", "address": "192.0.2.21:50051", "port": 40}],
        "listen": "0.0.0.0:50070",
    }
