// Measures one arm of the pool bench and prints one JSON object. `npm run bench -- --pool` calls it arm by arm, taking
// turns, and makes the table. Commands:
//   calibrate                 work units per microsecond on this core
//   latency --gap-us G        publish-to-start and run-to-done after idle gaps
//   throughput --ms N         layers of three phases per second
//   pair --ms N --pairs N     the same, by turns with --threads and with --against threads
//   idle --ms N               how soon all workers sleep, and CPU time from 100 ms after the last job
//   burn --ms N               keeps one core busy
// Options: --pool dormouse|atomic-wait|condvar|spin --threads N --pin 0|1 --spin-us N|always --epochs N --chunks N
//   --units N (work per chunk)
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <optional>
#include <string>
#include <vector>

#include "expert-pool.h"
#include "rival-pools.h"

using namespace dormouse;

namespace {

struct Arguments {
    std::string command;
    std::string pool = "dormouse";
    std::uint32_t threads = 2;
    std::uint32_t against = 1;
    std::uint32_t pairs = 10;
    bool pin = true;
    bool govern = true;
    std::uint64_t spin_ns = kSpinBeforeSleep;
    std::uint64_t gap_us = 0;
    std::uint64_t ms = 1'000;
    std::uint32_t epochs = 1'000;
    std::uint32_t chunks = 16;
    std::uint64_t units = 10'000;
};

bool parse(int argc, char** argv, Arguments& arguments) {
    if (argc < 2) return false;
    arguments.command = argv[1];
    for (int index = 2; index + 1 < argc; index += 2) {
        const std::string name = argv[index];
        const char* text = argv[index + 1];
        const std::uint64_t value = std::strtoull(text, nullptr, 10);
        if (name == "--pool")
            arguments.pool = text;
        else if (name == "--threads")
            arguments.threads = static_cast<std::uint32_t>(std::max<std::uint64_t>(1, value));
        else if (name == "--against")
            arguments.against = static_cast<std::uint32_t>(std::max<std::uint64_t>(1, value));
        else if (name == "--pairs")
            arguments.pairs = static_cast<std::uint32_t>(value);
        else if (name == "--pin")
            arguments.pin = value != 0;
        else if (name == "--govern")
            arguments.govern = value != 0;
        else if (name == "--spin-us")
            arguments.spin_ns = std::strcmp(text, "always") == 0 ? kSpinAlways : value * 1'000;
        else if (name == "--gap-us")
            arguments.gap_us = value;
        else if (name == "--ms")
            arguments.ms = value;
        else if (name == "--epochs")
            arguments.epochs = static_cast<std::uint32_t>(value);
        else if (name == "--chunks")
            arguments.chunks = static_cast<std::uint32_t>(value);
        else if (name == "--units")
            arguments.units = value;
        else
            return false;
    }
    return true;
}

/// A fixed amount of arithmetic. Not a fixed time: on a busy machine time passes without any work being done.
std::uint64_t work(std::uint64_t units) {
    std::uint64_t value = units;
    for (std::uint64_t index = 0; index < units; ++index)
        value = value * 6364136223846793005ULL + 1442695040888963407ULL;
    return value;
}
volatile std::uint64_t sink;

std::uint64_t process_cpu_ns() {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

void sleep_ns(std::uint64_t nanoseconds) {
    timespec time{static_cast<time_t>(nanoseconds / 1'000'000'000), static_cast<long>(nanoseconds % 1'000'000'000)};
    nanosleep(&time, nullptr);
}

/// Gaps below a millisecond are spent awake, as the host is then busy with the model's other layers.
void idle_for(std::uint64_t microseconds) {
    if (microseconds >= 1'000) return sleep_ns(microseconds * 1'000);
    const std::uint64_t until = now_ns() + microseconds * 1'000;
    while (microseconds > 0 && now_ns() < until) cpu_pause();
}

struct Bench {
    const Arguments arguments;
    ExpertPool::Handle pool;
    std::unique_ptr<RivalPool> rival;
    std::optional<ScopedPin> pin;
    std::atomic<std::uint64_t> first_start{0};

    explicit Bench(const Arguments& given) : arguments(given) {
        const Topology topology = read_topology(this_machine());
        PoolRequest request;
        request.threads = given.threads;
        request.spin_ns = given.spin_ns;
        request.affinity = given.pin ? Affinity::automatic : Affinity::off;
        PoolOptions options = plan_pool(request, topology);
        options.govern = given.govern;
        if (given.pool == "dormouse") {
            pool = ExpertPool::create(options);
        } else {
            rival = make_rival(given.pool, given.threads, options.cpus);
            if (!options.cpus.empty()) pin.emplace(options.cpus[0]);
        }
    }
    bool valid() const { return pool || rival; }

    static void compute(void* raw, std::uint32_t, std::uint32_t thread_index) {
        auto& self = *static_cast<Bench*>(raw);
        if (thread_index != 0) {
            std::uint64_t none = 0;
            self.first_start.compare_exchange_strong(none, now_ns(), std::memory_order_relaxed);
        }
        sink = work(self.arguments.units);
    }
    void run() {
        if (rival) return rival->run(compute, this, arguments.chunks);
        pool->run(compute, this, arguments.chunks);
    }
    /// A layer: gate and up rows, activation, down rows. Three runs where there are no phases.
    void run_layer() {
        const std::uint32_t counts[] = {arguments.chunks, std::max(1U, arguments.chunks / 8),
                                        std::max(1U, arguments.chunks / 2)};
        if (rival) {
            for (const std::uint32_t count : counts) rival->run(compute, this, count);
            return;
        }
        Phase phases[3];
        for (int index = 0; index < 3; ++index) phases[index] = {compute, this, counts[index]};
        pool->run_phases(phases, 3);
    }
};

double percentile(std::vector<std::uint64_t>& sorted, double share) {
    if (sorted.empty()) return -1;
    const auto at = static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1) + 0.5);
    return static_cast<double>(sorted[at]) / 1e3;
}

