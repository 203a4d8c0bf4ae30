/// Instructions per packet: by the processor's counter, or, where there is none, by single steps.
#pragma once

#include <linux/perf_event.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "column.hpp"

namespace polysome::bench {

inline constexpr size_t COUNTED = 256;  ///< packets: single steps are slow

/// The processor's counter of instructions of this thread; negative if it has none.
inline int open_counter() {
    perf_event_attr wanted{};
    wanted.type = PERF_TYPE_HARDWARE;
    wanted.size = sizeof wanted;
    wanted.config = PERF_COUNT_HW_INSTRUCTIONS;
    wanted.exclude_kernel = wanted.exclude_hv = 1;
    return static_cast<int>(syscall(SYS_perf_event_open, &wanted, 0, -1, -1, 0));
}

/// Steps of a copy of this process from one signal to itself to the next, with `packets` of the column between them.
inline uint64_t steps(Column& column, size_t packets) {
    const pid_t child = fork();
    if (child == 0) {
        ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
        raise(SIGUSR1);
        column.pass(packets);
        raise(SIGUSR2);
        _exit(0);
    }
    int status = 0;
    uint64_t count = 0;
    waitpid(child, &status, 0);  // for SIGUSR1
    while (WIFSTOPPED(status) && WSTOPSIG(status) != SIGUSR2) {
        ++count;
        if (ptrace(PTRACE_SINGLESTEP, child, nullptr, nullptr) != 0) break;
        waitpid(child, &status, 0);
    }
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return count;
}

/// Per packet, copying it included.
inline double instructions(Column& column, int counter) {
    uint64_t count = 0;
    if (counter >= 0) {
        ioctl(counter, PERF_EVENT_IOC_RESET, 0);
        ioctl(counter, PERF_EVENT_IOC_ENABLE, 0);
        column.pass(COUNTED);
        ioctl(counter, PERF_EVENT_IOC_DISABLE, 0);
        if (read(counter, &count, sizeof count) != sizeof count) count = 0;
    } else {
        count = steps(column, COUNTED) - steps(column, 0);
    }
    return static_cast<double>(count) / COUNTED;
}

}  // namespace polysome::bench
