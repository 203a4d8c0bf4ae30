/// The service Nf of control/control.proto, before a FieldsLoop: what an NF host's file without the NF is made of. To
/// be included in one file of a program.
#pragma once

#include <algorithm>
#include <cctype>
#include <mutex>

#include "control/server.hpp"
#include "control/user.hpp"
#include "host/common.hpp"
#include "host/fields_control.hpp"
#include "host/fields_handover.hpp"
#include "nf/memory.hpp"

namespace polysome::host {

/// A config and its SHA-256.
struct Version {
    std::string name, config;
};

class NfService final : public control::Nf::Service {
  public:
    NfService(control::Log& log, control::Mailbox& mailbox, FieldsLoop& loop, const NfFacts& facts,
              const control::NfConfig& config, const ConfigStore& store, const control::Trust& trust, Ending& ending,
              bool took_over, Version first)
        : log_(log),
          guard_(log),
          mailbox_(mailbox),
          loop_(loop),
          facts_(facts),
          server_(config.server()),
          store_(store),
          trust_(trust),
          ending_(ending),
          took_over_(took_over),
          samples_file_(config.samples()),
          in_force_(std::move(first.name)) {
        read_samples();
    }

    grpc::Status Describe(grpc::ServerContext*, const control::DescribeRequest* request,
                          control::NfDescription* answer) override {
        const std::scoped_lock lock(changes_);
        answer->set_challenge(request->challenge());
        answer->set_server(server_);
        answer->set_nf(std::string(facts_.name));
        answer->set_boot(boot_);
        answer->set_program(std::string(facts_.program));
        answer->set_version(in_force_);
        answer->set_prepared(prepared_.name);
        answer->set_took_over(took_over_);
        return in_loop([&] {
            const auto mac = loop_.mac();
            answer->set_mac(mac.data(), mac.size());
        });
    }

    grpc::Status Prepare(grpc::ServerContext* context, const control::PrepareRequest* request,
                         control::Nothing*) override {
        if (const auto status = guard_.admit(*context, "Prepare", request->lease()); !status.ok()) return status;
        const std::string& config = request->config();
        if (text_hash(config) != request->version()) {
            return guard_.refuse(*context, grpc::StatusCode::INVALID_ARGUMENT, "Prepare",
                                 "the version is not the config's SHA-256");
        }
        const std::scoped_lock lock(changes_);
        std::optional<Child> child;
        const std::vector<Sample> samples = request->force() ? std::vector<Sample>() : read_samples();
        if (const auto status = in_loop([&] { child.emplace(loop_.check(bytes_of(config), samples)); }); !status.ok()) {
            return status;
        }
        const auto fits = child->answer_by(soon());
        if (!fits)
            return {grpc::StatusCode::DEADLINE_EXCEEDED,
                    "the config could not be checked: it takes more time or memory than there is"};
        if (!fits->empty()) {
            return guard_.refuse(*context, grpc::StatusCode::INVALID_ARGUMENT, "Prepare",
                                 std::string(fits->begin(), fits->end()));
        }
        prepared_ = {request->version(), config};
        return grpc::Status::OK;
    }

    /// What is in force already may be asked for again: its answer may have been lost.
    grpc::Status Commit(grpc::ServerContext* context, const control::CommitRequest* request,
                        control::Nothing*) override {
        if (const auto status = guard_.admit(*context, "Commit", request->lease()); !status.ok()) return status;
        const std::scoped_lock lock(changes_);
        if (prepared_.name != request->version() || prepared_.name.empty()) {
            if (!request->version().empty() && request->version() == in_force_) return grpc::Status::OK;
            return guard_.refuse(*context, grpc::StatusCode::FAILED_PRECONDITION, "Commit",
                                 "prepared is `" + prepared_.name + "`, not `" + request->version() + "`");
        }
        try {
            store_.keep(prepared_.name, prepared_.config);
        } catch (const control::Failure& failure) {
            log_.error(failure.what());
            return {grpc::StatusCode::INTERNAL, failure.what()};
        }
        std::string why;
        auto status = in_loop([&] { why = loop_.configure(bytes_of(prepared_.config)); });
        if (!status.ok()) return status;
        if (!why.empty()) return {grpc::StatusCode::INTERNAL, "taken when it was prepared, and not now: " + why};
        log_.info("config " + prepared_.name + " is in force");
        in_force_ = std::exchange(prepared_, {}).name;
        return grpc::Status::OK;
    }

