/// Who may ask a part for what: peers of one name, and for changes, only newer ones than the newest so far.
#pragma once

#include <grpcpp/grpcpp.h>
#include <grpcpp/security/auth_metadata_processor.h>
#include <grpcpp/support/server_interceptor.h>

#include <functional>
#include <mutex>
#include <string>

#include "control.pb.h"
#include "control/log.hpp"
#include "control/trust.hpp"

namespace polysome::control {

/// Refuses calls of peers whose certificate has another common name, is revoked or has expired by now, before a byte of
/// their message is read (PERMISSION_DENIED, logged).
class OnlyPeer final : public grpc::AuthMetadataProcessor {
  public:
    OnlyPeer(Log& log, std::string allowed, const Trust& trust)
        : log_(log), allowed_(std::move(allowed)), trust_(trust) {}

    bool IsBlocking() const override { return false; }

    grpc::Status Process(const InputMetadata& call, grpc::AuthContext* context, OutputMetadata*,
                         OutputMetadata*) override {
        const auto names = context->FindPropertyValues("x509_common_name");
        const std::string name = names.size() == 1 ? std::string(names[0].data(), names[0].size()) : std::string();
        const std::string why =
            name == allowed_ ? trust_.refusal(*context, name)
                             : "the certificate is of `" + printable(name) + "`, and only `" + allowed_ + "` may";
        if (why.empty()) return grpc::Status::OK;
        const auto path = call.find(":path");
        log_.refused(path == call.end() ? "a call" : printable({path->second.data(), path->second.size()}), why);
        return {grpc::StatusCode::PERMISSION_DENIED, why};
    }

  private:
    /// What a stranger says, for a line of a log: short, and no control characters.
    static std::string printable(std::string text) {
        constexpr size_t most = 100;
        if (text.size() > most) text.resize(most);
        for (char& c : text) {
            if (c < ' ' || c > '~') c = '?';
        }
        return text;
    }

    Log& log_;
    std::string allowed_;
    const Trust& trust_;
};

/// Says whose calls OnlyPeer let pass, as grpc::ServerContext::peer() has it, before their message is read.
class Admitted final : public grpc::experimental::ServerInterceptorFactoryInterface {
  public:
    using Tell = std::function<void(const std::string& peer)>;

    explicit Admitted(Tell tell) : tell_(std::move(tell)) {}

    grpc::experimental::Interceptor* CreateServerInterceptor(grpc::experimental::ServerRpcInfo* call) override {
        return new Call(tell_, *call);  // gRPC's from then on
    }

  private:
    struct Call final : grpc::experimental::Interceptor {
        Call(const Tell& told, grpc::experimental::ServerRpcInfo& of) : tell(told), call(of) {}
        void Intercept(grpc::experimental::InterceptorBatchMethods* now) override {
            using Point = grpc::experimental::InterceptionHookPoints;
            if (now->QueryInterceptionHookPoint(Point::POST_RECV_INITIAL_METADATA)) tell(call.server_context()->peer());
            now->Proceed();
        }
        const Tell& tell;
        grpc::experimental::ServerRpcInfo& call;
    };

    Tell tell_;
};

/// Changes come in order, each once.
class Guard {
  public:
    explicit Guard(Log& log) : log_(log) {}

    /// FAILED_PRECONDITION, logged, for a change that is not newer. The lease counts as seen whatever comes of it.
    grpc::Status admit(const grpc::ServerContext& context, const char* what, const Lease& lease) {
        const std::scoped_lock lock(mutex_);
        const bool newer = lease.epoch() > epoch_ || (lease.epoch() == epoch_ && lease.number() > number_);
        if (newer) {
            epoch_ = lease.epoch();
            number_ = lease.number();
            return grpc::Status::OK;
        }
        return refuse(context, grpc::StatusCode::FAILED_PRECONDITION, what,
                      "change " + std::to_string(lease.number()) + " of epoch " + std::to_string(lease.epoch()) +
                          " is not newer than " + std::to_string(number_) + " of epoch " + std::to_string(epoch_));
    }

    grpc::Status refuse(const grpc::ServerContext& context, grpc::StatusCode code, const char* what,
                        const std::string& why) {
        log_.refused(std::string(what) + " from " + context.peer(), why);
        return {code, why};
    }

  private:
    Log& log_;
    std::mutex mutex_;
    uint64_t epoch_ = 0, number_ = 0;
};

}  // namespace polysome::control
