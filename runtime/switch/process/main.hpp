// A program that runs a translated P4 program between network interfaces: POLYSOME_SOFT_SWITCH defines its main. Its
// one argument is its configuration, a SwitchConfig as JSON (control.proto); it needs the right to open raw sockets
// (CAP_NET_RAW) until they are open.
#pragma once

#include <memory>
#include <string>

#include "control/privileges.hpp"
#include "control/server.hpp"
#include "control/user.hpp"
#include "switch/process/loop.hpp"

namespace polysome::soft_switch {

template <class Program>
void run(control::Log& log, const std::string& path, const std::string& program) {
    const auto config = control::load_configuration<control::SwitchConfig>(path);
    control::Trust trust(log, "switch", config.tls());
    control::forbid_new_privileges();
    const auto loop = std::make_unique<Loop<Program>>(config, log);
    control::become(config.user());
    Service service(log, loop->mailbox(), *loop, program, trust);
    const control::Server server(log, config.listen(), trust, {"controller", 16 << 20}, {&service});
    log.info("listens on " + config.listen() + "; interfaces: " + std::to_string(config.ports_size()));
    loop->run();
    log.info("ended");
}

}  // namespace polysome::soft_switch

/// `name`: of the program, for its messages. `hash`: SHA-256 of the P4 program's text, hexadecimal.
#define POLYSOME_SOFT_SWITCH(name, hash, Program)                                                         \
    int main(int argc, char** argv) {                                                                     \
        return polysome::control::process_main(name, argc, argv, [](auto& log, const std::string& path) { \
            polysome::soft_switch::run<Program>(log, path, hash);                                         \
        });                                                                                               \
    }