void print_percentiles(const char* name, std::vector<std::uint64_t>& values) {
    std::sort(values.begin(), values.end());
    if (values.empty()) {
        std::printf("\"%s\":null,", name);
        return;
    }
    std::printf("\"%s\":{\"p50\":%.2f,\"p99\":%.2f,\"p999\":%.2f,\"count\":%zu},", name, percentile(values, 0.5),
                percentile(values, 0.99), percentile(values, 0.999), values.size());
}

/// Times in microseconds; `cores` is CPU time over wall time of the whole process.
void measure_latency(Bench& bench) {
    std::vector<std::uint64_t> start;
    std::vector<std::uint64_t> done;
    std::optional<HostScope> scope;
    if (bench.pool) scope.emplace(*bench.pool);
    for (int warm = 0; warm < 20; ++warm) bench.run();
    const std::uint64_t cpu = process_cpu_ns();
    const std::uint64_t began = now_ns();
    for (std::uint32_t epoch = 0; epoch < bench.arguments.epochs; ++epoch) {
        idle_for(bench.arguments.gap_us);
        bench.first_start.store(0);
        const std::uint64_t published = now_ns();
        bench.run();
        done.push_back(now_ns() - published);
        const std::uint64_t first = bench.first_start.load();
        if (first > published) start.push_back(first - published);
    }
    const double cores = static_cast<double>(process_cpu_ns() - cpu) / static_cast<double>(now_ns() - began);
    std::printf("{");
    print_percentiles("publishToStartUs", start);
    print_percentiles("runToDoneUs", done);
    std::printf("\"cores\":%.4f}\n", cores);
}

/// Layers per second.
double run_layers(Bench& bench) {
    const std::uint64_t began = now_ns();
    std::uint64_t layers = 0;
    while (now_ns() - began < bench.arguments.ms * 1'000'000) {
        // As the engine does it: pinned while a token's graph runs, some tens of layers.
        std::optional<HostScope> scope;
        if (bench.pool) scope.emplace(*bench.pool);
        for (int layer = 0; layer < 8; ++layer) bench.run_layer();
        layers += 8;
    }
    return static_cast<double>(layers) * 1e9 / static_cast<double>(now_ns() - began);
}

