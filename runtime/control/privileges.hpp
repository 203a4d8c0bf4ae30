/// What a process of a deployment gives up before it opens anything: the means to get more rights than it has.
#pragma once

#include <sys/prctl.h>

#include "control/log.hpp"

namespace polysome::control {

/// To be called before any thread is made, since each thread has these of its own: no program that this process could
/// start has more rights than it (PR_SET_NO_NEW_PRIVS), and no capability that it gives up comes back.
inline void forbid_new_privileges() {
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) throw Failure(3, "no PR_SET_NO_NEW_PRIVS: the kernel is too old");
    for (unsigned long capability = 0; prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; ++capability) {
        if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0) return;  // without CAP_SETPCAP: nothing to give up
    }
}

}  // namespace polysome::control
