/// A part of a deployment as a gRPC server: mutual TLS, who may ask for what, configuration, start and end.
///
/// gRPC answers in threads of its own. What a loop owns is touched by the loop alone: services hand it commands through
/// a Mailbox.
#pragma once

#include <google/protobuf/util/json_util.h>
#include <grpc/support/log.h>
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "control.grpc.pb.h"
#include "control/access.hpp"
#include "control/listener.hpp"
#include "control/log.hpp"
#include "control/trust.hpp"

namespace polysome::control {

/// A configuration: a message of control.proto as JSON. Failure(2) if it is none, Failure(3) if it cannot be read.
template <class Message>
Message load_configuration(const std::string& path) {
    const std::string text = file_text(path, "the configuration");
    Message message;
    const auto status = google::protobuf::util::JsonStringToMessage(text, &message);
    if (!status.ok()) {
        const std::string why(status.message());  // the first line; what follows shows the place
        throw Failure(2, path + " is no configuration: " + why.substr(0, why.find('\n')));
    }
    return message;
}

/// Of a process: who asks again after a restart finds another one. Never 0.
inline uint64_t random_boot() {
    std::random_device source;
    return (uint64_t{source()} << 32 | source()) | 1;
}

namespace detail {

inline Log*& grpc_log() {
    static Log* log = nullptr;
    return log;
}

/// gRPC's own errors in our form; a handshake that fails is a peer that was refused.
inline void log_of_grpc(gpr_log_func_args* args) {
    Log* const log = grpc_log();
    if (log == nullptr) return;
    const std::string text = args->message;
    if (text.find("andshake failed") != std::string::npos) {
        log->refused("a connection without a valid certificate", text);
    } else if (args->severity == GPR_LOG_SEVERITY_ERROR) {
        log->error("gRPC: " + text);
    }
}

}  // namespace detail

/// What a server bears.
struct Limits {
    std::string allowed;  ///< the common name of those who may ask
    int request;          ///< bytes of a request, at most
};

/// Listens as long as it lives. Failure(2) without an address, Failure(3) if it or the certificate is of no use.
///
/// Nobody holds it up: who has not said in `handshake` who he is, or asks nothing for `idle`, is cut off, and memory
/// has a quota. An answer is as small as what it answers, but for a read of registers and counters. A new certificate
/// is for new connections; once every handshake with that before is over, its connections are asked to end, and what
/// they carry is answered first.
class Server {
  public:
    Server(Log& log, const std::string& listen, Trust& trust, const Limits& limits,
           const std::vector<grpc::Service*>& services)
        : log_(log), trust_(trust), limits_(limits), services_(services) {
        if (listen.empty()) throw Failure(2, "listen is missing: it says on which ADDRESS:PORT the process answers");
        detail::grpc_log() = &log;
        gpr_set_log_function(detail::log_of_grpc);
        listener_ = std::make_unique<Listener>(log, listen, [this](int listener, int connection) {
            grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters taken;
            taken.listener_fd = listener;
            taken.fd = connection;
            const std::scoped_lock lock(mutex_);
            serving_.acceptor->HandleNewConnection(&taken);
        });
        serving_ = started();
        if (serving_.server == nullptr) throw Failure(3, "the certificate is of no use to gRPC");
        listener_->start();
        watcher_ = std::thread([this] { watch(); });
    }
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;
    ~Server() {
        {
            const std::scoped_lock lock(mutex_);
            ends_ = true;
        }
        ending_.notify_all();
        watcher_.join();
        listener_->stop();
        serving_.server->Shutdown(std::chrono::system_clock::now() + std::chrono::milliseconds(200));
        detail::grpc_log() = nullptr;
    }

  private:
    static constexpr int handshake = 5'000, idle = 60'000;  ///< ms
    static constexpr size_t quota = 96 << 20;               ///< bytes, beside a request that is being read
    static constexpr int threads = 16;
    static constexpr std::chrono::seconds look{1};  ///< between two looks at the files

