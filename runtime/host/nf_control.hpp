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
#include "host/fields_store.hpp"
#include "nf/memory.hpp"

namespace polysome::host {

/// A config and its SHA-256.
struct Version {
    std::string name, config;
};

class NfService final : public control::Nf::Service {
  public:
    NfService(control::Log& log, control::Mailbox& mailbox, FieldsLoop& loop, const NfFacts& facts,
              const std::string& server, const ConfigStore& store, Version first)
        : log_(log),
          guard_(log, "controller"),
          mailbox_(mailbox),
          loop_(loop),
          facts_(facts),
          server_(server),
          store_(store),
          in_force_(std::move(first.name)) {}

    grpc::Status Describe(grpc::ServerContext* context, const control::DescribeRequest* request,
                          control::NfDescription* answer) override {
        if (const auto status = guard_.admit(*context, "Describe"); !status.ok()) return status;
        const std::lock_guard lock(changes_);
        answer->set_challenge(request->challenge());
        answer->set_server(server_);
        answer->set_nf(std::string(facts_.name));
        answer->set_boot(boot_);
        answer->set_program(std::string(facts_.program));
        answer->set_version(in_force_);
        answer->set_prepared(prepared_.name);
        return in_loop([&] {
            const auto mac = loop_.mac();
            answer->set_mac(mac.data(), mac.size());
        });
    }

    grpc::Status Prepare(grpc::ServerContext* context, const control::PrepareRequest* request,
                         control::Nothing*) override {
        if (const auto status = guard_.admit(*context, "Prepare", request->lease()); !status.ok()) return status;
        const std::string& config = request->config();
        if (sha256(config) != request->version()) {
            return guard_.refuse(*context, grpc::StatusCode::INVALID_ARGUMENT, "Prepare",
                                 "the version is not the config's SHA-256");
        }
        const std::lock_guard lock(changes_);
        std::optional<Child> child;
        if (const auto status = in_loop([&] { child.emplace(loop_.check(bytes_of(config))); }); !status.ok()) {
            return status;
        }
        const auto fits = child->answer_by(soon());
        if (!fits)
            return {grpc::StatusCode::DEADLINE_EXCEEDED,
                    "the config could not be checked: it takes more time or memory than there is"};
        if (*fits != std::vector<uint8_t>{1}) {
            return guard_.refuse(*context, grpc::StatusCode::INVALID_ARGUMENT, "Prepare",
                                 "this is no config of " + std::string(facts_.name));
        }
        prepared_ = {request->version(), config};
        return grpc::Status::OK;
    }

    /// What is in force already may be asked for again: its answer may have been lost.
    grpc::Status Commit(grpc::ServerContext* context, const control::CommitRequest* request,
                        control::Nothing*) override {
        if (const auto status = guard_.admit(*context, "Commit", request->lease()); !status.ok()) return status;
        const std::lock_guard lock(changes_);
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
        bool fits = false;
        const auto status = in_loop([&] { fits = loop_.configure(bytes_of(prepared_.config)); });
        if (!status.ok()) return status;
        if (!fits) return {grpc::StatusCode::INTERNAL, "the config was taken when it was prepared, and is not now"};
        log_.info("config " + prepared_.name + " is in force");
        in_force_ = std::exchange(prepared_, {}).name;
        return grpc::Status::OK;
    }

    grpc::Status Statistics(grpc::ServerContext* context, const control::Nothing*,
                            control::NfStatistics* answer) override {
        if (const auto status = guard_.admit(*context, "Statistics"); !status.ok()) return status;
        const std::lock_guard lock(changes_);
        answer->set_boot(boot_);
        answer->set_version(in_force_);
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

    grpc::Status Try(grpc::ServerContext* context, const control::TryRequest* request,
                     control::TryResponse* answer) override {
        if (const auto status = guard_.admit(*context, "Try"); !status.ok()) return status;
        if (request->port() >= facts_.ports) {
            return {grpc::StatusCode::INVALID_ARGUMENT, "there is no logical port " + std::to_string(request->port())};
        }
        if (request->packet().empty() || request->packet().size() > most_packet) {
            return {grpc::StatusCode::INVALID_ARGUMENT, "a packet has 1 to " + std::to_string(most_packet) + " bytes"};
        }
        std::optional<Child> child;
        const auto asked = in_loop(
            [&] { child.emplace(loop_.attempt(static_cast<uint16_t>(request->port()), bytes_of(request->packet()))); });
        if (!asked.ok()) return asked;
        const auto said = child->answer_by(soon());
        Outcome outcome;
        if (!said || !read_outcome(*said, outcome)) {
            return {grpc::StatusCode::DEADLINE_EXCEEDED, "no verdict within 2 s"};
        }
        fill(outcome, *answer);
        const std::lock_guard lock(changes_);
        answer->set_version(in_force_);
        return grpc::Status::OK;
    }

  private:
    static constexpr size_t most_packet = 65'000;

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
    const uint64_t boot_ = control::random_boot();
    std::mutex changes_;  ///< one change of the config at a time
    std::string in_force_;
    Version prepared_;
};

namespace detail {

/// The config to start with: the one that was in force last, else the first one.
inline Version starting_config(control::Log& log, FieldsLoop& loop, const ConfigStore& store,
                               const std::string& first) {
    const auto fits = [&](const std::string& config) {
        return loop.configure({reinterpret_cast<const uint8_t*>(config.data()), config.size()});
    };
    std::string why;
    if (auto kept = store.load(why)) {
        if (fits(*kept)) return {sha256(*kept), std::move(*kept)};
        why = "the config that was kept is not one of this NF";
    }
    if (!why.empty()) log.warning(why + ": starting with " + first);
    std::string config = control::file_text(first, "the first config");
    if (!fits(config)) throw control::Failure(2, first + " is no config of this NF");
    return {sha256(config), std::move(config)};
}

inline void serve(control::Log& log, const control::NfConfig& config, const NfFacts& facts, const MakeLoop& make) {
    control::Signals signals;
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
    const ConfigStore store(config.state(), std::string(facts.program));
    Version first = starting_config(log, *loop, store, config.config());
    const std::string version = first.name;
    control::Mailbox mailbox;
    NfService service(log, mailbox, *loop, facts, config.server(), store, std::move(first));
    control::Server server(log, config.listen(), config.tls(), {&service});
    control::become(config.user());
    store.check();
    log.info(std::string(facts.name) + " on " + config.interface() + ", config " + version);
    loop->run(mailbox, signals);
    mailbox.end();
    log.info("ends");
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
