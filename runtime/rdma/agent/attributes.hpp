/// What a queue pair is told on its way to RTS (ibv_modify_qp(3)): a pure function of what it is connected to.
///
/// The peer is the switch, which never answers for time and never gets a request: what says how requests are sent and
/// repeated is set because the transition demands it.
#pragma once

#include <infiniband/verbs.h>

#include <cstring>

#include "rdma/agent/device.hpp"

namespace polysome::agent {

/// The way to the switch, the same for all queue pairs of an agent.
struct Path {
    uint8_t port = 1;       ///< of the device, from 1
    uint8_t gid_index = 0;  ///< of the port's table: our own address
    uint32_t switch_ip = 0;
    uint32_t mtu = 4096;
    uint8_t reads = 16;  ///< that may be outstanding
};

struct Transition {
    ibv_qp_attr attributes{};
    int mask = 0;
};

/// The GID of an IPv4 address: ::ffff:a.b.c.d (IBTA annex A17.4.1).
inline ibv_gid gid_of(uint32_t ip) {
    ibv_gid gid{};
    gid.raw[10] = gid.raw[11] = 0xff;
    for (size_t i = 0; i < 4; ++i) gid.raw[12 + i] = static_cast<uint8_t>(ip >> (24 - 8 * i));
    return gid;
}

/// Of a path MTU as Settings has it.
constexpr ibv_mtu mtu_code(uint32_t bytes) {
    return bytes == 256    ? IBV_MTU_256
           : bytes == 512  ? IBV_MTU_512
           : bytes == 1024 ? IBV_MTU_1024
           : bytes == 2048 ? IBV_MTU_2048
                           : IBV_MTU_4096;
}
constexpr uint32_t mtu_bytes(ibv_mtu code) { return 128u << code; }

/// Silent, whatever its state.
inline Transition to_reset() {
    Transition t{.attributes = {}, .mask = IBV_QP_STATE};
    t.attributes.qp_state = IBV_QPS_RESET;
    return t;
}

inline Transition to_init(const Path& path) {
    Transition t{.attributes = {}, .mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS};
    t.attributes.qp_state = IBV_QPS_INIT;
    t.attributes.pkey_index = 0;
    t.attributes.port_num = path.port;
    t.attributes.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
    return t;
}

/// Requests are taken from PSN `psn` on, and answers go to queue pair `peer`.
inline Transition to_receive(const Path& path, uint32_t peer, uint32_t psn) {
    Transition t{.attributes = {},
                 .mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                         IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER};
    t.attributes.qp_state = IBV_QPS_RTR;
    t.attributes.path_mtu = mtu_code(path.mtu);
    t.attributes.dest_qp_num = peer;
    t.attributes.rq_psn = psn;
    t.attributes.max_dest_rd_atomic = path.reads;
    t.attributes.min_rnr_timer = 0;
    t.attributes.ah_attr.is_global = 1;
    t.attributes.ah_attr.port_num = path.port;
    t.attributes.ah_attr.grh.dgid = gid_of(path.switch_ip);
    t.attributes.ah_attr.grh.sgid_index = path.gid_index;
    t.attributes.ah_attr.grh.hop_limit = 64;
    return t;
}

inline Transition to_send(const Path& path) {
    Transition t{.attributes = {},
                 .mask = IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                         IBV_QP_MAX_QP_RD_ATOMIC};
    t.attributes.qp_state = IBV_QPS_RTS;
    t.attributes.timeout = 0;
    t.attributes.retry_cnt = 7;
    t.attributes.rnr_retry = 7;
    t.attributes.sq_psn = 0;
    t.attributes.max_rd_atomic = path.reads;
    return t;
}

}  // namespace polysome::agent
