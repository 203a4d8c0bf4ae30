// The soft switch's gRPC service: who may ask, and in which thread what is asked is done.
#pragma once

#include <cstdint>
#include <string>

#include "control/mailbox.hpp"
#include "control/server.hpp"

namespace polysome::soft_switch {

/// What the service has the loop do, in the loop's thread, between two packets. Errors are std::invalid_argument.
class Requests {
  public:
    virtual ~Requests() = default;
    virtual void write(const control::WriteRequest& request) = 0;
    virtual void read(const control::ReadRequest& request, control::ReadResponse& response) = 0;
    virtual void statistics(control::SwitchStatistics& response) = 0;
};

class Service final : public control::SoftSwitch::Service {
  public:
    /// `program`: SHA-256 of the P4 program's text, hexadecimal.
    Service(control::Log& log, control::Mailbox& mailbox, Requests& requests, std::string program,
            const control::Trust& trust)
        : guard_(log), mailbox_(mailbox), requests_(requests), program_(std::move(program)), trust_(trust) {}

    grpc::Status Describe(grpc::ServerContext*, const control::DescribeRequest* request,
                          control::SwitchDescription* response) override {
        response->set_challenge(request->challenge());
        response->set_boot(boot_);
        response->set_program(program_);
        response->set_model("software");
        return grpc::Status::OK;
    }

    grpc::Status Write(grpc::ServerContext* context, const control::WriteRequest* request, control::Nothing*) override {
        grpc::Status status;
        // The lease is looked at where the changes are made, so that their order is the leases'.
        return in_loop(
            [&] {
                if (request->boot() != boot_) {
                    status = guard_.refuse(*context, grpc::StatusCode::FAILED_PRECONDITION, "Write",
                                           "it is for process " + std::to_string(request->boot()) + ", and this is " +
                                               std::to_string(boot_));
                } else {
                    status = guard_.admit(*context, "Write", request->lease());
                }
                if (status.ok()) requests_.write(*request);
            },
            status);
    }

    grpc::Status Read(grpc::ServerContext*, const control::ReadRequest* request,
                      control::ReadResponse* response) override {
        return in_loop([&] { requests_.read(*request, *response); }, grpc::Status::OK);
    }

    grpc::Status Statistics(grpc::ServerContext*, const control::Nothing*,
                            control::SwitchStatistics* response) override {
        response->set_boot(boot_);
        *response->mutable_certificate() = trust_.state();
        return in_loop([&] { requests_.statistics(*response); }, grpc::Status::OK);
    }

  private:
    /// `status` as `command` leaves it, unless it fails.
    template <class Command>
    grpc::Status in_loop(Command&& command, const grpc::Status& status) {
        try {
            if (!mailbox_.run(command)) return {grpc::StatusCode::UNAVAILABLE, "the switch ends"};
            return status;
        } catch (const std::invalid_argument& error) {
            return {grpc::StatusCode::INVALID_ARGUMENT, error.what()};
        }
    }

    control::Guard guard_;
    control::Mailbox& mailbox_;
    Requests& requests_;
    const std::string program_;
    const control::Trust& trust_;
    const std::uint64_t boot_ = control::random_boot();
};

}  // namespace polysome::soft_switch
