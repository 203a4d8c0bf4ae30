// Everything that can go wrong around the switch, one at a time and together: what leaves is right, and every packet is
// accounted for.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "runs.hpp"
#include "system/report.hpp"

namespace {

using namespace polysome;
using namespace polysome::system;
using namespace polysome::system::model;

struct Outcome {
    std::vector<Told> records;
    std::map<std::string, uint64_t> report;
    std::map<std::string, uint64_t> counters;
    std::vector<Bytes> sent;
};

std::map<std::string, uint64_t> lines(const std::string& text) {
    std::map<std::string, uint64_t> all;
    for (size_t at = 0; at < text.size();) {
        const size_t tab = text.find('\t', at), end = text.find('\n', at);
        all[text.substr(at, tab - at)] = std::stoull(text.substr(tab + 1, end - tab - 1));
        at = end + 1;
    }
    return all;
}

/// `n` packets of many sizes, one every `gap` ns, a third of them with an edit.
Outcome run(const SystemConfig& config, size_t n, Time gap = 500) {
    Trial<> trial(config);
    Outcome outcome;
    for (size_t i = 0; i < n; ++i) {
        const size_t size = i % 11 == 0 ? 60 : 100 + i * 37 % 1300;
        outcome.sent.push_back(packet(i % 3 == 0 ? 'b' : 's', i % 2 == 0 ? 2 : 4, size, static_cast<uint8_t>(i)));
        trial.system.arrive(1'000'000'000 + i * gap, 0, outcome.sent.back());
    }
    trial.finish();
    outcome.records = trial.records;
    outcome.report = lines(report_of(trial.system));
    outcome.counters = trial.system.device().counters;
    return outcome;
}

/// Every packet that leaves is what the NF makes of one that came, at the right port.
void expect_right(const Outcome& outcome) {
    for (const Told& record : outcome.records) {
        if (record.kind != Record::left) continue;
        ASSERT_LT(record.packet, outcome.sent.size());
        Bytes expected = outcome.sent[record.packet];
        ASSERT_EQ(expected[1], 1 << record.port);
        if (expected[0] == 'b') expected[0] = '!';
        expected.resize(std::max(expected.size(), record.bytes.size()), 0);  // a whole frame's padding may follow
        ASSERT_EQ(record.bytes, expected) << record.packet;
    }
}

/// in = left + dropped + held + lost; each lost packet has a record with a cause; links lose nothing uncounted.
void expect_accounted(const Outcome& outcome) {
    auto report = outcome.report;
    EXPECT_EQ(report["packets in"], outcome.sent.size());
    EXPECT_EQ(report["packets in"],
              report["packets left"] + report["packets dropped"] + report["packets held"] + report["packets lost"]);
    uint64_t lost = 0, caused = 0;
    for (const Told& record : outcome.records) lost += record.kind == Record::lost;
    for (const auto& [name, value] : report) caused += name.starts_with("lost by ") ? value : 0;
    EXPECT_EQ(lost, report["packets lost"]);
    EXPECT_EQ(caused, lost);
    for (const std::string cable : {"traffic0", "traffic1", "nf", "server0", "server1"}) {
        for (const std::string way : {" out ", " in "}) {
            const std::string link = cable + way;
            EXPECT_EQ(report[link + "sent"] + report[link + "duplicated"],
                      report[link + "delivered"] + report[link + "lost"] + report[link + "down"] +
                          report[link + "fcs errors"] + report[link + "on the way"])
                << link;
        }
    }
}

void expect_sound(const Outcome& outcome) {
    expect_right(outcome);
    expect_accounted(outcome);
}

void each_server(SystemConfig& config, const Faults& faults) {
    for (ServerConfig& server : config.servers) server.cable.out_faults = server.cable.in_faults = faults;
}

TEST(Faults, NothingIsLostWithoutAny) {
    const Outcome outcome = run(usual(), 3000);
    expect_sound(outcome);
    EXPECT_EQ(outcome.report.at("packets left"), 3000u);
    EXPECT_EQ(outcome.counters.at("merged"), outcome.counters.at("split"));
    EXPECT_EQ(outcome.report.at("nf out fields bytes"), 60 * outcome.report.at("nf out fields frames"));
}

TEST(Faults, LossBetweenSwitchAndServersIsMendedByOneResynchronisation) {
    SystemConfig config = usual();
    each_server(config, {.loss = 2e-3});
    const Outcome outcome = run(config, 5000);
    expect_sound(outcome);
    EXPECT_GT(outcome.counters.at("sequence nak"), 0u);
    EXPECT_GT(outcome.report.at("packets lost"), 0u);
    EXPECT_LT(outcome.report.at("packets lost"), 1250u);
}

TEST(Faults, LossToTheNfCostsExactlyThePacketsThatItHits) {
    SystemConfig config = usual();
    config.nf_cable.out_faults.loss = 1e-2;
    const Outcome outcome = run(config, 5000);
    expect_sound(outcome);
    const uint64_t lost = outcome.report.at("nf out lost");
    EXPECT_GT(lost, 20u);
    EXPECT_EQ(outcome.report.at("lost by nf out: lost"), lost);
    EXPECT_EQ(outcome.report.at("packets lost"), lost);
}

TEST(Faults, RepeatedFramesHarmNobody) {
    SystemConfig config = usual();
    each_server(config, {.duplicate = 1e-2});
    config.nf_cable.out_faults.duplicate = config.nf_cable.in_faults.duplicate = 1e-2;
    const Outcome outcome = run(config, 5000);
    expect_sound(outcome);
    EXPECT_EQ(outcome.report.at("packets lost"), 0u);
    EXPECT_GT(outcome.counters.at("repeated edits"), 20u);
    EXPECT_GT(outcome.report.at("server0 repeated"), 0u);
    EXPECT_GT(outcome.report.at("decisions"), 5000u);
}

TEST(Faults, OvertakingFramesAreToldApart) {
    SystemConfig config = usual();
    each_server(config, {.reorder = 5e-3, .hold = 20'000});
    config.nf_cable.out_faults = config.nf_cable.in_faults = {.reorder = 1e-2, .hold = 20'000};
    const Outcome outcome = run(config, 5000);
    expect_sound(outcome);
    EXPECT_GT(outcome.report.at("nf out reordered"), 20u);
    EXPECT_GT(outcome.report.at("packets left"), 4500u);
}

TEST(Faults, FlippedBitsAreCaughtByTheChecksumOrByTheIcrc) {
    SystemConfig config = usual();
    for (ServerConfig& server : config.servers) {
        server.cable.out_faults = {.corrupt = 5e-3, .past_checksum = 0.5};
        server.cable.in_faults = {.corrupt = 5e-3};
    }
    const Outcome outcome = run(config, 5000);
    expect_sound(outcome);
    EXPECT_GT(outcome.report.at("server0 out fcs errors"), 0u);
    EXPECT_GT(outcome.report.at("server0 dropped: bad ICRC"), 0u);
}

TEST(Faults, ADeadServerIsReplacedAndComesBack) {
    SystemConfig config = usual();
    config.servers[0].dead = {{1'002'000'000, 1'006'000'000}};
    const Outcome outcome = run(config, 30'000);
    expect_sound(outcome);
    EXPECT_GE(outcome.report.at("queue pairs taken down"), 2u);
    EXPECT_GE(outcome.report.at("queue pairs restored"), 2u);
    // At the most what two sweeps let through, of half of the traffic.
    EXPECT_LT(outcome.report.at("packets lost"), 4500u);
    Time last = 0;
    for (const Told& record : outcome.records) {
        if (record.kind == Record::lost && record.packet > last) last = record.packet;
    }
    EXPECT_LT(last, 12'000u) << "it came back, and nothing is lost from then on";
}

TEST(Faults, AFatalNakTakesAQueuePairDownUntilItIsReset) {
    SystemConfig config = usual();
    config.servers[1].failures = {1'003'000'000};
    const Outcome outcome = run(config, 20'000);
    expect_sound(outcome);
    EXPECT_EQ(outcome.report.at("server1 nak 3"), 2u);
    EXPECT_EQ(outcome.counters.at("fatal nak"), 2u);
    EXPECT_EQ(outcome.report.at("queue pairs restored"), 2u);
    EXPECT_LT(outcome.report.at("packets lost"), 100u);
}

TEST(Faults, AStuckNfLosesWhatItsQueueDoesNotHold) {
    SystemConfig config = usual();
    config.nf.queue = 256;
    config.nf.stuck = {{1'002'000'000, 1'004'000'000}};
    const Outcome outcome = run(config, 20'000);
    expect_sound(outcome);
    EXPECT_GT(outcome.report.at("lost by nf: receive queue full"), 3000u);
    for (const Told& record : outcome.records) {
        if (record.kind == Record::decided) {
            EXPECT_FALSE(config.nf.stuck[0].has(record.time));
        }
    }
}

TEST(Faults, ALinkThatIsDownLosesEverything) {
    SystemConfig config = usual();
    config.nf_cable.out_faults.down = {{1'002'000'000, 1'003'000'000}};
    const Outcome outcome = run(config, 10'000);
    expect_sound(outcome);
    const uint64_t lost = outcome.report.at("lost by nf out: down");
    EXPECT_NEAR(static_cast<double>(lost), 2000, 5);
    EXPECT_EQ(outcome.report.at("packets lost"), lost);
}

SystemConfig everything(uint64_t seed) {
    SystemConfig config = usual();
    config.seed = seed;
    const Faults bad{.loss = 1e-3, .duplicate = 1e-3, .reorder = 1e-3, .hold = 10'000, .corrupt = 1e-3};
    each_server(config, bad);
    config.nf_cable.out_faults = config.nf_cable.in_faults = bad;
    config.traffic[0].in_faults = config.traffic[1].out_faults = bad;
    config.servers[0].dead = {{1'004'000'000, 1'005'000'000}};
    config.servers[1].failures = {1'007'000'000};
    config.nf.stuck = {{1'001'000'000, 1'001'100'000}};
    return config;
}

TEST(Faults, AllAtOnceCorruptNothing) {
    for (uint64_t seed = 1; seed <= 3; ++seed) {
        const Outcome outcome = run(everything(seed), 20'000);
        expect_sound(outcome);
        EXPECT_GT(outcome.report.at("packets left"), 14'000u);
    }
}

TEST(Faults, TheSameSeedGivesTheSameRunAndAnotherOneAnother) {
    const Outcome first = run(everything(5), 3000), second = run(everything(5), 3000), other = run(everything(6), 3000);
    EXPECT_EQ(first.records, second.records);
    EXPECT_EQ(first.report, second.report);
    EXPECT_NE(first.records, other.records);
}

TEST(Faults, OneMoreDoesNotMoveTheOthers) {
    SystemConfig config = usual();
    config.traffic[0].in_faults.loss = 1e-2;
    const Outcome alone = run(config, 3000);
    config.traffic[1].out_faults.loss = 1e-2;
    const Outcome both = run(config, 3000);
    EXPECT_EQ(alone.report.at("traffic0 in lost"), both.report.at("traffic0 in lost"));
    std::vector<uint64_t> came[2];
    for (const Told& record : alone.records) {
        if (record.kind == Record::decided) came[0].push_back(record.packet);
    }
    for (const Told& record : both.records) {
        if (record.kind == Record::decided) came[1].push_back(record.packet);
    }
    EXPECT_EQ(came[0], came[1]);
}

}  // namespace
