/// What an NF host keeps for its next start, in files that are replaced as a whole; first of all the config in force.
///
/// Of that, three lines (SHA-256 of the NF's generated header, SHA-256 of the config, its size), then the config. A
/// config of another NF, and a file that is damaged, are not loaded.
#pragma once

#include <fcntl.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>

#include "control/log.hpp"
#include "protocol/protocol.hpp"

namespace polysome::host {

/// By which parts know that they mean the same config, hexadecimal.
inline std::string text_hash(std::string_view bytes) {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    const EVP_MD* const hash = EVP_get_digestbyname(protocol::hashes::text);
    if (hash == nullptr || EVP_Digest(bytes.data(), bytes.size(), digest, &size, hash, nullptr) != 1) {
        throw control::Failure(3, std::string("no ") + protocol::hashes::text + " in this machine's OpenSSL");
    }
    std::string text;
    for (unsigned i = 0; i < size; ++i) {
        text += "0123456789abcdef"[digest[i] >> 4];
        text += "0123456789abcdef"[digest[i] & 15];
    }
    return text;
}

/// The folder for what is kept from one process to the next. It is opened here, so that a process which becomes another
/// user needs no way to it, but may have to write into it.
class StateFolder {
  public:
    explicit StateFolder(std::string path)
        : path_(std::move(path)),
          opened_(open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)),
          why_(opened_ < 0 ? errno : 0) {}
    ~StateFolder() {
        if (opened_ >= 0) close(opened_);
    }
    StateFolder(const StateFolder&) = delete;
    StateFolder& operator=(const StateFolder&) = delete;

    /// Failure(3) unless the folder is there and this process may write into it.
    void check() const {
        const bool good = opened_ >= 0 && faccessat(opened_, ".", W_OK | X_OK, AT_EACCESS) == 0;
        if (good) return;
        const int error = opened_ < 0 ? why_ : errno;
        throw control::Failure(3, "`state` names " + path_ + ", which cannot be written: " + std::strerror(error));
    }

    std::string path(const char* name) const { return path_ + "/" + name; }

    /// All that a file holds; nothing if there is none.
    std::optional<std::string> read(const char* name) const {
        std::ifstream file(path(name), std::ios::binary);
        if (!file) return std::nullopt;
        return std::string{std::istreambuf_iterator<char>(file), {}};
    }

    /// Replaces a file as a whole: at any moment it is the one before or this one; `durable`: after a crash of the
    /// machine, too. Failure(3) if it cannot.
    void write(const char* name, std::string_view head, std::string_view body, bool durable) const {
        const std::string next = std::string(name) + ".next";
        const int file = openat(opened_, next.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        bool good = file >= 0 && write_all(file, head) && write_all(file, body) && (!durable || fsync(file) == 0);
        good = good && renameat(opened_, next.c_str(), opened_, name) == 0;
        const int error = errno;
        if (file >= 0) close(file);
        if (!good) throw control::Failure(3, "cannot write " + path(name) + ": " + std::strerror(error));
        if (durable) fsync(opened_);
    }

    void remove(const char* name) const { unlinkat(opened_, name, 0); }

  private:
    static bool write_all(int file, std::string_view bytes) {
        while (!bytes.empty()) {
            const ssize_t n = ::write(file, bytes.data(), bytes.size());
            if (n < 0 && errno == EINTR) continue;
            if (n <= 0) return false;
            bytes.remove_prefix(static_cast<size_t>(n));
        }
        return true;
    }

    std::string path_;
    int opened_, why_;  ///< the folder, or why it could not be opened
};

class ConfigStore {
  public:
    /// `program`: of the NF whose configs these are.
    ConfigStore(const StateFolder& folder, std::string program) : folder_(folder), program_(std::move(program)) {}

    /// The config that was kept; nothing if there is none. `why` says what is wrong with a file that is of no use.
    std::optional<std::string> load(std::string& why) const {
        const auto text = folder_.read(name);
        if (!text) return std::nullopt;
        std::istringstream file(*text);
        std::string program, version;
        size_t size = 0;
        file >> program >> version >> size;
        file.get();
        std::string config{std::istreambuf_iterator<char>(file), {}};
        if (program != program_) {
            why = folder_.path(name) + " is the config of another version of this NF";
        } else if (config.size() != size || text_hash(config) != version) {
            why = folder_.path(name) + " is damaged";
        } else {
            return config;
        }
        return std::nullopt;
    }

    /// Replaces what is kept: after a crash at any moment it is the one before or this one. Failure(3) if it cannot.
    void keep(const std::string& version, std::string_view config) const {
        std::ostringstream head;
        head << program_ << '\n' << version << '\n' << config.size() << '\n';
        folder_.write(name, head.str(), config, true);
    }

  private:
    static constexpr const char* name = "config";

    const StateFolder& folder_;
    std::string program_;
};

}  // namespace polysome::host