    grpc::Status Statistics(grpc::ServerContext*, const control::Nothing*, control::NfStatistics* answer) override {
        const std::scoped_lock lock(changes_);
        answer->set_boot(boot_);
        answer->set_version(in_force_);
        *answer->mutable_certificate() = trust_.state();
        ending_.watched();
        answer->set_leaving(ending_.asked());
        FieldsStatistics all;
        if (const auto status = in_loop([&] { all = loop_.statistics(); }); !status.ok()) return status;
        answer->set_held(all.held);
        for (const auto& [from, to] :
             {std::pair{&all.counters, answer->mutable_counters()}, std::pair{&all.drops, answer->mutable_drops()}}) {
            for (const NamedCount& one : *from) {
                control::Counter* const counter = to->Add();
                counter->set_name(one.name);
                counter->set_value(one.value);
            }
        }
        return grpc::Status::OK;
    }

    grpc::Status HandOver(grpc::ServerContext* context, const control::HandOverRequest* request,
                          control::Nothing*) override {
        if (const auto status = guard_.admit(*context, "HandOver", request->lease()); !status.ok()) return status;
        if (!ending_.asked()) {
            return guard_.refuse(*context, grpc::StatusCode::FAILED_PRECONDITION, "HandOver",
                                 "nobody asked this process to end");
        }
        return in_loop([&] { ending_.held(); });
    }

    grpc::Status Try(grpc::ServerContext*, const control::TryRequest* request, control::TryResponse* answer) override {
        if (request->port() >= facts_.ports) {
            return {grpc::StatusCode::INVALID_ARGUMENT, "there is no logical port " + std::to_string(request->port())};
        }
        if (request->packet().empty() || request->packet().size() > most_packet) {
            return {grpc::StatusCode::INVALID_ARGUMENT, "a packet has 1 to " + std::to_string(most_packet) + " bytes"};
        }
        std::optional<Child> child;
        auto asked = in_loop(
            [&] { child.emplace(loop_.attempt(static_cast<uint16_t>(request->port()), bytes_of(request->packet()))); });
        if (!asked.ok()) return asked;
        const auto said = child->answer_by(soon());
        Outcome outcome;
        if (!said || !read_outcome(*said, outcome)) {
            return {grpc::StatusCode::DEADLINE_EXCEEDED, "no verdict within 2 s"};
        }
        fill(outcome, *answer);
        const std::scoped_lock lock(changes_);
        answer->set_version(in_force_);
        return grpc::Status::OK;
    }

  private:
    static constexpr size_t most_packet = 65'000;

    /// Reads them anew: a new config comes with its own. Where the file cannot be read, by the user that this process
    /// has become, those of its start are used.
    const std::vector<Sample>& read_samples() {
        if (samples_file_.empty()) return samples_;
        try {
            const auto read = control::load_configuration<control::Samples>(samples_file_);
            samples_.clear();
            for (const control::Sample& one : read.samples()) {
                const auto bytes = bytes_of(one.packet());
                if (one.port() >= facts_.ports || bytes.empty()) continue;
                samples_.push_back({static_cast<uint16_t>(one.port()), {bytes.begin(), bytes.end()}});
            }
        } catch (const control::Failure& failure) {
            log_.warning(failure.what());
        }
        return samples_;
    }

    static std::span<const uint8_t> bytes_of(const std::string& text) {
        return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
    }
    static Child::Time soon() { return std::chrono::steady_clock::now() + std::chrono::seconds(2); }

    static void fill(const Outcome& outcome, control::TryResponse& answer) {
        answer.set_sent(outcome.ports != 0);
        for (uint32_t port = 0; port < 64; ++port) {
            if ((outcome.ports >> port & 1) != 0) answer.add_ports(port);
        }
        answer.set_packet(outcome.packet.data(), outcome.packet.size());
        answer.set_reason(outcome.reason);
        answer.set_delay(outcome.delay);
        for (const LookupText& one : outcome.lookups) {
            control::Lookup* const lookup = answer.add_lookups();
            lookup->set_state(one.state);
            lookup->set_operation(one.operation);
            lookup->set_key(one.key);
            lookup->set_found(one.found);
        }
    }

    /// Has the loop do something between two batches.
    grpc::Status in_loop(const std::function<void()>& command) {
        try {
            if (mailbox_.run(command)) return grpc::Status::OK;
            return {grpc::StatusCode::UNAVAILABLE, "this process ends"};
        } catch (const std::exception& error) {
            log_.error(error.what());
            return {grpc::StatusCode::INTERNAL, error.what()};
        }
    }

