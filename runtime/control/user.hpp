/// Which user a process is once all that needs root is open.
#pragma once

#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "control/log.hpp"

namespace polysome::control {

/// All threads of the process become `user`, with its groups and without any capability; nothing happens if it is empty
/// or the process is that user. Failure(3) if that cannot be.
inline void become(const std::string& user) {
    if (user.empty()) return;
    const passwd* const found = getpwnam(user.c_str());
    if (found == nullptr) throw Failure(3, "there is no user `" + user + "` (useradd --system " + user + ")");
    if (found->pw_uid == geteuid() && found->pw_uid == getuid()) return;
    if (initgroups(user.c_str(), found->pw_gid) != 0 || setgid(found->pw_gid) != 0 || setuid(found->pw_uid) != 0) {
        throw Failure(3, "cannot become the user `" + user + "`: " + std::strerror(errno));
    }
}

}  // namespace polysome::control
