// Counting cores, pinning threads, and the governor's account.
#include <map>

#if defined(__linux__)
#include <pthread.h>
#include <sched.h>
#endif

#include "expert-pool.h"
#include "test-pool.h"

using namespace dormouse;

namespace {

/// A machine made of files.
struct FakeMachine {
    std::map<std::string, std::string> files;
    std::vector<std::uint32_t> mask;
    MachineReader reader() const {
        return {[this](const std::string& path) -> std::optional<std::string> {
                    const auto found = files.find(path);
                    if (found == files.end()) return std::nullopt;
                    return found->second;
                },
                [this] { return mask; }};
    }
    Topology read() const { return read_topology(reader()); }
    void siblings(std::uint32_t cpu, const char* list) {
        files["/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list"] = list;
    }
};

/// 4 cores with 2 threads each, numbered as most BIOSes do: 0-3 and their siblings 4-7.
FakeMachine four_cores() {
    FakeMachine machine;
    for (std::uint32_t cpu = 0; cpu < 8; ++cpu) {
        machine.mask.push_back(cpu);
        const std::string list = std::to_string(cpu % 4) + "," + std::to_string(cpu % 4 + 4) + "\n";
        machine.siblings(cpu, list.c_str());
    }
    return machine;
}

}  // namespace

TEST("cpu lists are parsed", "a range read as two cores, or garbage read as core 0") {
    CHECK(parse_cpu_list("0-3,8,10-11\n") == (std::vector<std::uint32_t>{0, 1, 2, 3, 8, 10, 11}));
    CHECK(parse_cpu_list("5") == std::vector<std::uint32_t>{5});
    for (const char* broken : {"", "\n", "x", "3-1", "1-", "-", "1 2", "0-99999999"})
        CHECK(parse_cpu_list(broken).empty());
}

TEST("hyperthreads are not counted", "two threads on one physical core, where the second brings nothing") {
    const Topology topology = four_cores().read();
    CHECK_EQUAL(topology.cores.size(), std::size_t{4});
    CHECK_EQUAL(auto_threads(topology, false), 4U);
    CHECK_EQUAL(topology.cores[3].cpu, 3U);
}

TEST("only the affinity mask counts", "threads planned on cores that the process may not use") {
    FakeMachine machine = four_cores();
    machine.mask = {1, 5, 6};  // both threads of core 1, and the second one of core 2
    const Topology topology = machine.read();
    CHECK_EQUAL(auto_threads(topology, false), 2U);
    CHECK_EQUAL(topology.cores[0].cpu, 1U);
    CHECK_EQUAL(topology.cores[1].cpu, 6U);
}

TEST("a quota is rounded down, and never to nothing", "2.5 cores taken as 3, half a core as none") {
    FakeMachine machine = four_cores();
    machine.files["/proc/self/cgroup"] = "0::/app/worker\n";
    const auto with = [&](const char* text) {
        machine.files["/sys/fs/cgroup/app/cpu.max"] = text;
        return auto_threads(machine.read(), false);
    };
    CHECK_EQUAL(with("250000 100000\n"), 2U);
    CHECK_EQUAL(with("50000 100000\n"), 1U);
    CHECK_EQUAL(with("max 100000\n"), 4U);
    CHECK_EQUAL(with("nonsense"), 4U);
    CHECK_EQUAL(with("900000 100000\n"), 4U);
}

TEST("the smallest quota on the way to the root binds", "a parent's limit overlooked") {
    FakeMachine machine = four_cores();
    machine.files["/proc/self/cgroup"] = "0::/a/b\n";
    machine.files["/sys/fs/cgroup/a/b/cpu.max"] = "300000 100000\n";
    machine.files["/sys/fs/cgroup/a/cpu.max"] = "200000 100000\n";
    CHECK_EQUAL(auto_threads(machine.read(), false), 2U);
    machine.files["/sys/fs/cgroup/cpu.max"] = "100000 100000\n";
    CHECK_EQUAL(auto_threads(machine.read(), false), 1U);
}

