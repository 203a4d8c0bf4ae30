/// The service Agent of control.proto over a Device. gRPC's threads hand everything to the agent's loop, whose thread
/// alone knows the device; so changes are admitted in the order in which they are made.
#pragma once

#include <functional>

#include "control/mailbox.hpp"
#include "control/server.hpp"
#include "rdma/agent/addresses.hpp"

namespace polysome::agent {

class AgentService final : public control::Agent::Service {
  public:
    AgentService(control::Log& log, control::Mailbox& mailbox, Device& device, Settings settings,
                 const control::Trust& trust)
        : log_(log), mailbox_(mailbox), device_(device), settings_(std::move(settings)), trust_(trust), guard_(log) {}

    uint64_t boot() const { return boot_; }

    grpc::Status Describe(grpc::ServerContext* context, const control::DescribeRequest* request,
                          control::Registration* answer) override {
        return in_loop(*context, "Describe", [&]() -> grpc::Status {
            if (request->challenge().size() != challenge_size) {
                return {grpc::StatusCode::INVALID_ARGUMENT, "a challenge has 16 bytes"};
            }
            answer->set_challenge(request->challenge());
            describe(*answer);
            return grpc::Status::OK;
        });
    }

    grpc::Status Reset(grpc::ServerContext* context, const control::ResetRequest* request,
                       control::QueuePair* answer) override {
        return in_loop(*context, "Reset", [&]() -> grpc::Status {
            if (const auto status = admit(*context, "Reset", request->lease(), request->boot()); !status.ok()) {
                return status;
            }
            if (request->pair() >= settings_.queue_pairs) {
                return {grpc::StatusCode::INVALID_ARGUMENT, "queue pair " + std::to_string(request->pair()) + " of " +
                                                                std::to_string(settings_.queue_pairs)};
            }
            if (request->peer() == 0 || request->peer() > rdma::PSN_MASK) {
                return {grpc::StatusCode::INVALID_ARGUMENT, "the switch's number has 24 bits and is not 0"};
            }
            const PairStatus pair = device_.reset(request->pair(), request->peer());
            fill(*answer, request->pair(), pair);
            log_.info("queue pair " + std::to_string(request->pair()) + " is reset: number " +
                      std::to_string(pair.number) + ", PSN " + std::to_string(pair.psn) + ", answers to " +
                      std::to_string(pair.peer));
            return grpc::Status::OK;
        });
    }

    grpc::Status Clear(grpc::ServerContext* context, const control::ClearRequest* request, control::Nothing*) override {
        return in_loop(*context, "Clear", [&]() -> grpc::Status {
            if (const auto status = admit(*context, "Clear", request->lease(), request->boot()); !status.ok()) {
                return status;
            }
            device_.clear();
            log_.info("the region is cleared, all queue pairs wait for a reset");
            return grpc::Status::OK;
        });
    }

    grpc::Status Health(grpc::ServerContext* context, const control::Nothing*, control::AgentHealth* answer) override {
        return in_loop(*context, "Health", [&]() -> grpc::Status {
            const Condition condition = device_.condition();
            answer->set_boot(boot_);
            answer->set_link(condition.link);
            answer->set_trouble(condition.trouble);
            *answer->mutable_certificate() = trust_.state();
            fill(*answer->mutable_queue_pairs());
            for (const Count& count : condition.counters) {
                control::Counter& counter = *answer->add_counters();
                counter.set_name(count.name);
                counter.set_value(count.value);
            }
            return grpc::Status::OK;
        });
    }

  private:
    static constexpr size_t challenge_size = 16;

    /// What `command` says, called by the loop; a device that cannot is an INTERNAL error, logged.
    grpc::Status in_loop(const grpc::ServerContext& context, const char* what,
                         const std::function<grpc::Status()>& command) {
        grpc::Status status;
        try {
            if (mailbox_.run([&] { status = command(); })) return status;
            return {grpc::StatusCode::UNAVAILABLE, "the agent ends"};
        } catch (const Failure& failure) {
            log_.error(std::string(what) + " from " + context.peer() + ": " + failure.what());
            return {grpc::StatusCode::INTERNAL, failure.what()};
        }
    }

    grpc::Status admit(const grpc::ServerContext& context, const char* what, const control::Lease& lease,
                       uint64_t boot) {
        if (const grpc::Status status = guard_.admit(context, what, lease); !status.ok()) return status;
        if (boot == boot_) return grpc::Status::OK;
        return guard_.refuse(context, grpc::StatusCode::FAILED_PRECONDITION, what,
                             "it is meant for process " + std::to_string(boot) + ", and this is " +
                                 std::to_string(boot_) + ": the agent has been restarted");
    }

    void describe(control::Registration& answer) {
        const Identity& identity = device_.identity();
        answer.set_server(settings_.server);
        answer.set_boot(boot_);
        answer.set_mac(identity.mac.data(), identity.mac.size());
        uint8_t ip[4];
        store(ip, identity.ip);
        answer.set_ip(ip, sizeof ip);
        answer.set_rkey(identity.rkey);
        answer.set_region(settings_.region);
        answer.set_mtu(settings_.mtu);
        answer.set_device(identity.device);
        fill(*answer.mutable_queue_pairs());
    }

    void fill(google::protobuf::RepeatedPtrField<control::QueuePair>& all) {
        uint32_t index = 0;
        for (const PairStatus& pair : device_.pairs()) fill(*all.Add(), index++, pair);
    }
    static void fill(control::QueuePair& answer, uint32_t index, const PairStatus& pair) {
        answer.set_pair(index);
        answer.set_number(pair.number);
        answer.set_psn(pair.psn);
        answer.set_peer(pair.peer);
        answer.set_ready(pair.ready);
    }

    control::Log& log_;
    control::Mailbox& mailbox_;
    Device& device_;
    const Settings settings_;
    const control::Trust& trust_;
    control::Guard guard_;
    const uint64_t boot_ = control::random_boot();
};

}  // namespace polysome::agent
