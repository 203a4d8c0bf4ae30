#!/bin/sh
# Tools and libraries that the programs of a machine are built with. See common.sh.
. "${0%/*}/common.sh"

compiler() {
    for found in clang++ g++; do
        have "$found" || continue
        case $found in clang++) least=14 ;; *) least=12 ;; esac
        version=$(version_in "$($found --version 2>/dev/null)")
        if at_least "$version" "$least"; then
            ok "$found $version"
            return
        fi
    done
    missing 'a C++20 compiler: clang++ 14 or g++ 12, or newer' clang ''
}

tool() { # NAME PACKAGE
    if have "$1"; then ok "$1"; else missing "$1" "$2" ''; fi
}

# A library is there if a compiler would find its header.
header() { # HEADER PACKAGE
    for folder in /usr/include /usr/local/include /usr/include/*-linux-gnu; do
        if [ -e "$folder/$1" ]; then
            ok "$1"
            return
        fi
    done
    missing "$1" "$2" ''
}

cmake_version() {
    if ! have cmake; then
        missing 'cmake 3.18 or newer' cmake ''
        return
    fi
    version=$(version_in "$(cmake --version 2>/dev/null)")
    if at_least "$version" 3.18; then ok "cmake $version"; else missing "cmake 3.18 or newer, not $version" cmake ''; fi
}

tool cmp diffutils
tool grep grep
tool useradd passwd
if ! have systemctl; then
    warning 'systemd: the units are of no use here' '' 'Start the programs by hand, as the *.service files say.'
fi
if any_role rdma nf || { any_role switch && [ "$SOFT_SWITCH" = yes ]; }; then
    compiler
    cmake_version
    if have ninja; then ok ninja; elif have make; then ok make; else missing 'ninja or make' ninja-build ''; fi
    tool protoc protobuf-compiler
    tool grpc_cpp_plugin protobuf-compiler-grpc
    tool pkg-config pkg-config
    header grpcpp/grpcpp.h libgrpc++-dev
    header google/protobuf/message.h libprotobuf-dev
fi
if any_role rdma; then
    header infiniband/verbs.h libibverbs-dev
    header numa.h libnuma-dev
fi
if any_role nf; then
    if have pkg-config && pkg-config --exists libdpdk 2>/dev/null; then
        ok DPDK
    elif [ "${NF_HOST:-$NF_HOSTS}" != af_packet ]; then
        missing DPDK libdpdk-dev ''
    else
        ok 'no DPDK, and none is needed'
    fi
fi
exit 0