TEST("control groups of version 1 are read", "a container on an older host that takes all its cores") {
    for (const char* mount : {"cpu", "cpu,cpuacct"}) {
        FakeMachine machine = four_cores();
        machine.files["/proc/self/cgroup"] = "9:name=systemd:/x\n4:cpu,cpuacct:/docker/abc\n2:cpuset:/y\n0::/\n";
        // In a container its own path does not exist; the root of the mount is its own group.
        const std::string folder = std::string("/sys/fs/cgroup/") + mount;
        machine.files[folder + "/cpu.cfs_quota_us"] = "-1\n";
        machine.files[folder + "/cpu.cfs_period_us"] = "100000\n";
        CHECK_EQUAL(auto_threads(machine.read(), false), 4U);
        machine.files[folder + "/cpu.cfs_quota_us"] = "350000\n";
        CHECK_EQUAL(auto_threads(machine.read(), false), 3U);
    }
}

TEST("performance cores come first", "workers on efficiency cores, for which all others then wait") {
    FakeMachine machine;
    machine.mask = {0, 1, 2, 3, 4, 5};
    machine.files["/sys/devices/cpu_atom/cpus"] = "0-3\n";
    machine.files["/sys/devices/cpu_core/cpus"] = "4-5\n";
    const Topology intel = machine.read();
    CHECK_EQUAL(intel.cores[0].cpu, 4U);
    CHECK_EQUAL(auto_threads(intel, true), 2U);
    CHECK_EQUAL(auto_threads(intel, false), 6U);

    machine.files.clear();
    for (std::uint32_t cpu = 0; cpu < 6; ++cpu) {
        const char* capacity = cpu < 2 ? "400\n" : cpu < 5 ? "760\n" : "1024\n";
        machine.files["/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cpu_capacity"] = capacity;
    }
    const Topology arm = machine.read();
    CHECK_EQUAL(arm.cores[0].cpu, 2U);
    CHECK_EQUAL(auto_threads(arm, true), 4U);
}

TEST("a machine that tells nothing still has a core", "no threads at all where /sys and /proc cannot be read") {
    FakeMachine machine;
    machine.mask = {0, 1};
    CHECK_EQUAL(auto_threads(machine.read(), true), 2U);
    CHECK(auto_threads(read_topology(this_machine()), false) >= 1);
}

TEST("threads are planned one per core", "two threads pinned to one core, or a quota that nobody looks at") {
    const Topology topology = four_cores().read();
    PoolRequest request;
    PoolOptions options = plan_pool(request, topology);
    CHECK_EQUAL(options.threads, 4U);
    CHECK(options.cpus == (std::vector<std::uint32_t>{0, 1, 2, 3}));
    CHECK(!options.oversubscribed);
    request.threads = 6;
    options = plan_pool(request, topology);
    CHECK(options.cpus.empty() && options.oversubscribed);
    request.threads = 2;
    request.affinity = Affinity::off;
    options = plan_pool(request, topology);
    CHECK(options.cpus.empty() && !options.oversubscribed);
    Topology limited = topology;
    limited.quota = 1.5;
    request.threads = 3;
    CHECK(plan_pool(request, limited).oversubscribed);
}

#if defined(__linux__)
TEST("the host's cores are given back", "a libuv thread that stays on one core for good") {
    cpu_set_t before;
    CHECK(pthread_getaffinity_np(pthread_self(), sizeof before, &before) == 0);
    PoolRequest request;
    request.threads = 2;
    const Topology topology = read_topology(this_machine());
    auto pool = ExpertPool::create(plan_pool(request, topology));
    {
        const HostScope scope(*pool);
        cpu_set_t inside;
        CHECK(pthread_getaffinity_np(pthread_self(), sizeof inside, &inside) == 0);
        CHECK_EQUAL(CPU_COUNT(&inside), topology.cores.size() >= 2 ? 1 : CPU_COUNT(&before));
    }
    cpu_set_t after;
    CHECK(pthread_getaffinity_np(pthread_self(), sizeof after, &after) == 0);
    CHECK(CPU_EQUAL(&before, &after));
}

