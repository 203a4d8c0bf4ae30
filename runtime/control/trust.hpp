/// The files of a Tls, as they are in force: who this process is, and which certificates of others it takes.
#pragma once

#include <fcntl.h>
#include <grpc/grpc_security_constants.h>
#include <grpcpp/grpcpp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <fstream>
#include <iterator>
#include <mutex>
#include <string>

#include "control.pb.h"
#include "control/log.hpp"
#include "control/revoked.hpp"

namespace polysome::control {

inline std::string file_text(const std::string& path, const std::string& what) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw Failure(3, what + " cannot be read: " + path);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// A file of a folder that was opened at the start: what the process may do in the folder matters later, and not how it
/// would come there.
class Placed {
  public:
    Placed(std::string path, const char* what)
        : path_(std::move(path)),
          what_(what),
          name_(path_.substr(path_.rfind('/') + 1)),
          folder_(open(folder_of(path_).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {}
    Placed(const Placed&) = delete;
    Placed& operator=(const Placed&) = delete;
    ~Placed() {
        if (folder_ >= 0) close(folder_);
    }

    const std::string& path() const { return path_; }

    /// False if it is not there.
    bool look(struct stat& found) const { return fstatat(folder_, name_.c_str(), &found, 0) == 0; }

    /// Failure(3) if it cannot be read.
    std::string text() const {
        const int file = openat(folder_, name_.c_str(), O_RDONLY | O_CLOEXEC);
        std::string found;
        std::array<char, 4096> part;
        ssize_t count = -1;
        while (file >= 0 && (count = read(file, part.data(), part.size())) > 0) {
            found.append(part.data(), static_cast<size_t>(count));
        }
        if (file >= 0) close(file);
        if (count < 0) throw Failure(3, what_ + " cannot be read: " + path_);
        return found;
    }

  private:
    static std::string folder_of(const std::string& path) {
        const size_t slash = path.rfind('/');
        return slash == std::string::npos ? "." : path.substr(0, slash + 1);
    }

    const std::string path_, what_, name_;
    const int folder_;
};

/// PEM texts that fit together.
struct Identity {
    std::string authority, certificate, key;
    bool operator==(const Identity&) const = default;
};

/// Read before a process gives up the right to read its key, and looked at again while it runs. What is not valid then
/// is not taken: what was in force stays, and the trouble is told. Thread-safe.
class Trust {
  public:
    /// Failure(2) if a file is not named, Failure(3) if one is of no use.
    Trust(Log& log, std::string name, const Tls& tls)
        : log_(log),
          name_(std::move(name)),
          authority_(named(tls.authority(), "tls.authority"), "the authority's certificate"),
          certificate_(named(tls.certificate(), "tls.certificate"), "the certificate"),
          key_(named(tls.key(), "tls.key"), "the key"),
          list_(named(tls.revoked(), "tls.revoked"), "the list of revoked certificates") {
        seen_ = stamps();
        Identity found{authority_.text(), certificate_.text(), key_.text()};
        const Certificate authority = certificate_of(found.authority);
        if (const std::string why = unfit(found, authority.get()); !why.empty()) throw Failure(3, why);
        auto list = Revoked::read(list_.text(), *authority);
        if (!list) throw Failure(3, no_list());
        take(std::move(found));
        revoked_ = std::move(*list);
    }
    Trust(const Trust&) = delete;
    Trust& operator=(const Trust&) = delete;

    /// What is in force.
    Identity identity() const {
        const std::scoped_lock lock(mutex_);
        return identity_;
    }

    /// Looks at the files, which costs little while they are the same. True: there is another identity in force.
    bool look() {
        const Stamps now = stamps();
        const std::scoped_lock lock(mutex_);
        if (now == seen_ && trouble_.empty()) return false;
        seen_ = now;
        std::string trouble;
        const bool other = look_at_identity(trouble);
        look_at_list(trouble);
        if (trouble != trouble_ && !trouble.empty()) log_.warning(trouble);
        trouble_ = std::move(trouble);
        return other;
    }

    /// Why a peer's certificate does not prove, or no longer, that it is `name`; empty: it does.
    std::string refusal(const grpc::AuthContext& context, const std::string& name) const {
        const auto shown = context.FindPropertyValues(GRPC_X509_PEM_CERT_PROPERTY_NAME);
        const Certificate own = shown.size() == 1 ? certificate_of({shown[0].data(), shown[0].size()}) : Certificate();
        const int64_t ends = own == nullptr ? 0 : seconds_of(X509_get0_notAfter(own.get()));
        // TLS has looked when the connection was made, which may be long ago.
        if (ends < static_cast<int64_t>(std::time(nullptr))) {
            return "the certificate of `" + name + "` has expired, on " + day_of(ends);
        }
        const std::scoped_lock lock(mutex_);
        const std::string demanded = revoked_.demanded(name);
        for (const grpc::string_ref& one : context.FindPropertyValues("x509_subject_alternative_name")) {
            if (one == demanded) return {};
        }
        return "the certificate of `" + name + "` is revoked, or of no use: it does not have the name " + demanded;
    }

    CertificateState state() const {
        const std::scoped_lock lock(mutex_);
        CertificateState state;
        state.set_name(name_);
        state.set_ends(static_cast<uint64_t>(ends_) * 1'000'000'000);
        state.set_serial(serial_);
        const auto now = static_cast<int64_t>(std::time(nullptr));
        state.set_trouble(!trouble_.empty()      ? trouble_
                          : revoked_.due() < now ? "the list of revoked certificates, " + list_.path() +
                                                       ", should have been signed anew by " + day_of(revoked_.due())
                                                 : "");
        return state;
    }

  private:
    struct Stamp {
        ino_t inode = 0;
        off_t size = 0;
        int64_t changed = 0;  ///< ns
        bool operator==(const Stamp&) const = default;
    };
    using Stamps = std::array<Stamp, 4>;

    static std::string named(const std::string& path, const char* member) {
        if (path.empty()) throw Failure(2, std::string(member) + " is missing: it names a PEM file");
        return path;
    }

    Stamps stamps() const {
        Stamps found;
        auto next = found.begin();
        for (const Placed* file : {&authority_, &certificate_, &key_, &list_}) {
            struct stat one{};
            if (file->look(one)) {
                *next = {one.st_ino, one.st_size, one.st_mtim.tv_sec * 1'000'000'000 + one.st_mtim.tv_nsec};
            }
            ++next;
        }
        return found;
    }

    /// Why they do not fit together; empty: they do.
    std::string unfit(const Identity& found, X509* authority) const {
        const Certificate own = certificate_of(found.certificate);
        const Key key = key_of(found.key);
        if (authority != nullptr && own != nullptr && key != nullptr && is_signed(*own, *authority) &&
            X509_check_private_key(own.get(), key.get()) == 1) {
            return {};
        }
        return "the certificate " + certificate_.path() + " is of no use: it, its key and the authority's do not fit";
    }
    std::string no_list() const { return list_.path() + " is no list of revoked certificates of this authority"; }

    void take(Identity found) {
        const Certificate own = certificate_of(found.certificate);
        ends_ = seconds_of(X509_get0_notAfter(own.get()));
        serial_ = serial_of(*own);
        identity_ = std::move(found);
    }

    bool look_at_identity(std::string& trouble) {
        Identity found;
        try {
            found.authority = authority_.text();
            found.certificate = certificate_.text();
        } catch (const Failure& failure) {
            trouble = failure.what();
            return false;
        }
        try {
            found.key = key_.text();
        } catch (const Failure& failure) {
            found.key = identity_.key;  // the user that this process has become may not read it; it may be the same
        }
        if (found == identity_) return false;
        const Certificate authority = certificate_of(found.authority);
        if (trouble = unfit(found, authority.get()); !trouble.empty()) return false;
        const Certificate before = certificate_of(identity_.authority);
        if (EVP_PKEY_eq(X509_get0_pubkey(authority.get()), X509_get0_pubkey(before.get())) != 1) {
            revoked_ = {};  // the lists of another authority begin anew
        }
        take(std::move(found));
        log_.info("has another certificate: " + serial_ + ", which ends " + day_of(ends_));
        return true;
    }

    void look_at_list(std::string& trouble) {
        std::string why;
        try {
            const std::string text = list_.text();
            const Certificate authority = certificate_of(identity_.authority);
            auto list = Revoked::read(text, *authority);
            if (!list) {
                why = no_list();
            } else if (list->number() < revoked_.number()) {
                why = list_.path() + " is older than the list of revoked certificates that is in force";
            } else {
                if (list->number() > revoked_.number()) log_.info("has another list of revoked certificates");
                revoked_ = std::move(*list);
            }
        } catch (const Failure& failure) {
            why = failure.what();
        }
        if (!why.empty()) trouble += (trouble.empty() ? "" : "; ") + why;
    }

    Log& log_;
    const std::string name_;
    const Placed authority_, certificate_, key_, list_;
    mutable std::mutex mutex_;
    Stamps seen_{};
    Identity identity_;
    Revoked revoked_;
    int64_t ends_ = 0;  ///< of the certificate, in seconds since the epoch of UNIX
    std::string serial_, trouble_;
};

}  // namespace polysome::control