void measure_throughput(Bench& bench) {
    const std::uint64_t began = now_ns();
    const std::uint64_t cpu = process_cpu_ns();
    const double speed = run_layers(bench);
    const std::uint64_t spent = now_ns() - began;
    std::printf("{\"layersPerSecond\":%.2f,\"cores\":%.4f", speed,
                static_cast<double>(process_cpu_ns() - cpu) / static_cast<double>(spent));
    if (bench.pool) {
        const PoolStats stats = bench.pool->stats();
        std::printf(",\"probes\":%llu,\"lostMs\":%.2f,\"benched\":%u",
                    static_cast<unsigned long long>(stats.governor.probes),
                    static_cast<double>(stats.governor.lost_ns) / 1e6, stats.governor.benched);
    }
    std::printf("}\n");
}

/// Both pools in one process and by turns, so that each pair sees the same neighbours.
void measure_pairs(Bench& bench) {
    Arguments other = bench.arguments;
    other.threads = other.against;
    Bench against(other);
    std::string values[2];
    for (std::uint32_t pair = 0; pair < bench.arguments.pairs; ++pair) {
        for (int turn = 0; turn < 2; ++turn) {
            const bool first = (pair % 2 == 0) == (turn == 0);
            std::string& list = values[first ? 0 : 1];
            if (!list.empty()) list += ',';
            list += std::to_string(run_layers(first ? bench : against));
            if (bench.pool) bench.pool->park();
        }
    }
    std::printf("{\"values\":[%s],\"against\":[%s]}\n", values[0].c_str(), values[1].c_str());
}

void measure_idle(Bench& bench) {
    for (int layer = 0; layer < 200; ++layer) bench.run_layer();
    const std::uint64_t last = now_ns();
    double asleep_ms = -1;
    if (bench.pool && bench.arguments.spin_ns != kSpinAlways) {
        for (;;) {
            const PoolStats stats = bench.pool->stats();
            std::size_t asleep = 0;
            for (const WorkerStats& worker : stats.workers) asleep += worker.state == WorkerState::asleep ? 1 : 0;
            asleep_ms = static_cast<double>(now_ns() - last) / 1e6;
            if (asleep == stats.workers.size() || asleep_ms > 10'000) break;
            sleep_ns(200'000);
        }
    }
    const std::uint64_t passed = now_ns() - last;
    if (passed < 100'000'000) sleep_ns(100'000'000 - passed);
    const std::uint64_t cpu = process_cpu_ns();
    sleep_ns(bench.arguments.ms * 1'000'000);
    std::printf("{\"asleepAfterMs\":%.2f,\"cpuSeconds\":%.6f,\"overSeconds\":%.3f}\n", asleep_ms,
                static_cast<double>(process_cpu_ns() - cpu) / 1e9, static_cast<double>(bench.arguments.ms) / 1e3);
}

void calibrate() {
    double best = 0;
    for (int round = 0; round < 200; ++round) {
        const std::uint64_t began = now_ns();
        sink = work(100'000);
        best = std::max(best, 100'000.0 * 1e3 / static_cast<double>(now_ns() - began));
    }
    std::printf("{\"unitsPerUs\":%.1f}\n", best);
}

}  // namespace

int main(int argc, char** argv) {
    Arguments arguments;
    if (!parse(argc, argv, arguments)) {
        std::fprintf(stderr, "usage: pool-bench calibrate|latency|throughput|pair|idle|burn [--option value]...\n");
        return 2;
    }
    if (arguments.command == "calibrate") {
        calibrate();
        return 0;
    }
    if (arguments.command == "burn") {
        const std::uint64_t until = now_ns() + arguments.ms * 1'000'000;
        while (now_ns() < until) sink = work(10'000);
        return 0;
    }
    Bench bench(arguments);
    if (!bench.valid()) {
        std::fprintf(stderr, "unknown pool: %s\n", arguments.pool.c_str());
        return 2;
    }
    if (arguments.command == "latency")
        measure_latency(bench);
    else if (arguments.command == "throughput")
        measure_throughput(bench);
    else if (arguments.command == "pair")
        measure_pairs(bench);
    else if (arguments.command == "idle")
        measure_idle(bench);
    else
        return 2;
    return 0;
}