TEST("a host is not moved out of its own mask", "pinning a thread to a core that someone kept it from") {
    const Topology topology = read_topology(this_machine());
    if (topology.allowed_cpus.size() < 2) return;
    std::thread([&] {
        CHECK(pin_this_thread(topology.allowed_cpus[1]));
        const ScopedPin pin(topology.allowed_cpus[0]);
        CHECK(!pin.pinned());
        cpu_set_t mask;
        CHECK(pthread_getaffinity_np(pthread_self(), sizeof mask, &mask) == 0);
        CHECK(CPU_COUNT(&mask) == 1 && CPU_ISSET(topology.allowed_cpus[1], &mask));
    }).join();
}

TEST("workers are named", "anonymous threads in top and in crash reports") {
    static char name[16];
    static std::atomic<bool> named;
    named = false;
    auto pool = ExpertPool::create(with_threads(2));
    const auto note = [](void*, std::uint32_t, std::uint32_t thread_index) {
        if (thread_index == 0) return eventually("the worker named itself", [] { return named.load(); });
        pthread_getname_np(pthread_self(), name, sizeof name);
        named = true;
    };
    CHECK(pool->run(note, nullptr, 2) == RunStatus::completed);
    CHECK(std::string(name) == "dormouse-exp-1");
}
#endif

namespace {
constexpr std::uint64_t kMs = 1'000'000;
}