    /// With one identity, which gRPC cannot change.
    struct Serving {
        std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> acceptor;
        std::unique_ptr<grpc::Server> server;  ///< null: the identity is of no use
    };

    Serving started() {
        Identity identity = trust_.identity();
        grpc::SslServerCredentialsOptions options(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
        options.pem_root_certs = std::move(identity.authority);
        options.pem_key_cert_pairs.push_back({std::move(identity.key), std::move(identity.certificate)});
        const auto own = grpc::SslServerCredentials(options);
        own->SetAuthMetadataProcessor(std::make_shared<OnlyPeer>(log_, limits_.allowed, trust_));
        grpc::ServerBuilder builder;
        configure(builder, limits_);
        using External = grpc::ServerBuilder::experimental_type::ExternalConnectionType;
        Serving made;
        made.acceptor = builder.experimental().AddExternalConnectionAcceptor(External::FROM_FD, own);
        std::vector<std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>> told;
        told.push_back(std::make_unique<Admitted>([this](const std::string& peer) { listener_->admit(peer); }));
        builder.experimental().SetInterceptorCreators(std::move(told));
        for (grpc::Service* service : services_) builder.RegisterService(service);
        made.server = builder.BuildAndStart();
        return made;
    }

    struct Retired {
        Serving serving;
        std::chrono::steady_clock::time_point until;
    };

    void watch() {
        std::vector<Retired> retired;
        std::unique_lock lock(mutex_);
        while (!ending_.wait_for(lock, look, [this] { return ends_; })) {
            lock.unlock();
            if (trust_.look()) renew(retired);
            std::erase_if(retired, [](const Retired& one) {
                if (std::chrono::steady_clock::now() < one.until) return false;
                one.serving.server->Shutdown(std::chrono::system_clock::now() + std::chrono::seconds(10));
                return true;
            });
            lock.lock();
        }
        for (const Retired& one : retired) one.serving.server->Shutdown(std::chrono::system_clock::now());
    }

    /// Serves with the identity that is in force now; what served before has time for its handshakes.
    void renew(std::vector<Retired>& retired) {
        Serving made = started();
        if (made.server == nullptr) {
            log_.error("the new certificate is of no use to gRPC: that before serves on");
            return;
        }
        const std::scoped_lock lock(mutex_);
        retired.push_back({std::exchange(serving_, std::move(made)),
                           std::chrono::steady_clock::now() + std::chrono::milliseconds(handshake)});
    }

    static void configure(grpc::ServerBuilder& builder, const Limits& limits) {
        builder.SetMaxReceiveMessageSize(limits.request);
        builder.SetResourceQuota(grpc::ResourceQuota("polysome")
                                     .Resize(quota + 2 * static_cast<size_t>(limits.request))
                                     .SetMaxThreads(threads));
        builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, handshake);
        builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, idle);
        builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, 32);
        builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, 8 << 10);
        // A handful of requests a second: more threads would only wait.
        using Option = grpc::ServerBuilder::SyncServerOption;
        builder.SetSyncServerOption(Option::NUM_CQS, 1);
        builder.SetSyncServerOption(Option::MIN_POLLERS, 1);
        builder.SetSyncServerOption(Option::MAX_POLLERS, 2);
    }

    Log& log_;
    Trust& trust_;
    const Limits limits_;
    const std::vector<grpc::Service*> services_;
    std::mutex mutex_;
    std::condition_variable ending_;
    std::unique_ptr<Listener> listener_;  // asked as long as there are calls
    Serving serving_;
    bool ends_ = false;
    std::thread watcher_;
};

/// main() of such a process: `run(log, path of the configuration)`; exit codes as of Failure.
template <class Run>
int process_main(const std::string& program, int argc, char** argv, Run&& run) {
    Log log(program);
    try {
        if (argc != 2) throw Failure(2, "usage: " + program + " CONFIG.json");
        run(log, std::string(argv[1]));
        return 0;
    } catch (const Failure& failure) {
        log.error(failure.what());
        return failure.code;
    } catch (const std::exception& error) {
        log.error(error.what());
        return 3;
    }
}

}  // namespace polysome::control
