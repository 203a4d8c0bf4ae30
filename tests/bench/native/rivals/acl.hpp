/// An access list (examples/acl): the first rule that matches permits or denies, and counts. On DPDK's own classifier,
/// rte_acl, with the widest vectors there are. IPv4 without ICMP, no ARP; its two columns are the same.
#pragma once

#include <rte_acl.h>
#include <rte_eal.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>

#include "parse.hpp"
#include "rival.hpp"

namespace polysome::bench::acl {

inline constexpr uint8_t INSIDE = 0, OUTSIDE = 1;

/// What the classifier looks at, in network order; rte_acl wants one byte first, then groups of four.
struct Subject {
    uint8_t protocol;
    uint8_t pad[3];
    uint32_t src, dst;
    uint16_t sport, dport;
    uint32_t from;
};
inline constexpr size_t FIELDS = 6;
RTE_ACL_RULE_DEF(AclRule, FIELDS);

struct Rule {
    bool permit;
    uint8_t counter;
};
struct Hits {
    uint64_t packets, octets;
};

inline void must(bool right, const char* what) {
    if (right) return;
    std::fprintf(stderr, "%s\n", what);
    std::exit(1);
}

/// DPDK without devices, on the core that this process is on.
inline void start_dpdk() {
    static bool started = false;
    if (started) return;
    started = true;
    std::string core = std::to_string(sched_getcpu());
    std::array<std::string, 11> words{"bench",
                                      "--no-huge",
                                      "--no-pci",
                                      "--no-telemetry",
                                      "-m",
                                      "256",
                                      "-l",
                                      core,
                                      "--log-level=error",
                                      "--no-shconf",
                                      "--force-max-simd-bitwidth=512"};
    std::array<char*, words.size()> arguments{};
    for (size_t i = 0; i < words.size(); ++i) arguments[i] = words[i].data();
    must(rte_eal_init(static_cast<int>(arguments.size()), arguments.data()) >= 0, "DPDK does not start");
}

inline rte_acl_field_def field(uint8_t type, uint8_t size, uint8_t number, uint8_t group, size_t offset) {
    return {type, size, number, group, static_cast<uint32_t>(offset)};
}

template <class Column>
class Rival {
  public:
    static constexpr size_t BATCH_SIZE = 64;

    explicit Rival(const Setup& setup) {
        start_dpdk();
        rte_acl_param options{Column::exact ? "equal" : "approximate", SOCKET_ID_ANY, RTE_ACL_RULE_SZ(FIELDS),
                              static_cast<uint32_t>(setup.rows.size() + 1)};
        acl_ = rte_acl_create(&options);
        must(acl_ != nullptr, "rte_acl has no memory");
        rules_.push_back({});  // 0 is what rte_acl says if nothing matches
        for (const auto& row : setup.rows) add(row, setup.rows.size());
        rte_acl_config config{};
        config.num_categories = 1;
        config.num_fields = FIELDS;
        config.defs[0] = field(RTE_ACL_FIELD_TYPE_BITMASK, 1, 0, 0, offsetof(Subject, protocol));
        config.defs[1] = field(RTE_ACL_FIELD_TYPE_MASK, 4, 1, 1, offsetof(Subject, src));
        config.defs[2] = field(RTE_ACL_FIELD_TYPE_MASK, 4, 2, 2, offsetof(Subject, dst));
        config.defs[3] = field(RTE_ACL_FIELD_TYPE_RANGE, 2, 3, 3, offsetof(Subject, sport));
        config.defs[4] = field(RTE_ACL_FIELD_TYPE_RANGE, 2, 4, 3, offsetof(Subject, dport));
        config.defs[5] = field(RTE_ACL_FIELD_TYPE_BITMASK, 4, 5, 4, offsetof(Subject, from));
        must(rte_acl_build(acl_, &config) == 0, "rte_acl cannot hold these rules");
        for (const auto way : {RTE_ACL_CLASSIFY_AVX512X32, RTE_ACL_CLASSIFY_AVX512X16, RTE_ACL_CLASSIFY_AVX2}) {
            if (rte_acl_set_ctx_classify(acl_, way) == 0) break;
        }
    }
    ~Rival() { rte_acl_free(acl_); }

    void batch(std::span<Packet> packets, uint64_t) {
        std::array<Subject, MOST> subjects;
        std::array<const uint8_t*, MOST> data;
        std::array<Packet*, MOST> taken;
        std::array<View, MOST> views;
        std::array<uint32_t, MOST> results;
        uint32_t n = 0;
        for (Packet& p : packets) {
            p.out = DROP;
            View& v = views[n];
            parse(p, false, v);
            if (!v.ip || (v.l4 == NOWHERE && (v.protocol == TCP || v.protocol == UDP))) continue;  // ports not visible
            Subject& s = subjects[n];
            s.protocol = v.protocol;
            _mm_storel_epi64(reinterpret_cast<__m128i*>(&s.src), v.key);
            s.sport = static_cast<uint16_t>(_mm_extract_epi16(v.key, 4));
            s.dport = static_cast<uint16_t>(_mm_extract_epi16(v.key, 5));
            s.from = __builtin_bswap32(p.port);
            data[n] = &s.protocol;
            taken[n++] = &p;
        }
        if (n == 0) return;
        rte_acl_classify(acl_, data.data(), results.data(), n, 1);
        for (uint32_t i = 0; i < n; ++i) {
            const Rule rule = rules_[results[i]];
            hits_[rule.counter].packets += results[i] != 0;
            hits_[rule.counter].octets += results[i] != 0 ? views[i].length : 0;
            if (rule.permit) send(*taken[i], views[i], taken[i]->port ^ 1);
        }
    }

  private:
    /// from (2: any), src, its prefix length, dst, its prefix length, protocol (256: any), sport from, to, dport from,
    /// to, effect, counter.
    void add(const std::vector<uint64_t>& row, size_t count) {
        AclRule rule{};
        rule.data.category_mask = 1;
        rule.data.priority = static_cast<int32_t>(count - rules_.size() + 1);  // the first wins
        rule.data.userdata = static_cast<uint32_t>(rules_.size());
        rule.field[0].value.u8 = static_cast<uint8_t>(row[5]);
        rule.field[0].mask_range.u8 = row[5] == 256 ? 0 : 0xff;
        rule.field[1].value.u32 = static_cast<uint32_t>(row[1]);
        rule.field[1].mask_range.u32 = static_cast<uint32_t>(row[2]);
        rule.field[2].value.u32 = static_cast<uint32_t>(row[3]);
        rule.field[2].mask_range.u32 = static_cast<uint32_t>(row[4]);
        rule.field[3].value.u16 = static_cast<uint16_t>(row[6]);
        rule.field[3].mask_range.u16 = static_cast<uint16_t>(row[7]);
        rule.field[4].value.u16 = static_cast<uint16_t>(row[8]);
        rule.field[4].mask_range.u16 = static_cast<uint16_t>(row[9]);
        rule.field[5].value.u32 = static_cast<uint32_t>(row[0] == 2 ? 0 : row[0]);
        rule.field[5].mask_range.u32 = row[0] == 2 ? 0 : ~uint32_t{0};
        rules_.push_back({row[10] != 0, static_cast<uint8_t>(row[11])});
        must(rte_acl_add_rules(acl_, reinterpret_cast<const rte_acl_rule*>(&rule), 1) == 0, "rte_acl refuses a rule");
    }

    rte_acl_ctx* acl_ = nullptr;
    std::vector<Rule> rules_;
    std::array<Hits, 256> hits_{};
};

}  // namespace polysome::bench::acl
