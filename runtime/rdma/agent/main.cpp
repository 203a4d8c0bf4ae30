/// `polysome-agent CONFIG.json`: lends a region of this machine's memory to the switch (service Agent of
/// control.proto). Exit codes: 0 after SIGINT or SIGTERM, 2 the configuration is wrong, 3 the environment is.
#include <poll.h>
#include <sys/prctl.h>

#include <ctime>

#include "control/privileges.hpp"
#include "control/user.hpp"
#include "rdma/agent/service.hpp"
#include "rdma/agent/settings.hpp"
#include "rdma/agent/soft_device.hpp"
#include "rdma/agent/verbs_device.hpp"

namespace {

using namespace polysome;

uint64_t monotonic() {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

/// Until a signal ends it. Sleeps unless there is something to do.
void serve(agent::Device& device, control::Mailbox& mailbox, const control::Signals& signals) {
    // Answers that are due at a time leave then, not at the kernel's convenience.
    prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
    std::array<pollfd, 3> polled = {
        {{signals.descriptor(), POLLIN, 0}, {mailbox.descriptor(), POLLIN, 0}, {device.descriptor(), POLLIN, 0}}};
    for (;;) {
        const uint64_t due = device.next(), now = monotonic();
        const uint64_t wait = due > now ? due - now : 0;
        const timespec timeout{static_cast<time_t>(wait / 1'000'000'000), static_cast<long>(wait % 1'000'000'000)};
        ppoll(polled.data(), polled.size(), due == agent::Device::never ? nullptr : &timeout, nullptr);
        if (polled[0].revents != 0) return;
        if (polled[1].revents != 0) mailbox.serve();
        device.work(monotonic());
    }
}

std::unique_ptr<agent::Device> opened(const agent::Settings& settings, control::Log& log) {
    if (settings.device == "soft") return std::make_unique<agent::SoftDevice>(settings);
    return std::make_unique<agent::VerbsDevice>(settings, log);
}

void run(control::Log& log, const std::string& path) {
    const auto config = control::load_configuration<control::AgentConfig>(path);
    const agent::Settings settings = agent::checked(config);
    control::forbid_new_privileges();
    const control::Signals signals;
    control::Trust trust(log, config.server(), config.tls());
    const std::unique_ptr<agent::Device> device = opened(settings, log);
    control::become(config.user());
    control::Mailbox mailbox;
    agent::AgentService service(log, mailbox, *device, settings, trust);
    const control::Server server(log, config.listen(), trust, {"controller", 64 << 10}, {&service});
    const agent::Identity& identity = device->identity();
    log.info("ready: " + identity.device + " on " + settings.interface + " (" + agent::text_of(identity.mac) + ", " +
             agent::text_of(identity.ip) + "), " + std::to_string(settings.queue_pairs) + " queue pairs, " +
             std::to_string(settings.region) + " bytes, listening on " + config.listen());
    try {
        serve(*device, mailbox, signals);
    } catch (...) {
        mailbox.end();
        throw;
    }
    mailbox.end();
    log.info("ended");
}

}  // namespace

int main(int argc, char** argv) { return control::process_main("polysome-agent", argc, argv, run); }