    control::Log& log_;
    control::Guard guard_;
    control::Mailbox& mailbox_;
    FieldsLoop& loop_;
    const NfFacts& facts_;
    const std::string server_;
    const ConfigStore& store_;
    const control::Trust& trust_;
    Ending& ending_;
    const bool took_over_;
    const std::string samples_file_;
    std::vector<Sample> samples_;
    const uint64_t boot_ = control::random_boot();
    std::mutex changes_;  ///< one change of the config at a time
    std::string in_force_;
    Version prepared_;
};

namespace detail {

constexpr int most_config = 64 << 20;  ///< bytes of a request with one; the controller sends no larger one

/// The config to start with: the one that was in force last, else the first one.
inline Version starting_config(control::Log& log, FieldsLoop& loop, const ConfigStore& store,
                               const std::string& first) {
    const auto unfit = [&](const std::string& config) {
        return loop.configure({reinterpret_cast<const uint8_t*>(config.data()), config.size()});
    };
    std::string why;
    if (auto kept = store.load(why)) {
        why = unfit(*kept);
        if (why.empty()) return {text_hash(*kept), std::move(*kept)};
        why = "the config that was kept cannot be used: " + why;
    }
    if (!why.empty()) log.warning(why + ": starting with " + first);
    std::string config = control::file_text(first, "the first config");
    if (why = unfit(config); !why.empty()) throw control::Failure(2, first + " cannot be used: " + why);
    return {text_hash(config), std::move(config)};
}

/// With the state of the process before, if it left one that is of use. Failure(3) if it turns out to be of none only
/// when it is half loaded: the next start has none.
inline bool take_over(control::Log& log, FieldsLoop& loop, const Handover& handover) {
    std::string why;
    const auto left = handover.take(why);
    if (!why.empty()) log.warning(why + ": the state is empty");
    if (!left) return false;
    if (!loop.load({reinterpret_cast<const uint8_t*>(left->state.data()), left->state.size()}, left->clock_offset)) {
        throw control::Failure(3, "the state that the process before left is not of this NF, or too large for it");
    }
    log.info("took over the state of the process before, " + std::to_string(left->state.size()) + " bytes");
    return true;
}

inline void serve(control::Log& log, const control::NfConfig& config, const NfFacts& facts, const MakeLoop& make) {
    Ending ending;
    if (config.server().empty() || config.interface().empty() || config.listen().empty()) {
        throw control::Failure(2, "`server`, `interface` and `listen` must be given");
    }
    const FieldsSettings settings{config.interface(), {config.cores().begin(), config.cores().end()}};
    if (settings.cores.size() > 1) {
        log.warning("decisions are made on one core, " + std::to_string(settings.cores.front()) + ": the other " +
                    std::to_string(settings.cores.size() - 1) + " of `cores` are not used");
    }
    Pages::at_once = true;
    const std::unique_ptr<FieldsLoop> loop = make(log, settings);
    const StateFolder folder(config.state());
    const Handover handover(folder, facts.layout);
    const bool took_over = take_over(log, *loop, handover);
    const ConfigStore store(folder, std::string(facts.program));
    Version first = starting_config(log, *loop, store, config.config());
    const std::string version = first.name;
    control::Mailbox mailbox;
    control::Trust trust(log, config.server(), config.tls());
    NfService service(log, mailbox, *loop, facts, config, store, trust, ending, took_over, std::move(first));
    control::Server server(log, config.listen(), trust, {"controller", most_config}, {&service});
    control::become(config.user());
    folder.check();
    log.info(std::string(facts.name) + " on " + config.interface() + ", config " + version);
    loop->run(mailbox, ending);
    mailbox.end();
    if (ending.hands_over()) handover.leave(loop->save(), loop->clock_offset());
    log.info(ending.hands_over() ? "ends, and leaves its state to the next process" : "ends");
}

}  // namespace detail

int fields_main(int argc, char** argv, const std::string& program, const NfFacts& facts, const MakeLoop& make) {
    return control::process_main(program, argc, argv, [&](control::Log& log, const std::string& path) {
        try {
            detail::serve(log, control::load_configuration<control::NfConfig>(path), facts, make);
        } catch (const Failure& failure) {
            throw control::Failure(failure.code, failure.what());
        }
    });
}

}  // namespace polysome::host
