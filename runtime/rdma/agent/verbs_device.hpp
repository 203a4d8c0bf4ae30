/// An RDMA NIC behind libibverbs: a region of this machine's memory, registered with its first byte at address 0, and
/// reliable connected queue pairs that the switch writes and reads it by. The NIC does all of it alone; the agent only
/// makes queue pairs and listens to what the device says of itself.
#pragma once

#include "rdma/agent/netlink.hpp"
#include "rdma/agent/region_memory.hpp"
#include "rdma/agent/verbs.hpp"

namespace polysome::agent {

class VerbsDevice final : public Device {
  public:
    /// Failure(3), with what to do, for everything that the machine lacks. Needs CAP_NET_ADMIN.
    VerbsDevice(const Settings& settings, control::Log& log)
        : settings_(settings),
          log_(log),
          station_(settings.interface),
          context_(verbs::opened(settings.device)),
          path_(path_to_switch()),
          memory_(locked_memory()),
          domain_(verbs::owned(ibv_alloc_pd(context_.get()), "make a protection domain")),
          region_(registered()),
          completions_(verbs::owned(ibv_create_cq(context_.get(), 1, nullptr, nullptr, 0), "make a completion queue")),
          identity_{settings.device, station_.mac(), station_.ip(), region_->rkey},
          pairs_(settings.queue_pairs) {
        for (Pair& pair : pairs_) pair.queue_pair = made();
        listen();
    }

    const Identity& identity() const override { return identity_; }

    std::vector<PairStatus> pairs() override {
        std::vector<PairStatus> all;
        for (const Pair& pair : pairs_) all.push_back(status(pair));
        return all;
    }

    /// A new queue pair in the place of the old one, which exists until then: so the number is another one.
    PairStatus reset(uint32_t index, uint32_t peer) override {
        Pair& pair = pairs_.at(index);
        change(pair.queue_pair.get(), to_reset(), "RESET");
        verbs::Owned<ibv_qp> fresh = made();
        const uint32_t psn = random_24_bits();
        change(fresh.get(), to_init(path_), "INIT");
        change(fresh.get(), to_receive(path_, peer, psn), "RTR");
        change(fresh.get(), to_send(path_), "RTS");
        pair = {std::move(fresh), psn, peer};
        return status(pair);
    }

    void clear() override {
        for (const Pair& pair : pairs_) change(pair.queue_pair.get(), to_reset(), "RESET");
        memory_.fill();
    }

    Condition condition() override {
        const ibv_port_attr port = verbs::port_state(context_.get(), settings_.device_port);
        Condition condition{.link = port.state == IBV_PORT_ACTIVE,
                            .trouble = {},
                            .counters = port_counters(machine_, settings_.device, settings_.device_port)};
        if (!condition.link)
            condition.trouble = "the port is not active: " + std::string(ibv_port_state_str(port.state));
        return condition;
    }

    int descriptor() const override { return context_->async_fd; }
    uint64_t next() const override { return never; }

    /// What the device says of itself goes to the log; a device that has failed ends the agent, to be started anew.
    void work(uint64_t) override {
        ibv_async_event event;
        while (ibv_get_async_event(context_.get(), &event) == 0) {
            const std::string text = event_text(event);
            const ibv_event_type type = event.event_type;
            ibv_ack_async_event(&event);
            if (type == IBV_EVENT_DEVICE_FATAL) throw Failure(3, settings_.device + ": " + text);
            const bool good = type == IBV_EVENT_PORT_ACTIVE || type == IBV_EVENT_COMM_EST;
            good ? log_.info(settings_.device + ": " + text) : log_.warning(settings_.device + ": " + text);
        }
    }

  private:
    struct Pair {
        verbs::Owned<ibv_qp> queue_pair;
        uint32_t psn = 0;
        uint32_t peer = 0;
    };

    Path path_to_switch() {
        verbs::need_limits(context_.get(), settings_);
        need_interface_mtu(station_, settings_.mtu);
        introduce_switch(station_, settings_.switch_ip, settings_.switch_mac);
        return {.port = settings_.device_port,
                .gid_index = verbs::own_gid(context_.get(), settings_, station_),
                .switch_ip = settings_.switch_ip,
                .mtu = settings_.mtu,
                .reads = settings_.outstanding_reads};
    }

