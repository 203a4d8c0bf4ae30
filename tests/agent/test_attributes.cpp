// The attributes and masks of each transition of a queue pair, one by one.
#include <gtest/gtest.h>

#include "rdma/agent/attributes.hpp"

using namespace polysome::agent;

namespace {

constexpr Path PATH = {.port = 2, .gid_index = 5, .switch_ip = 0xc613fffe, .mtu = 4096, .reads = 16};

/// Whether all attributes but those that `mention` sets are zero.
template <class Mention>
bool nothing_else(const Transition& transition, Mention mention) {
    ibv_qp_attr rest;
    std::memcpy(&rest, &transition.attributes, sizeof rest);
    mention(rest);
    const ibv_qp_attr none{};
    return std::memcmp(&rest, &none, sizeof none) == 0;
}

TEST(Attributes, ToReset) {
    const Transition t = to_reset();
    EXPECT_EQ(t.mask, IBV_QP_STATE);
    EXPECT_EQ(t.attributes.qp_state, IBV_QPS_RESET);
}

TEST(Attributes, ToInit) {
    const Transition t = to_init(PATH);
    EXPECT_EQ(t.mask, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
    EXPECT_EQ(t.attributes.qp_state, IBV_QPS_INIT);
    EXPECT_EQ(t.attributes.pkey_index, 0);
    EXPECT_EQ(t.attributes.port_num, 2);
    EXPECT_EQ(t.attributes.qp_access_flags, unsigned{IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ});
    EXPECT_TRUE(nothing_else(t, [](ibv_qp_attr& a) {
        a.qp_state = IBV_QPS_RESET;
        a.port_num = 0;
        a.qp_access_flags = 0;
    }));
}

TEST(Attributes, ToReceive) {
    const Transition t = to_receive(PATH, 0x40f787, 0xabcdef);
    EXPECT_EQ(t.mask, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                          IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
    const ibv_qp_attr& a = t.attributes;
    EXPECT_EQ(a.qp_state, IBV_QPS_RTR);
    EXPECT_EQ(a.path_mtu, IBV_MTU_4096);
    EXPECT_EQ(a.dest_qp_num, 0x40f787u);
    EXPECT_EQ(a.rq_psn, 0xabcdefu);
    EXPECT_EQ(a.max_dest_rd_atomic, 16);
    EXPECT_EQ(a.min_rnr_timer, 0);
    EXPECT_EQ(a.ah_attr.is_global, 1);
    EXPECT_EQ(a.ah_attr.port_num, 2);
    EXPECT_EQ(a.ah_attr.grh.sgid_index, 5);
    EXPECT_EQ(a.ah_attr.grh.hop_limit, 64);
    EXPECT_EQ(a.ah_attr.grh.traffic_class, 0);
    EXPECT_EQ(a.ah_attr.grh.flow_label, 0u);
    constexpr uint8_t to_switch[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 198, 19, 255, 254};
    EXPECT_EQ(std::memcmp(a.ah_attr.grh.dgid.raw, to_switch, 16), 0);
    EXPECT_TRUE(nothing_else(t, [](ibv_qp_attr& rest) {
        rest.qp_state = IBV_QPS_RESET;
        rest.path_mtu = ibv_mtu{};
        rest.dest_qp_num = rest.rq_psn = 0;
        rest.max_dest_rd_atomic = 0;
        std::memset(&rest.ah_attr, 0, sizeof rest.ah_attr);
    }));
}

TEST(Attributes, ToSend) {
    const Transition t = to_send(PATH);
    EXPECT_EQ(t.mask, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                          IBV_QP_MAX_QP_RD_ATOMIC);
    EXPECT_EQ(t.attributes.qp_state, IBV_QPS_RTS);
    EXPECT_EQ(t.attributes.timeout, 0);
    EXPECT_EQ(t.attributes.retry_cnt, 7);
    EXPECT_EQ(t.attributes.rnr_retry, 7);
    EXPECT_EQ(t.attributes.sq_psn, 0u);
    EXPECT_EQ(t.attributes.max_rd_atomic, 16);
    EXPECT_TRUE(nothing_else(t, [](ibv_qp_attr& a) {
        a.qp_state = IBV_QPS_RESET;
        a.retry_cnt = a.rnr_retry = a.max_rd_atomic = 0;
    }));
}

TEST(Attributes, TheNumberOfReadsIsTheSettings) {
    Path path = PATH;
    path.reads = 3;
    EXPECT_EQ(to_receive(path, 1, 0).attributes.max_dest_rd_atomic, 3);
    EXPECT_EQ(to_send(path).attributes.max_rd_atomic, 3);
}

TEST(Attributes, MtuCodesAndBytes) {
    for (const uint32_t bytes : {256u, 512u, 1024u, 2048u, 4096u}) EXPECT_EQ(mtu_bytes(mtu_code(bytes)), bytes);
    EXPECT_EQ(mtu_code(256), IBV_MTU_256);
    EXPECT_EQ(mtu_code(1024), IBV_MTU_1024);
}

}  // namespace