TEST("a worker that costs more than it brings is benched", "a pool that collapses on a busy machine") {
    Governor governor(2);
    const Governor::Share shares[] = {{40}, {40}};
    std::uint64_t now = 1'000 * kMs;
    governor.close_window(now, 25'000, shares);
    CHECK_EQUAL(governor.benched_count(), 0U);
    governor.on_late(1, 4 * kMs);  // its 80 chunks of 25 us brought 2 ms
    CHECK(governor.window_is_due(now));
    governor.close_window(now += kMs, 25'000, shares);
    CHECK(governor.benched(1) && !governor.benched(0));
    CHECK_EQUAL(governor.lost_ns(), 4 * kMs);
}

TEST("one hiccup on a quiet machine benches nobody", "workers lost to a single interrupt") {
    Governor governor(1);
    const Governor::Share share{160};  // 4 ms of 25 us chunks per window
    std::uint64_t now = 0;
    for (int window = 0; window < 20; ++window) governor.close_window(now += Governor::kWindowNs, 25'000, &share);
    governor.on_late(0, kMs);
    governor.close_window(now += kMs, 25'000, &share);
    CHECK_EQUAL(governor.benched_count(), 0U);
}

TEST("probes get rarer while the machine stays busy and frequent again when it is quiet",
     "a busy machine that pays a time slice per probe, or a quiet one left at half speed") {
    Governor governor(1);
    const Governor::Share few{4};
    std::uint64_t now = 1'000 * kMs;
    std::uint64_t last_pause = 0;
    for (int round = 0; round < 12; ++round) {
        governor.on_late(0, 4 * kMs);
        governor.close_window(now, 25'000, &few);
        CHECK(governor.benched(0));
        const std::uint64_t benched_at = now;
        while (!governor.wants_probe(0, now)) now += kMs;
        const std::uint64_t pause = now - benched_at;
        CHECK(round == 0 || pause >= last_pause);
        CHECK(pause <= Governor::kLongestPauseNs);
        CHECK(governor.any_probe_due(now));
        last_pause = pause;
        governor.take_back(0, now);
        CHECK(!governor.benched(0) && !governor.any_probe_due(now));
    }
    CHECK_EQUAL(last_pause, Governor::kLongestPauseNs);
    const Governor::Share many{160};
    for (int window = 0; window < 500; ++window) governor.close_window(now += Governor::kWindowNs, 25'000, &many);
    for (int late = 0; late < 4; ++late) governor.on_late(0, 4 * kMs);
    governor.close_window(now, 25'000, &few);
    CHECK(governor.benched(0));
    CHECK(governor.wants_probe(0, now + 16 * kMs * Governor::kPausePerLoss));
}

TEST("a failed rehearsal lengthens the pause and costs the host nothing",
     "a busy machine rehearsed on at full rate for ever") {
    Governor governor(1);
    const Governor::Share few{4};
    std::uint64_t now = 1'000 * kMs;
    governor.on_late(0, kMs);
    governor.close_window(now, 25'000, &few);
    std::uint64_t last_pause = 0;
    for (int round = 0; round < 6; ++round) {
        const std::uint64_t before = now;
        while (!governor.wants_probe(0, now)) now += kMs;
        CHECK(round == 0 || now - before >= last_pause);
        last_pause = now - before;
        governor.rehearsal_failed(0, now);
        CHECK(governor.benched(0));
    }
    CHECK(last_pause >= 400 * kMs);
    CHECK_EQUAL(governor.lost_ns(), kMs);
    CHECK_EQUAL(governor.probes(), 6ULL);
}

TEST("a dear fault means a long pause",
     "a worker that passes rehearsals and loses a time slice in earnest, again and again") {
    Governor governor(1);
    const Governor::Share few{4};
    const std::uint64_t now = 1'000 * kMs;
    governor.on_late(0, 50 * kMs);
    governor.close_window(now, 25'000, &few);
    CHECK(!governor.wants_probe(0, now + 900 * kMs));
    CHECK(governor.wants_probe(0, now + 1'000 * kMs));
}

TEST("the spin shrinks while the machine is oversubscribed", "20 ms of spinning on a core that someone else needs") {
    Governor governor(1);
    const Governor::Share share{1'000};
    std::uint64_t now = 1'000 * kMs;
    governor.close_window(now, 25'000, &share);
    CHECK_EQUAL(governor.spin_shift(), 0U);
    governor.on_preempted(3);  // an interrupt or two are no oversubscription
    CHECK_EQUAL(governor.spin_shift(), 0U);
    governor.on_preempted(100);
    CHECK(governor.spin_shift() >= 3);
    governor.on_preempted(1'000'000);
    CHECK_EQUAL(governor.spin_shift(), std::uint32_t{Governor::kMaxSpinShift});
    for (int window = 0; window < 2'000; ++window) governor.close_window(now += Governor::kWindowNs, 25'000, &share);
    CHECK_EQUAL(governor.spin_shift(), 0U);
}

TEST("a worker that loses its core is benched and taken back",
     "a governor that never hears of stragglers, or never forgives") {
    PoolOptions options;
    options.threads = 2;
    options.rehearsal_ns = 0;  // passes on any machine
    auto pool = TestPool::create(options);
    // The worker is descheduled in its chunk, time after time: the one place where a test sleeps.
    const auto straggle = [](void*, std::uint32_t, std::uint32_t thread_index) {
        if (thread_index == 0) burn(20'000);
        if (thread_index != 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    };
    eventually("benched", [&] {
        CHECK(pool->run(straggle, nullptr, 8) == RunStatus::completed);
        return pool->stats().governor.benched == 1;
    });
    CHECK(pool->stats().governor.lost_ns > 0);
    CHECK_EQUAL(pool->active_workers(), 0U);
    eventually("the bench is quiet", [&] { return pool->stats().workers[0].state == WorkerState::asleep; });
    ChunkCounter counter(8);
    counter.burn_ns = 20'000;
    eventually("probed and taking part again", [&] {
        const std::uint64_t before = pool->stats().workers[0].chunks;
        CHECK(pool->run(ChunkCounter::compute, &counter, 8) == RunStatus::completed);
        counter.check_each_once(8);
        const PoolStats stats = pool->stats();
        return stats.governor.probes > 0 && stats.workers[0].chunks > before;
    });
}

TEST("benched workers can be destroyed", "a destructor that waits for a worker on the bench") {
    PoolOptions options;
    options.threads = 3;
    auto pool = TestPool::create(options);
    const auto straggle = [](void*, std::uint32_t, std::uint32_t thread_index) {
        if (thread_index == 0) burn(20'000);
        if (thread_index != 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    };
    eventually("one benched", [&] {
        CHECK(pool->run(straggle, nullptr, 12) == RunStatus::completed);
        return pool->stats().governor.benched > 0;
    });
}
