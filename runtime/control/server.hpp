/// A part of a deployment as a gRPC server: mutual TLS, who may ask for what, configuration, start and end.
///
/// gRPC answers in threads of its own. What a loop owns is touched by the loop alone: services hand it commands through
/// a Mailbox.
#pragma once

#include <google/protobuf/util/json_util.h>
#include <grpc/support/log.h>
#include <grpcpp/grpcpp.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "control.grpc.pb.h"
#include "control/log.hpp"

namespace polysome::control {

inline std::string file_text(const std::string& path, const std::string& what) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw Failure(3, what + " cannot be read: " + path);
    return {std::istreambuf_iterator<char>(file), {}};
}

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

/// The common name of the peer's certificate; empty without one.
inline std::string peer_name(const grpc::ServerContext& context) {
    const auto names = context.auth_context()->FindPropertyValues("x509_common_name");
    return names.size() == 1 ? std::string(names[0].data(), names[0].size()) : std::string();
}

/// Who may ask: peers with one common name; and for changes, only newer ones than the newest so far.
class Guard {
  public:
    Guard(Log& log, std::string allowed) : log_(log), allowed_(std::move(allowed)) {}

    /// PERMISSION_DENIED, logged, for all others.
    grpc::Status admit(const grpc::ServerContext& context, const char* what) {
        const std::string name = peer_name(context);
        if (name == allowed_) return grpc::Status::OK;
        return refuse(context, grpc::StatusCode::PERMISSION_DENIED, what,
                      "the certificate is of `" + name + "`, and only `" + allowed_ + "` may");
    }

    /// FAILED_PRECONDITION, logged, for a change that is not newer. The lease counts as seen whatever comes of it.
    grpc::Status admit(const grpc::ServerContext& context, const char* what, const Lease& lease) {
        if (const grpc::Status status = admit(context, what); !status.ok()) return status;
        const std::lock_guard lock(mutex_);
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
        log_.warning("refused " + std::string(what) + " from " + context.peer() + ": " + why);
        return {code, why};
    }

  private:
    Log& log_;
    std::string allowed_;
    std::mutex mutex_;
    uint64_t epoch_ = 0, number_ = 0;
};

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
        log->warning("refused a connection without a valid certificate: " + text);
    } else if (args->severity == GPR_LOG_SEVERITY_ERROR) {
        log->error("gRPC: " + text);
    }
}

}  // namespace detail

/// The files of a Tls, read: before a process gives up the right to read its key.
struct Credentials {
    /// Failure(2) if one is not named, Failure(3) if it cannot be read.
    Credentials(const Tls& tls)
        : name(tls.certificate()),
          authority(text(tls.authority(), "tls.authority", "the authority's certificate")),
          certificate(text(tls.certificate(), "tls.certificate", "the certificate")),
          key(text(tls.key(), "tls.key", "the key")) {}
    std::string name;  ///< of the certificate's file
    std::string authority, certificate, key;

  private:
    static std::string text(const std::string& path, const char* member, const char* what) {
        if (path.empty()) throw Failure(2, std::string(member) + " is missing: it names a PEM file, " + what);
        return file_text(path, what);
    }
};

/// Listens as long as it lives. Failure(2) without an address, Failure(3) if it or the files are of no use.
class Server {
  public:
    Server(Log& log, const std::string& listen, const Credentials& credentials,
           const std::vector<grpc::Service*>& services) {
        if (listen.empty()) throw Failure(2, "listen is missing: it says on which ADDRESS:PORT the process answers");
        detail::grpc_log() = &log;
        gpr_set_log_function(detail::log_of_grpc);
        grpc::SslServerCredentialsOptions options(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
        options.pem_root_certs = credentials.authority;
        options.pem_key_cert_pairs.push_back({credentials.key, credentials.certificate});
        grpc::ServerBuilder builder;
        builder.SetMaxReceiveMessageSize(most_bytes);
        builder.SetMaxSendMessageSize(most_bytes);
        builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
        // A handful of requests a second: more threads would only wait.
        builder.SetSyncServerOption(grpc::ServerBuilder::SyncServerOption::NUM_CQS, 1);
        builder.SetSyncServerOption(grpc::ServerBuilder::SyncServerOption::MIN_POLLERS, 1);
        builder.SetSyncServerOption(grpc::ServerBuilder::SyncServerOption::MAX_POLLERS, 2);
        int port = 0;
        builder.AddListeningPort(listen, grpc::SslServerCredentials(options), &port);
        for (grpc::Service* service : services) builder.RegisterService(service);
        server_ = builder.BuildAndStart();
        if (server_ == nullptr || port == 0) {
            throw Failure(3, "cannot listen on " + listen + " with the certificate " + credentials.name +
                                 ": the address is not this machine's or in use, or the files do not fit");
        }
    }
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;
    ~Server() {
        server_->Shutdown(std::chrono::system_clock::now() + std::chrono::milliseconds(200));
        detail::grpc_log() = nullptr;
    }

  private:
    static constexpr int most_bytes = 256 << 20;  ///< a config with millions of rows

    std::unique_ptr<grpc::Server> server_;
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
