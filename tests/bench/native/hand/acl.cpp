/// An access list (examples/acl): the first rule that matches permits or denies, and counts. On DPDK's own classifier,
/// rte_acl, as a flow table would not help. IPv4 only.
#include <rte_acl.h>

#include <cstddef>

#include "hand.hpp"

namespace polysome::bench {

namespace {

constexpr uint8_t INSIDE = 0, OUTSIDE = 1;

/// What the classifier looks at, in network order; rte_acl wants one byte first, then groups of four.
struct Subject {
    uint8_t protocol;
    uint8_t pad[3];
    uint32_t src, dst;
    uint16_t sport, dport;
    uint32_t from;
};
constexpr size_t FIELDS = 6;
RTE_ACL_RULE_DEF(AclRule, FIELDS);

struct Rule {
    bool permit;
    uint8_t counter;
};
struct Hits {
    uint64_t packets, octets;
};

rte_acl_field_def field(uint8_t type, uint8_t size, uint8_t number, uint8_t group, size_t offset) {
    return {type, size, number, group, static_cast<uint32_t>(offset)};
}

class Acl : public Hand {
  public:
    explicit Acl(const Setup& setup) {
        rte_acl_param options{"rules", dpdk_socket(), RTE_ACL_RULE_SZ(FIELDS),
                              static_cast<uint32_t>(setup.rows.size())};
        acl_ = rte_acl_create(&options);
        bool right = acl_ != nullptr;
        rules_.push_back({});  // 0 is what rte_acl says if nothing matches
        for (const auto& row : setup.rows) right = right && add(row, setup.rows.size());
        rte_acl_config config{};
        config.num_categories = 1;
        config.num_fields = FIELDS;
        config.defs[0] = field(RTE_ACL_FIELD_TYPE_BITMASK, 1, 0, 0, offsetof(Subject, protocol));
        config.defs[1] = field(RTE_ACL_FIELD_TYPE_MASK, 4, 1, 1, offsetof(Subject, src));
        config.defs[2] = field(RTE_ACL_FIELD_TYPE_MASK, 4, 2, 2, offsetof(Subject, dst));
        config.defs[3] = field(RTE_ACL_FIELD_TYPE_RANGE, 2, 3, 3, offsetof(Subject, sport));
        config.defs[4] = field(RTE_ACL_FIELD_TYPE_RANGE, 2, 4, 3, offsetof(Subject, dport));
        config.defs[5] = field(RTE_ACL_FIELD_TYPE_BITMASK, 4, 5, 4, offsetof(Subject, from));
        if (!right || rte_acl_build(acl_, &config) != 0) {
            std::fprintf(stderr, "rte_acl cannot hold these rules\n");
            std::exit(1);
        }
    }

    void batch(std::span<Packet> packets, uint64_t) override {
        std::array<Subject, BATCH> subjects;
        std::array<const uint8_t*, BATCH> data;
        std::array<Packet*, BATCH> taken;
        std::array<uint32_t, BATCH> octets, results;
        uint32_t n = 0;
        for (Packet& p : packets) {
            p.out = DROP;
            View v;
            if (!parse(p, v)) continue;
            subjects[n] = {v.protocol, {}, v.src, v.dst, v.sport, v.dport, __builtin_bswap32(p.port)};
            data[n] = &subjects[n].protocol;
            octets[n] = 14 + v.total_length();
            taken[n++] = &p;
        }
        if (n == 0) return;
        rte_acl_classify(acl_, data.data(), results.data(), n, 1);
        for (uint32_t i = 0; i < n; ++i) {
            if (results[i] == 0) continue;
            const Rule rule = rules_[results[i]];
            hits_[rule.counter].packets += 1;
            hits_[rule.counter].octets += octets[i];
            if (rule.permit) taken[i]->out = taken[i]->port == INSIDE ? OUTSIDE : INSIDE;
        }
    }

  private:
    /// from (2: any), src, its prefix length, dst, its prefix length, protocol (256: any), sport from, to, dport from,
    /// to, effect, counter.
    bool add(const std::vector<uint64_t>& row, size_t count) {
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
        return rte_acl_add_rules(acl_, reinterpret_cast<const rte_acl_rule*>(&rule), 1) == 0;
    }

    rte_acl_ctx* acl_ = nullptr;
    std::vector<Rule> rules_;
    std::array<Hits, 256> hits_{};
};

}  // namespace

std::unique_ptr<Hand> make_hand(const Setup& setup) { return std::make_unique<Acl>(setup); }

}  // namespace polysome::bench