    RegionMemory locked_memory() {
        if (const auto node = numa_of(machine_, settings_.device); node && *node != settings_.numa) {
            log_.warning(settings_.device + " is at NUMA node " + std::to_string(*node) + ", its memory at node " +
                         std::to_string(settings_.numa) + " (`numa`): every packet crosses between them");
        }
        allow_locking(settings_.region);
        return RegionMemory(machine_, registered_bytes(), settings_.numa, settings_.huge_pages);
    }

    verbs::Owned<ibv_mr> registered() const {
        const int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
        return verbs::owned(ibv_reg_mr_iova(domain_.get(), memory_.data(), registered_bytes(), 0, access),
                            "register a region of " + std::to_string(registered_bytes()) + " bytes from address 0");
    }
    /// A server that lends nothing has a region all the same.
    uint64_t registered_bytes() const { return std::max<uint64_t>(settings_.region, 1); }

    /// Silent. Nothing is ever posted to its queues, which must have room for something all the same.
    verbs::Owned<ibv_qp> made() const {
        ibv_qp_init_attr wanted{};
        wanted.send_cq = wanted.recv_cq = completions_.get();
        wanted.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 0};
        wanted.qp_type = IBV_QPT_RC;
        return verbs::owned(ibv_create_qp(domain_.get(), &wanted), "make a queue pair");
    }

    static void change(ibv_qp* queue_pair, Transition transition, const char* state) {
        if (const int error = ibv_modify_qp(queue_pair, &transition.attributes, transition.mask)) {
            throw verbs::failure("bring queue pair " + std::to_string(queue_pair->qp_num) + " to " + state, error);
        }
    }

    static PairStatus status(const Pair& pair) {
        ibv_qp_attr state{};
        ibv_qp_init_attr initial{};
        const int error = ibv_query_qp(pair.queue_pair.get(), &state, IBV_QP_STATE, &initial);
        if (error != 0) throw verbs::failure("ask for the state of a queue pair", error);
        return {pair.queue_pair->qp_num, pair.psn, pair.peer, state.qp_state == IBV_QPS_RTS};
    }

    /// The device's events must not make work() wait.
    void listen() const {
        const int flags = fcntl(context_->async_fd, F_GETFL);
        if (flags < 0 || fcntl(context_->async_fd, F_SETFL, flags | O_NONBLOCK) != 0) {
            throw verbs::failure("listen to the device's events", errno);
        }
    }

    std::string event_text(const ibv_async_event& event) const {
        std::string text = ibv_event_type_str(event.event_type);
        switch (event.event_type) {
            case IBV_EVENT_QP_FATAL:
            case IBV_EVENT_QP_REQ_ERR:
            case IBV_EVENT_QP_ACCESS_ERR:
            case IBV_EVENT_COMM_EST:
            case IBV_EVENT_SQ_DRAINED:
            case IBV_EVENT_PATH_MIG:
            case IBV_EVENT_PATH_MIG_ERR:
            case IBV_EVENT_QP_LAST_WQE_REACHED:
                return text + ", queue pair " + std::to_string(index_of(event.element.qp)) + " (number " +
                       std::to_string(event.element.qp->qp_num) + ")";
            case IBV_EVENT_PORT_ACTIVE:
            case IBV_EVENT_PORT_ERR:
                return text + ", port " + std::to_string(event.element.port_num);
            default:
                return text;
        }
    }
    size_t index_of(const ibv_qp* queue_pair) const {
        size_t index = 0;
        while (index < pairs_.size() && pairs_[index].queue_pair.get() != queue_pair) ++index;
        return index;
    }

    const Settings settings_;
    control::Log& log_;
    const Machine machine_{};
    Station station_;
    verbs::Owned<ibv_context> context_;
    Path path_;
    RegionMemory memory_;
    verbs::Owned<ibv_pd> domain_;
    verbs::Owned<ibv_mr> region_;
    verbs::Owned<ibv_cq> completions_;
    Identity identity_;
    std::vector<Pair> pairs_;
};

}  // namespace polysome::agent
