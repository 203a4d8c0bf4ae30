// What is read of /proc and /sys, on made ones; and memory of this machine.
#include <gtest/gtest.h>

#include "rdma/agent/region_memory.hpp"

using namespace polysome::agent;
namespace fs = std::filesystem;

namespace {

class Made : public testing::Test {
  protected:
    Made() {
        std::string name = fs::temp_directory_path() / "polysome-machine-XXXXXX";
        folder = mkdtemp(name.data());
        machine = {folder / "proc", folder / "sys"};
    }
    ~Made() override { fs::remove_all(folder); }

    void file(const fs::path& path, const std::string& text) const {
        fs::create_directories((folder / path).parent_path());
        std::ofstream(folder / path) << text;
    }
    void node(uint32_t number, int pages, int free) const {
        const fs::path pool = "sys/devices/system/node/node" + std::to_string(number) + "/hugepages/hugepages-2048kB";
        file(pool / "nr_hugepages", std::to_string(pages) + "\n");
        file(pool / "free_hugepages", std::to_string(free) + "\n");
    }
    void meminfo() const {
        file("proc/meminfo", "MemTotal:       24 kB\nHugepagesize:       2048 kB\nHugetlb:  0 kB\n");
    }
    std::string failure(uint64_t bytes, uint32_t numa, bool huge) const {
        try {
            const RegionMemory memory(machine, bytes, numa, huge);
        } catch (const Failure& failure) {
            EXPECT_EQ(failure.code, 3);
            return failure.what();
        }
        return "none";
    }

    fs::path folder;
    Machine machine;
};

TEST_F(Made, Numbers) {
    file("a", "12\n");
    file("b", "-1\n");
    file("c", "12 13\n");
    file("d", "0x12\n");
    file("e", "");
    EXPECT_EQ(number_in(folder / "a"), 12);
    EXPECT_EQ(number_in(folder / "b"), -1);
    for (const char* name : {"c", "d", "e", "none"}) EXPECT_EQ(number_in(folder / name), std::nullopt) << name;
}

TEST_F(Made, PortCounters) {
    const fs::path port = "sys/class/infiniband/mlx5_0/ports/1";
    file(port / "counters/port_rcv_data", "1000\n");
    file(port / "counters/port_xmit_wait", "N/A (no PMA)\n");
    file(port / "hw_counters/out_of_sequence", "18446744073709551\n");
    file(port / "hw_counters/lifespan", "10\n");
    file("sys/class/infiniband/mlx5_0/ports/2/counters/port_rcv_data", "5\n");
    const std::vector<Count> counts = port_counters(machine, "mlx5_0", 1);
    ASSERT_EQ(counts.size(), 2u);
    EXPECT_EQ(counts[0].name, "out_of_sequence");
    EXPECT_EQ(counts[0].value, 18446744073709551u);
    EXPECT_EQ(counts[1].name, "port_rcv_data");
    EXPECT_EQ(counts[1].value, 1000u);
    EXPECT_TRUE(port_counters(machine, "mlx5_1", 1).empty());
}

TEST_F(Made, NumaNodes) {
    EXPECT_TRUE(numa_nodes(machine).empty());
    for (const char* name : {"node10", "node2", "nodes", "has_cpu", "node"}) {
        fs::create_directories(machine.sys / "devices/system/node" / name);
    }
    EXPECT_EQ(numa_nodes(machine), (std::vector<uint32_t>{2, 10}));
    file("sys/class/infiniband/mlx5_0/device/numa_node", "1\n");
    file("sys/class/infiniband/mlx5_1/device/numa_node", "-1\n");
    EXPECT_EQ(numa_of(machine, "mlx5_0"), 1u);
    EXPECT_EQ(numa_of(machine, "mlx5_1"), std::nullopt);
    EXPECT_EQ(numa_of(machine, "mlx5_2"), std::nullopt);
}

TEST_F(Made, HugePageSize) {
    EXPECT_EQ(huge_page_bytes(machine), 0u);
    meminfo();
    EXPECT_EQ(huge_page_bytes(machine), 2u << 20);
}

TEST_F(Made, ANodeThatIsNotThere) {
    EXPECT_EQ(failure(4096, 1, false),
              "there is no NUMA node 1 (`numa` of the configuration); this machine has 0 only");
    node(0, 0, 0);
    node(1, 0, 0);
    EXPECT_EQ(failure(4096, 2, false), "there is no NUMA node 2 (`numa` of the configuration); this machine has 0, 1");
}

TEST_F(Made, TooFewHugePagesAreCounted) {
    node(0, 100, 100);
    node(1, 10, 3);
    EXPECT_EQ(failure(4096, 1, true), "this kernel has no huge pages (CONFIG_HUGETLBFS)");
    meminfo();
    const std::string pool = machine.sys / "devices/system/node/node1/hugepages/hugepages-2048kB/nr_hugepages";
    EXPECT_EQ(failure((8u << 20) + 1, 1, true),
              "the region needs 5 huge pages of 2048 KiB on NUMA node 1, and 3 are free: `sysctl vm.nr_hugepages=24`, "
              "or on that node alone `echo 12 > " +
                  pool + "`");
}

TEST_F(Made, TooFewHugePagesWithoutNodes) {
    meminfo();
    file("sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "4\n");
    file("sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "1\n");
    EXPECT_EQ(failure(4u << 20, 0, true),
              "the region needs 2 huge pages of 2048 KiB, and 1 are free: `sysctl vm.nr_hugepages=5`");
}

/// The count says that there are enough, the kernel does not.
TEST_F(Made, HugePagesThatArePromisedToOthers) {
    meminfo();
    file("sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "1000000000\n");
    file("sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "1000000000\n");
    EXPECT_NE(failure(uint64_t{1} << 45, 0, true).find("no memory for a region of 35184372088832 bytes"),
              std::string::npos);
}

TEST(Memory, IsWholePagesFullOfOnesOnItsNode) {
    const Machine machine;
    const RegionMemory memory(machine, 10'000, numa_nodes(machine).empty() ? 0 : numa_nodes(machine).front(), false);
    EXPECT_EQ(memory.size(), rounded_up(10'000, static_cast<uint64_t>(sysconf(_SC_PAGESIZE))));
    EXPECT_TRUE(std::all_of(memory.data(), memory.data() + memory.size(), [](uint8_t byte) { return byte == 0xff; }));
}

TEST(Memory, IsFullOfOnesAgain) {
    RegionMemory memory({}, 4096, 0, false);
    std::memset(memory.data(), 0, 4096);
    memory.fill();
    EXPECT_TRUE(std::all_of(memory.data(), memory.data() + 4096, [](uint8_t byte) { return byte == 0xff; }));
}

TEST(Memory, TooMuch) {
    EXPECT_THROW(RegionMemory({}, uint64_t{1} << 60, 0, false), Failure);
    EXPECT_THROW(RegionMemory({}, ~uint64_t{0}, 0, false), Failure);
}

TEST(Memory, Rounding) {
    EXPECT_EQ(rounded_up(1, 4096), 4096u);
    EXPECT_EQ(rounded_up(4096, 4096), 4096u);
    EXPECT_EQ(rounded_up(4097, 4096), 8192u);
}

}  // namespace
